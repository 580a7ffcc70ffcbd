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
          setBy: me         <- replaced, or taken out, as kustomize 3.8.7 does
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.errors import InputError, Problem
from packyard.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX, parse_ref
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.text.document import check_keys, parse_text
from packyard.text.edit import Edit
from packyard.text.node import Entry, Mapping, Node, Scalar, Sequence, Source
from packyard.text.plain import to_value
from packyard.text.scalar import double_quoted, implicit_type, is_plain_text
from packyard.text.sharing import once

NAME = "Krmfile"
#: One that defines nothing: the very bytes of kustomize 3.8.7.
EMPTY = b"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile"


class Krmfile:
    """A parsed Krmfile: its definitions, and where each setter's entry stands."""

    def __init__(self, source: Source) -> None:
        self.source = source
        documents = [document for document in parse_text(source) if document.root is not None]
        if not documents:
            raise InputError(Problem("is empty", file=source.name, hint="packyard cfg init writes one"))
        check_keys(documents[0])
        root = documents[0].root
        if not isinstance(root, Mapping):
            raise InputError(Problem("its root is no mapping", file=source.name, line=1))
        self.root = root
        self._definitions = _section(root)
        self.definitions = Definitions(
            {
                name: _parse_setter(name, definition, body, entry)
                for name, definition, body, entry in _bodies(self._definitions, SETTER_PREFIX, "setter")
            },
            {
                name: _parse_substitution(name, body, entry)
                for name, _, body, entry in _bodies(self._definitions, SUBSTITUTION_PREFIX, "substitution")
            },
        )

    @property
    def entries(self) -> list[Entry]:
        """The entries of all definitions, of other kinds too."""
        return self._definitions.entries if self._definitions else []

    def rename(self, name: str) -> None:
        """Take this for the file of another name, which has the same bytes."""
        self.source.name = name
        self.definitions = Definitions(
            {key: setter.replaced(file=name) for key, setter in self.definitions.setters.items()},
            {key: item.replaced(file=name) for key, item in self.definitions.substitutions.items()},
        )

    def setter_entry(self, name: str) -> tuple[Mapping, Mapping]:
        """Return a setter's definition and the ``setter`` mapping in it."""
        definition = self._definitions.mapping(SETTER_PREFIX + name) if self._definitions else None
        setter = definition.mapping("x-k8s-cli", "setter") if definition else None
        if definition is None or setter is None:
            raise InputError(Problem(f'setter "{name}" is not found', file=self.source.name))
        return definition, setter

    def record(self, setter: Setter, *, description: str = "") -> list[Edit]:
        """Return the edits that make the entry state ``setter``: its value, isSet, setBy and, if given, description."""
        definition, entry = self.setter_entry(setter.name)
        edits: list[Edit] = []
        new: list[str] = []
        gone = set()
        if setter.is_list:
            gone.add("value")
            edits += _put(entry, "listValues", _list_text(entry, setter.values or ()), new)
        else:
            edits += _put_text(entry, "value", setter.value, new)
        if setter.set_by:
            edits += _put_plain(entry, "setBy", setter.set_by, new)
        else:
            gone.add("setBy")
        if setter.is_set:
            edits += _put(entry, "isSet", "true", new)
        else:
            gone.add("isSet")
        edits += take_out(entry, gone)
        edits += append(entry, new, gone)
        if description:
            new = []
            edits += _put_plain(definition, "description", description, new)
            edits += append(definition, new, set())
        return edits


def parse_krmfile(source: Source) -> Krmfile:
    """Parse a Krmfile; within `Sharing` one of equal text and name is the same."""
    return once(("krmfile", source.name, source.text), lambda: Krmfile(source))


def _section(root: Mapping) -> Mapping | None:
    """Return ``openAPI.definitions``; None where it is missing or null, as kustomize allows."""
    node: Node = root
    for name in ("openAPI", "definitions"):
        assert isinstance(node, Mapping)
        value = node.get(name)
        if value is None or (isinstance(value, Scalar) and implicit_type(value.value) == "null"):
            return None
        if not isinstance(value, Mapping):
            raise InputError(value.problem(f"{name} is no mapping"))
        node = value
    assert isinstance(node, Mapping)
    return node


def _bodies(section: Mapping | None, prefix: str, kind: str) -> Iterator[tuple[str, Mapping, Mapping, Entry]]:
    """Yield name, definition, what is below ``x-k8s-cli.KIND`` and entry of every definition of a kind."""
    for entry in section.entries if section else ():
        if entry.name.startswith(prefix) and isinstance(entry.value, Mapping):
            body = entry.value.mapping("x-k8s-cli", kind)
            if body is not None:
                yield entry.name.removeprefix(prefix), entry.value, body, entry


def _parse_setter(name: str, definition: Mapping, body: Mapping, entry: Entry) -> Setter:
    enum_values = body.mapping("enumValues")
    listed = body.get("listValues")
    schema = {member.name: to_value(member.value) for member in definition.entries if not member.name.startswith("x-")}
    return Setter(
        name=name,
        value=body.text("value"),
        values=tuple(_texts(listed)) if isinstance(listed, Sequence) else None,
        type=definition.text("type"),
        description=(definition if definition.get("description") else body).text("description"),
        required=body.text("required") == "true",
        is_set=body.text("isSet") == "true",
        set_by=body.text("setBy"),
        default=definition.text("default") if definition.get("default") else None,
        example=definition.text("example") if definition.get("example") else None,
        enum_values={member.name: enum_values.text(member.name) for member in enum_values.entries}
        if enum_values
        else {},
        schema=schema,
        file=entry.key.source.name,
        line=entry.key.source.locate(entry.start)[0],
    )


