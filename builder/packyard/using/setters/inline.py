"""Setters of version 1, which kustomize 3.8.7 still reads: a field's own comment holds the definition.

    profile: asm  # {"type":"string","x-kustomize":{"setBy":"me","setter":{"name":"profile","value":"asm"}}}
    path: p/z/c   # {"type":"string","x-kustomize":{"partialSetters":[{"name":"zone","value":"z"}]}}

A partial setter stands for every occurrence of its value in the text. No Krmfile takes part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packyard.core.errors import InputError
from packyard.core.yaml.document import parse_file
from packyard.core.yaml.edit import AS_IS, Edit, replace_comment, set_text
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.proof import rewrite
from packyard.core.yaml.values import NEEDS_ESCAPES

#: What a file must hold for any of its comments to be one of these: a search before a parse.
MARK = b'"x-kustomize"'

_BOOLEANS = frozenset(("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"))


class InlineDefinition:
    """What one comment defines."""

    def __init__(self, members: dict[str, Any]) -> None:
        own = members.pop("x-kustomize", {})
        types = members.pop("type", None)
        self.description = _text(members.pop("description", None))
        self.type = _text(types[0] if types and isinstance(types, list) else types)
        self.others = members
        self.set_by = _text(own.get("setBy"))
        self.partial = [_pair(item) for item in own.get("partialSetters") or []]
        setter = own.get("setter")
        self.whole: tuple[str, str] | None = None if setter is None else _pair(setter)

    def record(self, name: str, value: str) -> None:
        """Give a partial setter a value: the first of that name, or a new one."""
        place = next((place for place, (each, _) in enumerate(self.partial) if each == name), len(self.partial))
        self.partial[place : place + 1] = [(name, value)]

    def setters(self) -> list[tuple[str, str]]:
        """Return name and recorded value of each setter; of partial ones there are none beside one for the whole."""
        return [self.whole] if self.whole else self.partial

    def text(self) -> str:
        """Write the comment, its members in the order of kustomize."""
        own: dict[str, object] = {"setBy": self.set_by} if self.set_by else {}
        if self.partial:
            own["partialSetters"] = [{"name": name, "value": value} for name, value in self.partial]
        if self.whole:
            own["setter"] = {"name": self.whole[0], "value": self.whole[1]}
        members: dict[str, object] = {"description": self.description} if self.description else {}
        members["type"] = self.type
        members |= {name: value for name, value in self.others.items() if name != "$ref"}
        members["x-kustomize"] = own
        members |= {name: value for name, value in self.others.items() if name == "$ref"}
        text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
        return "# " + NEEDS_ESCAPES.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _pair(members: dict[str, Any]) -> tuple[str, str]:
    """Return a setter's name and value; what is missing is empty."""
    return _text(members.get("name")), _text(members.get("value"))


def _text(value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value or ""


@dataclass(frozen=True, slots=True)
class InlineSetter:
    """One setter of a tree; description, value, type and set_by are those of its first field."""

    name: str
    description: str
    value: str
    type: str
    set_by: str
    count: int


def parse(text: str) -> InlineDefinition | None:
    """Read a comment, its ``#`` included; None for any other comment."""
    if '"x-kustomize"' not in text:
        return None
    try:
        members = json.loads(text.lstrip("#"))
        return InlineDefinition(members) if isinstance(members.get("x-kustomize"), dict) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def list_setters(files: Sequence[tuple[str, bytes]]) -> list[InlineSetter]:
    """Return a row per setter of all files, sorted by name; files are given by the names that errors call them."""
    rows: dict[str, InlineSetter] = {}
    for name, data in files:
        for document in parse_file(data, name) if MARK in data else ():
            for _, _, definition in _defined(document.root):
                for setter, value in definition.setters():
                    first = InlineSetter(setter, definition.description, value, definition.type, definition.set_by, 0)
                    first = rows.get(setter, first)
                    rows[setter] = replace(first, count=first.count + 1)
    return [rows[name] for name in sorted(rows)]


class InlineChange:
    """Sets one setter, file by file, and counts the fields."""

    def __init__(self, name: str, value: str, *, set_by: str = "", description: str = "") -> None:
        self.name = name
        self.value = value
        self.set_by = set_by
        self.description = description
        self.count = 0

    def __call__(self, data: bytes, name: str) -> bytes:
        """Return a file with the value set where the recorded one stands."""
        return rewrite(data, name, self._edits) if MARK in data else data

    def _edits(self, document: Document) -> Iterator[Edit]:
        for scalar, flow, definition in _defined(document.root):
            yield from self._set(scalar, definition, flow)

    def _set(self, scalar: Scalar, definition: InlineDefinition, flow: bool) -> list[Edit]:
        text = self._new_text(scalar.value, definition)
        if text is None or scalar.comment is None:
            return []
        _check(definition.type, text)
        self.count += 1
        definition.set_by = self.set_by or definition.set_by
        definition.description = self.description or definition.description
        read_as = "string" if definition.type == "string" else AS_IS
        return [*set_text(scalar, text, read_as, flow=flow), replace_comment(scalar.comment, definition.text())]

    def _new_text(self, text: str, definition: InlineDefinition) -> str | None:
        """Return the field's new text, and record the value; None where the setter is not here, or set already."""
        whole = definition.whole is not None and definition.whole[0] == self.name
        recorded = [definition.whole] if definition.whole and whole else definition.partial
        old = next((value for name, value in recorded if name == self.name), None)
        if old is None or old == self.value or old not in text:
            return None
        if whole:
            definition.whole = (self.name, self.value)
            return self.value
        definition.record(self.name, self.value)
        return text.replace(old, self.value)


def _defined(node: Node | None, flow: bool = False) -> Iterator[tuple[Scalar, bool, InlineDefinition]]:
    """Yield the scalars that the comments behind them define, and whether they stand inside brackets."""
    if isinstance(node, Scalar) and node.comment and (definition := parse(node.comment.text)):
        yield node, flow, definition
    elif isinstance(node, MappingNode | SequenceNode):
        for child in node.children:
            yield from _defined(child.value, flow or node.flow)


def _check(declared: str, text: str) -> None:
    if declared == "integer" and not re.match(r"[+-]?[0-9]+\Z", text):
        raise InputError(f'value must be an int: strconv.Atoi: parsing "{text}": invalid syntax')
    if declared == "boolean" and text not in _BOOLEANS:
        raise InputError(f'value must be a bool: strconv.ParseBool: parsing "{text}": invalid syntax')
