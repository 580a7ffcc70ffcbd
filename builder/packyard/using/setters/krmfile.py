"""The Krmfile: reading its definitions, and recording a value in it by splices.

openAPI:
  definitions:
    io.k8s.cli.setters.WORKERS:
      type: integer
      x-k8s-cli:
        setter:
          name: WORKERS
          value: "4"        <- replaced
          isSet: true       <- added where it is missing
          setBy: me         <- replaced, or removed, as kustomize 3.8.7 does
"""

from collections.abc import Iterable, Iterator, Mapping

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.work.memo import Memo
from packyard.core.yaml.content import Text, Tree, double, in_brackets
from packyard.core.yaml.document import check_keys, mappings, parse_text, scalars
from packyard.core.yaml.edit import Edit, Reading
from packyard.core.yaml.node import Collection, Entry, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.span import aliased
from packyard.core.yaml.splice import change
from packyard.core.yaml.values import flag, is_null, to_value
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX, parse_ref
from packyard.using.setters.definition import Definitions, Setter, Substitution

KRMFILE = "Krmfile"
#: One that defines nothing: the very bytes of kustomize 3.8.7.
EMPTY = b"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile"


class Krmfile:
    """A parsed Krmfile: its definitions, and where each setter's entry stands."""

    def __init__(self, source: Source) -> None:
        self.source = source
        documents = self.documents = [document for document in parse_text(source) if document.root is not None]
        if not documents:
            hint = "delete it; packyard cfg init then writes one, and packyard get fetches that of a package"
            raise InputError(Problem("is empty", file=source.name, hint=hint))
        check_keys(documents[0])
        root = documents[0].root
        if not isinstance(root, MappingNode):
            raise InputError(Problem("its root must be a mapping", file=source.name, line=1))
        self.root = root
        self._definitions = _section(root)
        self._setters = _bodies(self._definitions, SETTER_PREFIX, "setter")
        substitutions = _bodies(self._definitions, SUBSTITUTION_PREFIX, "substitution")
        self.definitions = Definitions(
            {name: _parse_setter(name, *parts) for name, parts in self._setters.items()},
            {name: _parse_substitution(name, body, entry) for name, (_, body, entry) in substitutions.items()},
        )

    @property
    def entries(self) -> list[Entry]:
        """The entries of all definitions, of other kinds too."""
        return self._definitions.entries if self._definitions else []

    def misnamed(self) -> Iterator[Problem]:
        """Yield the setters of `two_names`."""
        return filter(None, (two_names(name, body) for name, (_, body, _) in self._setters.items()))

    def recorded(self, data: bytes, setters: Iterable[Setter], descriptions: Mapping[str, str]) -> bytes | None:
        """Return the file with values and descriptions of setters; None where it stays as it is."""
        edits: list[Edit] = []
        planned: list[tuple[Node, Mapping[str, Reading | None]]] = []
        for setter in setters:
            definition, entry, _ = self._setters[setter.name]
            self._check_not_shared(setter.name, definition, entry)
            edits += change(entry, _stated(setter, entry))
            if description := descriptions.get(setter.name):
                edits += change(definition, {"description": Text(description)})
            value = {"listValues": [*(setter.values or ())]} if setter.is_list else {"value": setter.value}
            planned.append((entry, {**value, "setBy": setter.set_by or None}))
        return apply_to_file(data, self.source, edits, self.documents, planned)

    def edited(self, data: bytes, edits: Iterable[Edit]) -> bytes | None:
        """Return the file's bytes with edits made and proved; None where it stays as it is."""
        return apply_to_file(data, self.source, edits, self.documents)

    def _check_not_shared(self, name: str, definition: MappingNode, entry: MappingNode) -> None:
        """Refuse to record a value in what an alias repeats elsewhere."""
        on_the_way = [definition, definition.get("x-k8s-cli"), entry, *(child.value for child in entry.entries)]
        on_the_way.append(definition.get("description"))
        anchored = [node for node in on_the_way if isinstance(node, Scalar | Collection) and node.anchor]
        used = aliased(self.documents[:1]) if anchored else set()
        hint = "setting it would change that too: write the value out where the alias stands"
        refuse(
            node.problem(f"the definition of {name!r} has the anchor &{node.anchor}, which an alias uses", hint)
            for node in anchored
            if node.anchor in used
        )