def _parse_substitution(name: str, body: Mapping, entry: Entry) -> Substitution:
    values = body.get("values")
    listed = [item.value for item in values.items] if isinstance(values, Sequence) else []
    markers = tuple((item.text("marker"), parse_ref(item.text("ref"))) for item in listed if isinstance(item, Mapping))
    line = entry.key.source.locate(entry.start)[0]
    return Substitution(name, body.text("pattern"), markers, entry.key.source.name, line)


def _texts(sequence: Sequence) -> list[str]:
    """Return the texts of a list's items; null is none, as in kustomize."""
    scalars = (item.value for item in sequence.items if isinstance(item.value, Scalar))
    return [node.value for node in scalars if node.style != "plain" or implicit_type(node.value) != "null"]


def _put_text(mapping: Mapping, key: str, text: str, new: list[str]) -> list[Edit]:
    """Put a value that must stay a string: the old quotes are kept, plain text that would not be one gets some."""
    old = mapping.get(key)
    style = old.style if isinstance(old, Scalar) and (old.value or old.style != "plain") else '"'
    if style == "'" and double_quoted(text) == f'"{text}"':
        return _put(mapping, key, "'" + text.replace("'", "''") + "'", new)
    plain = style != '"' and style != "'" and is_plain_text(text, flow=mapping.flow)
    return _put(mapping, key, text if plain else double_quoted(text), new)


def _put_plain(mapping: Mapping, key: str, text: str, new: list[str]) -> list[Edit]:
    return _put(mapping, key, text if is_plain_text(text, flow=mapping.flow) else double_quoted(text), new)


def _put(mapping: Mapping, key: str, lexeme: str, new: list[str]) -> list[Edit]:
    """Replace the value under ``key``, or note a new entry in ``new``."""
    old = mapping.get(key)
    if old is None:
        new.append(f"{key}: {lexeme}")
        return []
    if old.lexeme == lexeme:
        return []
    if isinstance(old, Scalar) and old.style in "|>":
        lexeme += "\n"
    if old.start == old.end:  # `key:` with nothing behind it
        lexeme = " " + lexeme
    return [Edit(old.start, old.end, lexeme)]


def _list_text(entry: Mapping, values: tuple[str, ...]) -> str:
    """Write ``listValues`` in the form that the old ones have: in brackets, or an item a line."""
    texts = [double_quoted(value) for value in values]
    old = entry.entry("listValues")
    if old is None or not isinstance(old.value, Sequence) or old.value.flow or not texts:
        return "[" + ", ".join(texts) + "]"
    source = old.value.source
    indent = " " * (old.value.start - source.line_start(old.value.start))
    return f"{line_break(source)}{indent}".join(f"- {text}" for text in texts)


def take_out(mapping: Mapping, keys: set[str]) -> list[Edit]:
    """Remove entries: the lines of each in a block mapping, the text and one comma in a flow mapping."""
    edits: list[Edit] = []
    kept: Entry | None = None
    for position, entry in enumerate(mapping.entries):
        if entry.name not in keys:
            kept = entry
        elif not mapping.flow:
            edits.append(_lines(entry))
        elif kept:
            edits.append(Edit(mapping.entries[position - 1].value.end, entry.value.end, ""))
        else:
            following = mapping.entries[position + 1].start if position + 1 < len(mapping.entries) else entry.value.end
            edits.append(Edit(entry.start, following, ""))
    return edits


def _lines(entry: Entry) -> Edit:
    """Remove an entry of a block mapping with its line break and the comment behind it."""
    source = entry.key.source
    start = source.line_start(entry.start)
    if source.text[start : entry.start].strip(" \t"):
        raise InputError(entry.key.problem(f"{entry.name} cannot be taken out where it stands"))
    end = entry.value.end
    if end > entry.start and source.text[end - 1] in "\r\n":  # a block scalar ends behind its last line break
        return Edit(start, end, "")
    return Edit(start, _next_line(source, end), "")


def _next_line(source: Source, position: int) -> int:
    end = source.text.find("\n", position)
    return len(source.text) if end < 0 else end + 1


def append(mapping: Mapping, new: list[str], gone: set[str]) -> list[Edit]:
    """Add entries behind the last one that stays, in the mapping's own form, indentation and line ends."""
    if not new:
        return []
    source = mapping.source
    kept = [entry for entry in mapping.entries if entry.name not in gone]
    if not kept:
        raise InputError(mapping.problem("nothing can be added to a mapping that is empty"))
    end = kept[-1].value.end
    if mapping.flow:
        return [Edit(end, end, "".join(f", {text}" for text in new))]
    indent = " " * (kept[0].start - source.line_start(kept[0].start))
    newline = line_break(source)
    if source.text[end - 1] in "\r\n":  # a block scalar ends behind its last line break
        return [Edit(end, end, "".join(f"{indent}{text}{newline}" for text in new))]
    at = _next_line(source, end)
    lines = "".join(f"{indent}{text}{newline}" for text in new)
    if at == len(source.text) and source.text[at - 1] not in "\r\n":  # no line break at the end of the file
        return [Edit(at, at, newline + lines.removesuffix(newline))]
    return [Edit(at, at, lines)]


def line_break(source: Source) -> str:
    """Return the line break that the file uses, by its first line."""
    end = source.text.find("\n")
    return "\r\n" if end > 0 and source.text[end - 1] == "\r" else "\n"
