"""Single mutations of a package's files: one place of one file, changed as people and tools change it by mistake."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import Alias, Child, Collection, Entry, Item, MappingNode, Node, Scalar, Source
from packyard.core.yaml.span import lines

_COMMENT = re.compile(r'# \{"\$openapi":"(\w+)"\}')
_NAMES = re.compile(r"(?i)(^|claim|secret|account)name$|^subPath$")


@dataclass(frozen=True)
class Mutation:
    """A file with one change: its kind, the key that it is at, and the new text. ``line`` is where."""

    kind: str
    key: str
    path: str
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.kind} {self.key} at {self.path}:{self.line}"


def find(files: Mapping[str, bytes], chance: random.Random, count: int) -> list[Mutation]:
    """Return mutations of a package, of each kind about as many."""
    by_kind: dict[str, list[Mutation]] = {}
    for path, data in files.items():
        for mutation in _of_file(path, data.decode()):
            by_kind.setdefault(mutation.kind, []).append(mutation)
    kinds = sorted(by_kind)
    return [chance.choice(by_kind[kinds[index % len(kinds)]]) for index in range(count)]


def _of_file(path: str, text: str) -> Iterator[Mutation]:
    for found in _COMMENT.finditer(text):
        changed = text[: found.start(1)] + f"{found[1]}_" + text[found.end(1) :]
        yield Mutation("comment renamed", found[1], path, text.count("\n", 0, found.start()) + 1, changed)
        dropped = text[: found.start()].rstrip() + text[found.end() :]
        yield Mutation("comment dropped", found[1], path, text.count("\n", 0, found.start()) + 1, dropped)
    for document in parse_text(Source(path, text)):
        yield from _below(document.root, "", path, text)


def _below(node: Node | None, key: str, path: str, text: str) -> Iterator[Mutation]:
    for child in node.children if isinstance(node, Collection) else ():
        here = child.name if isinstance(child, Entry) else key
        yield from _of_child(child, node, here, path, text)
        yield from _below(child.value, here, path, text)


def _of_child(child: Child, holder: Node | None, key: str, path: str, text: str) -> Iterator[Mutation]:
    line = text.count("\n", 0, child.start) + 1
    start, end = _span(child, holder, text)
    if start < end:
        kind = "item dropped" if isinstance(child, Item) else "field dropped"
        yield Mutation(kind, key, path, line, text[:start] + text[end:])
    if isinstance(child, Entry) and len(key) > 3 and isinstance(child.key, Scalar):
        swapped = key[:-2] + key[-1] + key[-2]
        if swapped != key:
            yield Mutation(
                "field misspelled", key, path, line, text[: child.key.start] + swapped + text[child.key.end :]
            )
    value = child.value
    if isinstance(value, Alias):
        yield Mutation("alias broken", key, path, line, text[: value.start] + "other" + text[value.end :])
    if isinstance(value, Scalar) and value.anchor is None and value.style != "|" and value.value:
        for kind, new in _changes(key, value, isinstance(holder, MappingNode)):
            yield Mutation(kind, key, path, line, text[: value.start] + new + text[value.end :])


def _changes(key: str, value: Scalar, is_field: bool) -> Iterator[tuple[str, str]]:
    plain = value.style == "plain"
    if plain and value.value.isdecimal():
        yield "number to text", f'"{value.value}"'
        yield "number raised", str(int(value.value) + 1)
    elif plain and value.value in ("true", "false"):
        yield "switch to text", f'"{value.value}"'
        yield "switch turned", "false" if value.value == "true" else "true"
    elif value.style in ("'", '"') and value.value.isdecimal():
        yield "text to number", value.value
    if is_field and _NAMES.search(key) and plain:
        yield "name changed", f"{value.value}-x"
    elif plain and not value.value.isdecimal() and value.value not in ("true", "false"):
        yield "text changed", f"{value.value}x"


def _span(child: Child, holder: Node | None, text: str) -> tuple[int, int]:
    """Return what has to be cut to drop a child: its lines, or in brackets its text and a comma."""
    if isinstance(holder, Collection) and holder.flow:
        start, end = child.start, child.value.end
        after = re.compile(r"\s*,\s*").match(text, end)
        if after:
            return start, after.end()
        before = text.rfind(",", holder.start, start)
        return (before, end) if before > 0 else (start, end)
    if isinstance(holder, Collection) and len(holder.children) < 2:
        return 0, 0
    try:
        start, end = lines(child)
    except InputError:  # a child that shares its line
        return 0, 0
    return start, end + 1
