"""Anchors and aliases of an object that is written: what its authors anchored and what is still equal stands once.

A node remembers the anchor that it was written with, and so do its copies, each of which patches may change. Copies
that are equal when the object is written stand once as ``&name``, then as ``*name``; others are written out, and what
is inside of them may still be shared. An anchor that no alias repeats is left out.
"""

from collections import Counter
from collections.abc import Hashable

from packyard.core.yaml.make import copy
from packyard.core.yaml.node import Alias, Collection, Comment, MappingNode, Node, Scalar
from packyard.core.yaml.values import type_of
from packyard.using.setters.comment import parse

#: What a node is remembered by: the file and the place where it was anchored, and what it is now.
_Memory = tuple[str, int, Hashable]


class Sharing:
    """One object as it is to be written: ``tree`` is its own, with aliases for what repeats."""

    def __init__(self, root: MappingNode) -> None:
        self._repeated: Counter[_Memory] = Counter()
        self._count(root, set())
        self._names: dict[_Memory, str] = {}
        tree = self._copy(root)
        assert isinstance(tree, MappingNode)
        self.tree = tree

    def _count(self, node: Node, counted: set[_Memory]) -> None:
        memory = self._memory(node)
        if memory is not None:
            if memory in counted:
                self._repeated[memory] += 1
                return
            counted.add(memory)
        for part in node.children if isinstance(node, Collection) else ():
            self._count(part.value, counted)

    def _copy(self, node: Node) -> Node:
        memory = self._memory(node)
        if memory is not None and memory in self._names:
            return Alias(node.source, node.start, node.end, self._names[memory])
        anchor = self._name(memory, node) if memory is not None and memory in self._repeated else None
        twin = copy(node, self._copy)
        if isinstance(twin, Scalar | Collection):
            twin.anchor = anchor
        return twin

    def _name(self, memory: _Memory, node: Node) -> str:
        """Name what is repeated as its author did; what is another value by now gets a number."""
        assert isinstance(node, Scalar | Collection)
        own = node.anchor or ""
        anchors = set(self._names.values())
        names = (own if number == 1 else f"{own}-{number}" for number in range(1, len(anchors) + 2))
        self._names[memory] = next(name for name in names if name not in anchors)
        return self._names[memory]

    def _memory(self, node: Node) -> _Memory | None:
        if not isinstance(node, Scalar | Collection) or not node.anchor:
            return None
        return node.source.name, node.start, _content(node)


def _content(node: Node) -> Hashable:
    """Return what is the same for equal values with equal setter comments; prose does not count."""
    if isinstance(node, Scalar):
        return type_of(node), node.value, node.tag, _reference(node.comment)
    assert isinstance(node, Collection)
    inner = ((getattr(part, "name", ""), _reference(part.comment), _content(part.value)) for part in node.children)
    return type(node).__name__, _reference(node.comment), *inner


def _reference(comment: Comment | None) -> tuple[str, str] | None:
    reference = parse(comment.text) if comment else None
    return (reference.kind, reference.name) if reference else None
