"""Nodes without aliases and merge keys: each place has a copy of its own, which may be changed without the others.

base: &b {cpu: 4}              base: {cpu: 4}
job: {<<: *b, gpu: 1}    ->    job: {gpu: 1, cpu: 4}
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.errors import InputError
from packyard.text.node import Alias, Entry, Item, Mapping, Node, Scalar, Sequence

#: A document whose aliases stand for more nodes than this is refused.
MAX_NODES = 100_000
#: So is one that nests deeper by them.
MAX_DEPTH = 200


def unaliased(root: Node) -> Node:
    """Return a copy of a node; positions and comments are those of what it was copied from."""
    return _Copying().copy(root, 0)


class _Copying:
    def __init__(self) -> None:
        self._anchored: dict[str, Node] = {}
        self._left = MAX_NODES

    def copy(self, node: Node, level: int) -> Node:
        self._left -= 1
        if self._left < 0:
            raise InputError(node.problem(f"its aliases stand for more than {MAX_NODES} values"))
        if level > MAX_DEPTH:
            raise InputError(node.problem(f"its aliases nest deeper than {MAX_DEPTH} levels"))
        if isinstance(node, Alias):
            if node.anchor not in self._anchored:
                raise InputError(node.problem(f"{node.lexeme} refers to nothing before it"))
            return self.copy(self._anchored[node.anchor], level)
        made: Node
        if isinstance(node, Scalar):
            made = Scalar(node.source, node.start, node.end, node.value, node.style, node.tag, None)
        elif isinstance(node, Sequence):
            made = Sequence(node.source, node.start, node.end, node.flow, node.tag, None)
            made.items = [_item(self.copy(item.value, level + 1), item) for item in node.items]
        else:
            assert isinstance(node, Mapping)
            made = self._mapping(node, level)
        made.comment = node.comment
        if isinstance(node, Scalar | Sequence | Mapping) and node.anchor:
            self._anchored[node.anchor] = made
        return made

    def _mapping(self, node: Mapping, level: int) -> Mapping:
        made = Mapping(node.source, node.start, node.end, node.flow, node.tag, None)
        merged: list[Entry] = []
        for entry in node.entries:
            key = self.copy(entry.key, level + 1)
            value = self.copy(entry.value, level + 1)
            if isinstance(key, Scalar) and key.value == "<<" and key.style == "plain":
                merged += self._merged(value)
            else:
                made.entries.append(_entry(key, value, entry))
        known = {entry.name for entry in made.entries}
        for entry in merged:
            if entry.name not in known:
                known.add(entry.name)
                made.entries.append(_entry(entry.key, self.copy(entry.value, level + 1), entry))
        return made

    def _merged(self, value: Node) -> Iterator[Entry]:
        for other in [item.value for item in value.items] if isinstance(value, Sequence) else [value]:
            if not isinstance(other, Mapping):
                raise InputError(other.problem("a merge key takes mappings"))
            yield from other.entries


def _item(value: Node, item: Item) -> Item:
    made = Item(value, item.start, item.index)
    made.head, made.foot, made.comment = list(item.head), list(item.foot), item.comment
    return made


def _entry(key: Node, value: Node, entry: Entry) -> Entry:
    made = Entry(key, value, entry.start, entry.index)
    made.head, made.foot, made.comment = list(entry.head), list(entry.foot), entry.comment
    return made
