"""Creating setters and substitutions: which fields get the comment, and what the Krmfile gets.

    create_setter(package, NewSetter(name="N", value="3", field="spec.replicas"))

    spec:                    spec:                           io.k8s.cli.setters.N:
      replicas: 3              replicas: 3 # {"$openapi":"N"}      x-k8s-cli: {setter: {name: N, value: "3"}}

Fields are chosen as kustomize 3.8.7 chooses them: by the end of their dotted path, and by their text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError, NotHereError
from packyard.core.yaml.content import Text, Tree
from packyard.core.yaml.document import scalars
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Child, Document, Entry, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.proof import rewrite
from packyard.core.yaml.splice import add
from packyard.using.setters import comment
from packyard.using.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import place, schemafile

_ONE_NAME = "substitution and setter can't have same name"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSetter:
    """A setter to create; ``value`` and ``field`` choose the fields, an empty text chooses all."""

    name: str
    value: str = ""
    field: str = ""
    type: str = ""
    schema: Mapping[str, object] = dataclasses.field(default_factory=dict)
    description: str = ""
    set_by: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubstitution:
    """A substitution to create for the fields that now show ``value``; setters that it lacks are created with it."""

    name: str
    pattern: str
    value: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Creation:
    """What is created: the new files, the number of fields bound, and the setters of a substitution, with their values.

    ``former`` are the names that the fields were bound to.
    """

    plan: Plan
    fields: int
    setters: Mapping[str, str]
    former: tuple[str, ...]


def create_setter(package: PackageFiles, new: NewSetter) -> Creation:
    """Bind the fields that match, and define the setter."""
    krmfile = read_krmfile(package)
    _check_setter(krmfile.definitions, new)
    binder = _Binder(package, new)
    definition: dict[str, Tree] = {key: schemafile.to_tree(value) for key, value in new.schema.items()}
    if new.description:
        definition.pop("description", None)
        definition["description"] = Text(new.description)
    if new.type:
        definition.setdefault("type", Text(new.type))
    setter: dict[str, Tree] = {"name": Text(new.name), "value": Text("" if new.type == "array" else new.value)}
    if binder.values:
        setter["listValues"] = [Text(value) for value in binder.values]
    if new.set_by:
        setter["setBy"] = Text(new.set_by)
    if new.required:
        setter["required"] = "true"
    definition["x-k8s-cli"] = {"setter": setter}
    return binder.finish(krmfile, {SETTER_PREFIX + new.name: definition}, {})


def create_substitution(package: PackageFiles, new: NewSubstitution) -> Creation:
    """Bind the fields that match, define the substitution, and create the setters that it needs and nobody defines."""
    krmfile = read_krmfile(package)
    definitions = krmfile.definitions
    if new.name in definitions.substitutions:
        raise NotHereError(f'substitution with name "{new.name}" already exists')
    if new.name in definitions.setters:
        raise NotHereError(f'setter with name "{new.name}" already exists, {_ONE_NAME}')
    _check_name(new.name)
    markers = _markers(new)
    derived = _derive(new, markers)
    kinds = {
        marker: SUBSTITUTION_PREFIX if marker[2:-1] in definitions.substitutions else SETTER_PREFIX
        for marker in markers
    }
    _check_cycle(definitions, new, kinds)
    entries: dict[str, Tree] = {SUBSTITUTION_PREFIX + new.name: _substitution(new, markers, kinds)}
    created: dict[str, str] = {}
    for marker in markers:
        name = marker[2:-1]
        if kinds[marker] == SETTER_PREFIX and name not in definitions.setters:
            _check_name(name)
            created[name] = derived[marker]
            setter: Tree = {"name": Text(name), "value": Text(derived[marker])}
            entries[SETTER_PREFIX + name] = {"x-k8s-cli": {"setter": setter}}
    return _Binder(package, new).finish(krmfile, entries, created)


def _check_setter(definitions: Definitions, new: NewSetter) -> None:
    if new.name in definitions.substitutions:
        raise NotHereError(f'substitution with name "{new.name}" already exists, {_ONE_NAME}')
    if new.name in definitions.setters:
        raise NotHereError(
            f'setter with name "{new.name}" already exists, '
            "if you want to modify it, please delete the existing setter and recreate it"
        )
    schemafile.check_types(new.schema, new.type)
    if not new.field and not new.value:
        raise InputError("must specify either fieldName or fieldValue")
    _check_name(new.name)


def _check_name(name: str) -> None:
    if not name or any(sign in name for sign in "/%\n"):  # parts of a URL's path: what refers to it is lost
        raise InputError(f"no comment can refer to the name {name!r}: use letters, digits, '-', '_' and '.'")


# Which fields match.


def _matches(new: NewSetter | NewSubstitution, child: Child, path: str) -> bool:
    """Say whether a part at a dotted path is to be bound: a scalar, or a list that ``field`` names.

    One whose key has a comment already is left alone, as in kustomize 3.8.7, which marks the keys of lists for
    substitutions too, though nothing reads that.
    """
    value, is_array = child.value, isinstance(new, NewSetter) and new.type == "array"
    if not path.endswith(new.field):
        return False
    if isinstance(value, Scalar):
        return not is_array and new.value in ("", value.value)
    if not isinstance(value, SequenceNode) or not isinstance(child, Entry) or child.comment is not None:
        return False
    if value.comment and place.is_binding(value.comment.text):
        return False
    return is_array or (isinstance(new, NewSubstitution) and bool(new.field) and not value.flow)


class _Binder:
    """The comments that the files of a package get."""

    def __init__(self, package: PackageFiles, new: NewSetter | NewSubstitution) -> None:
        self.package = package
        self.new = new
        self.text = comment.write(new.name)
        words = [] if isinstance(new, NewSetter) and new.type == "array" else new.value.split()
        self.mark = (words or [new.field.rpartition(".")[2]])[0].encode()
        self.count = 0
        self.values: tuple[str, ...] = ()  # of the lists that were bound
        self.files: dict[str, bytes] = {}
        self.former: dict[str, None] = {}
        self._listed = False
        for path, data in package.resources.items():
            self._bind_file(path, data)

    def finish(self, krmfile: Krmfile, entries: Mapping[str, Tree], setters: Mapping[str, str]) -> Creation:
        """Add the definitions, and return all that was done."""
        edits = add(krmfile.root, ("openAPI", "definitions"), entries)
        recorded = krmfile.edited(self.package.krmfile, edits)
        if recorded is not None:
            self.files[self.package.name] = recorded
        return Creation(Plan(files=self.files), self.count, setters, tuple(self.former))

    def _bind_file(self, path: str, data: bytes) -> None:
        if self.mark not in data and b"\\" not in data:  # a file without the value may be a template, and no YAML
            return
        new = rewrite(data, self.package.where + path, self._bind_document)
        if new != data:
            self.files[path] = new

    def _bind_document(self, document: Document) -> list[Edit]:
        matching = [child for child, path in _fields(document.root, "") if _matches(self.new, child, path)]
        self.count += len(matching)
        return [edit for child in matching for edit in self._bind(child)]

    def _bind(self, child: Child) -> list[Edit]:
        if isinstance(child.value, SequenceNode):
            assert isinstance(child, Entry)
            if isinstance(self.new, NewSetter):
                self._same_values(child.value)
            return place.bind_list(child, self.text)
        if child.value.comment and (reference := comment.parse(child.value.comment.text)):
            self.former[reference.name] = None
        return place.bind(child, self.text)

    def _same_values(self, node: SequenceNode) -> None:
        values = tuple(scalar.value for scalar in scalars(node))
        if len(values) < len(node.items):
            message = "the list holds more than plain values, which a setter would replace"
            raise InputError(node.problem(message, "choose another by a longer --field"))
        if self._listed and values != self.values:
            raise NotHereError(
                "setters can only be created for fields with same values, encountered different array values "
                f"for specified field path: [{' '.join(values)}], [{' '.join(self.values)}]"
            )
        self.values, self._listed = values, True


def _fields(node: Node | None, path: str) -> Iterator[tuple[Child, str]]:
    """Yield every entry and item with its dotted path; the index of an item is left out."""
    children: list[tuple[Child, str]] = []
    if isinstance(node, MappingNode):
        children = [(entry, f"{path}.{entry.name}") for entry in node.entries if isinstance(entry.key, Scalar)]
    elif isinstance(node, SequenceNode):
        children = [(item, path) for item in node.items if isinstance(item, Item)]
    for child, below in children:
        yield child, below
        yield from _fields(child.value, below)


# What a substitution's markers stand for.


def _markers(new: NewSubstitution) -> list[str]:
    markers = re.findall(r"\$\{[^}\n]*\}", new.pattern)
    if not markers:
        raise InputError("unable to find setter or substitution names in pattern, setter names must be enclosed in ${}")
    if f"${{{new.name}}}" in markers:
        raise InputError(f"setters must have different name than the substitution: {new.name}")
    for marker in markers:
        for earlier in markers:
            if marker != earlier and marker in earlier:
                raise InputError(f"markers {marker} is substring of {earlier}, no marker should be substring of other")
    return markers


def _derive(new: NewSubstitution, markers: list[str]) -> dict[str, str]:
    """Return what each marker must stand for so that the pattern yields the value."""
    literals = re.split(r"\$\{[^}\n]*\}", new.pattern)
    for index in range(1, len(markers)):
        if not literals[index]:
            raise InputError(
                f"markers {markers[index - 1]} and {markers[index]} are found to have no delimiters between them, "
                "pre-create setters and try again"
            )
    # Each text ends where the literal behind it stands first, whatever that leaves to the others.
    texts = (f"(?>(.*?){re.escape(literal)})" if literal else "(.+)" for literal in literals[1:])
    match = re.fullmatch("".join([re.escape(literals[0]), *texts]), new.value, re.DOTALL)
    if not match:
        raise InputError("unable to derive values for markers, create setters for all markers and then try again")
    derived: dict[str, str] = {}
    for marker, text in zip(markers, match.groups(), strict=True):
        if derived.setdefault(marker, text) != text:
            raise InputError(f"marker {marker} is found to have different values {derived[marker]} and {text}")
    return derived


def _substitution(new: NewSubstitution, markers: list[str], kinds: Mapping[str, str]) -> Tree:
    values: list[Tree] = [
        {"marker": Text(marker), "ref": Text(f"{REF_PREFIX}{kinds[marker]}{marker[2:-1]}")} for marker in markers
    ]
    body: Tree = {"name": Text(new.name), "pattern": Text(new.pattern), "values": values}
    return {"x-k8s-cli": {"substitution": body}}


def _check_cycle(definitions: Definitions, new: NewSubstitution, kinds: Mapping[str, str]) -> None:
    markers = tuple((marker, comment.parse_ref(f"{REF_PREFIX}{kind}{marker[2:-1]}")) for marker, kind in kinds.items())
    created = Substitution(new.name, new.pattern, markers)
    setters = {marker[2:-1]: Setter(marker[2:-1]) for marker in kinds}
    extended = Definitions({**setters, **definitions.setters}, {**definitions.substitutions, new.name: created})
    extended.setters_of(created)