def _stated(setter: Setter, entry: MappingNode) -> dict[str, Tree | None]:
    """Return what the entry of a setter is to say; what is required and has no value is not marked as set."""
    value = Text(setter.value) if entry.get("value") else double(setter.value)
    fields: dict[str, Tree | None] = {"value": None if setter.is_list else value}
    if setter.is_list:
        texts = [double(text) for text in setter.values or ()]
        fields["listValues"] = texts if entry.get("listValues") else in_brackets(texts)
    fields["setBy"] = Text(setter.set_by) if setter.set_by else None
    fields["isSet"] = "true" if setter.is_set and not setter.must_be_set else None
    return fields


def parse_krmfile(source: Source, memo: Memo | None = None) -> Krmfile:
    """Parse a Krmfile; with a memo once."""
    return (memo or Memo()).once(("krmfile", source.name, source.text), lambda: Krmfile(source))


def _section(root: MappingNode) -> MappingNode | None:
    """Return ``openAPI.definitions``; None where it is missing or null, as kustomize allows."""
    node = root
    for name in ("openAPI", "definitions"):
        value = node.get(name)
        if value is None or is_null(value):
            return None
        if not isinstance(value, MappingNode):
            raise InputError(value.problem(f"{name} must be a mapping"))
        node = value
    return node


def _bodies(section: MappingNode | None, prefix: str, kind: str) -> dict[str, tuple[MappingNode, MappingNode, Entry]]:
    """Return every definition of a kind by its name, with what is below ``x-k8s-cli.KIND`` in it, and its entry."""
    bodies = {}
    for entry in section.entries if section else ():
        if entry.name.startswith(prefix) and isinstance(entry.value, MappingNode):
            body = entry.value.mapping("x-k8s-cli", kind)
            if body is not None:
                bodies[entry.name.removeprefix(prefix)] = entry.value, body, entry
    return bodies


def two_names(name: str, body: MappingNode) -> Problem | None:
    """Describe a definition that has another name inside than its key: a comment finds one, a set the other."""
    entry, inner = body.entry("name"), body.text("name")
    if entry is None or inner in ("", name):
        return None
    return body.source.problem(entry.start, f"the definition of {name} is named {inner!r} inside", f"name: {name}")


def _parse_setter(name: str, definition: MappingNode, body: MappingNode, entry: Entry) -> Setter:
    enum, listed = body.mapping("enumValues"), body.get("listValues")
    texts = tuple(item.value for item in scalars(listed) if not is_null(item))  # null is none, as in kustomize
    schema = {member.name: to_value(member.value) for member in definition.entries if not member.name.startswith("x-")}
    return Setter(
        name=name,
        value=body.text("value"),
        values=texts if isinstance(listed, SequenceNode) else None,
        type=definition.text("type"),
        description=definition.text("description") or body.text("description"),
        required=flag(body.get("required")) or False,
        is_set=flag(body.get("isSet")) or False,
        set_by=body.text("setBy"),
        default=definition.text("default") if definition.get("default") else None,
        example=definition.text("example") if definition.get("example") else None,
        enum_values={member.name: member.value.text() for member in enum.entries} if enum else {},
        schema=schema,
        file=entry.key.source.name,
        line=entry.key.source.locate(entry.start)[0],
    )


def _parse_substitution(name: str, body: MappingNode, entry: Entry) -> Substitution:
    markers = tuple((item.text("marker"), parse_ref(item.text("ref"))) for item in mappings(body.get("values")))
    line = entry.key.source.locate(entry.start)[0]
    return Substitution(name, body.text("pattern"), markers, entry.key.source.name, line)
