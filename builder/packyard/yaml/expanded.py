"""A document's value with its aliases and merge keys followed, and the node that each part of the value came from.

base: &b {cpu: 4}
job: {<<: *b, gpu: 1}      ->  value["job"] == {"cpu": 4, "gpu": 1}, and the place of job.cpu is in line 1
"""

from __future__ import annotations

from collections.abc import Sequence

from packyard.errors import InputError
from packyard.yaml.node import Alias, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.yaml.plain import scalar_value

#: A document whose aliases stand for more values than this is refused.
MAX_VALUES = 1_000_000
_TYPED = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


class Expanded:
    """The value of a root node, and its nodes by path."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._anchored: dict[str, tuple[object, int]] = {}
        self._aliases: dict[int, Node] = {}
        self._nodes: dict[str, Node] = {}
        self.value, _ = self._read(root)

    def nearest(self, path: Sequence[str | int]) -> tuple[Entry | None, Node]:
        """Return the node at a path, and the entry that it is the value of; where there is none, the nearest above."""
        entry: Entry | None = None
        node = self._follow(self._root)
        for step in path:
            if isinstance(step, int):
                inner = node.items[step : step + 1] if isinstance(node, SequenceNode) else []
                if not inner:
                    break
                entry, node = None, self._follow(inner[0].value)
            else:
                found = self._entry(node, step)
                if found is None:
                    break
                entry, node = found, self._follow(found.value)
        return entry, node

    def _entry(self, node: Node, name: str) -> Entry | None:
        if not isinstance(node, MappingNode):
            return None
        own = next((entry for entry in node.entries if entry.name == name and not _is_merge(entry)), None)
        if own is not None:
            return own
        merged = [self._follow(entry.value) for entry in node.entries if _is_merge(entry)]
        flat = [self._follow(item.value) for other in merged if isinstance(other, SequenceNode) for item in other.items]
        found = (self._entry(other, name) for other in (*merged, *flat))
        return next((entry for entry in found if entry is not None), None)

    def _follow(self, node: Node) -> Node:
        return self._aliases.get(id(node), node)

    def _read(self, node: Node) -> tuple[object, int]:
        """Return the value of a node and the number of values in it."""
        value: object
        size = 1
        if isinstance(node, Alias):
            if node.anchor not in self._anchored:
                raise InputError(node.problem(f"{node.lexeme} refers to nothing before it"))
            self._aliases[id(node)] = self._nodes[node.anchor]
            return self._anchored[node.anchor]
        if isinstance(node, MappingNode):
            value, size = self._mapping(node)
        elif isinstance(node, SequenceNode):
            members = [self._read(item.value) for item in node.items]
            value, size = [member for member, _ in members], 1 + sum(count for _, count in members)
        else:
            assert isinstance(node, Scalar)
            typed = node.tag in _TYPED or (node.style == "plain" and node.tag is None)
            value = scalar_value(node.value) if typed else node.value
        if size > MAX_VALUES:
            raise InputError(node.problem(f"its aliases stand for more than {MAX_VALUES} values"))
        if isinstance(node, Scalar | MappingNode | SequenceNode) and node.anchor:
            self._anchored[node.anchor] = (value, size)
            self._nodes[node.anchor] = node
        return value, size

    def _mapping(self, node: MappingNode) -> tuple[dict[str, object], int]:
        value: dict[str, object] = {}
        merged: list[object] = []
        size = 1
        for entry in node.entries:
            member, count = self._read(entry.value)
            size += count
            if _is_merge(entry):
                merged += member if isinstance(member, list) else [member]
            else:
                value[entry.name] = member
        for other in merged:
            for name, member in other.items() if isinstance(other, dict) else ():
                value.setdefault(name, member)
        return value, size


def _is_merge(entry: Entry) -> bool:
    return isinstance(entry.key, Scalar) and entry.key.value == "<<" and entry.key.style == "plain"
