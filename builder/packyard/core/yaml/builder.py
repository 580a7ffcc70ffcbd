"""libyaml's events to nodes, without recursion; every comment is hung on the node that it belongs to as it comes by.

A large tree is read event by event in this file more than anywhere else: hence the identity of types where `isinstance`
would do.
"""

from collections.abc import Callable
from sys import intern
from typing import Any

from yaml import events

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.comments import Token, place
from packyard.core.yaml.node import (
    Alias,
    Child,
    Collection,
    Document,
    Entry,
    Item,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    Source,
)

#: Deeper nesting is refused: libyaml needs time quadratic in the depth, and no manifest comes near.
MAX_DEPTH = 200
#: How many events a text may come to: brackets full of commas take a hundred times the memory of a text.
MAX_EVENTS = 250_000


class Builder:
    """Makes a text's documents of its events, and counts the aliases of each node (`Source.aliases`).

    An alias of what does not stand before it is refused, as every reader of YAML does, but in what ``is_part`` of a
    text, whose anchors may stand in the rest.
    """

    def __init__(self, source: Source, *, is_part: bool) -> None:
        self.source = source
        self.source.aliases = {}
        self._is_part = is_part
        self._anchors: dict[str, int] = {}  # of this document, and where the node of each begins
        self.documents: list[Document] = []
        self._token: Token | None = None  # the last
        self._sign = self._find_sign(0)  # the first behind it that may begin a comment
        self._stack: list[Collection] = []
        self._starting: list[Child] = []  # entries and items that begin at the next token
        self._owner: Child | None = None  # the innermost one that began

    def build(self, next_event: Callable[[], Any]) -> list[Document]:
        """Take all events, up to None, and return the documents."""
        for number, event in enumerate(iter(next_event, None)):
            if number == MAX_EVENTS:
                raise InputError(Problem(f"holds more than {MAX_EVENTS} values", file=self.source.name))
            self._add(event)
        place(self.source, self._token, None, self.documents)
        return self.documents

    def _add(self, event: Any) -> None:
        """Take the next event."""
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        if kind is events.ScalarEvent:
            scalar = Scalar(self.source, start, end, event.value, event.style or "plain", event.tag, event.anchor)
            if event.anchor:
                self._anchors[event.anchor] = start
            self._next(start, end, scalar, self._place(scalar, start))
        elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
            self._close(start, end)
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            collection = MappingNode if kind is events.MappingStartEvent else SequenceNode
            if event.anchor:
                self._anchors[event.anchor] = start
            self._open(collection(self.source, start, end, bool(event.flow_style), event.tag, event.anchor))
        elif kind is events.AliasEvent:
            node = Alias(self.source, start, end, event.anchor)
            self._count(node)
            self._next(start, end, node, self._place(node, start))
        elif kind is events.DocumentStartEvent:
            self.documents.append(Document(self.source, start))
            self._anchors.clear()
            if event.explicit:
                self._next(start, end, None, None)
        elif kind is events.DocumentEndEvent and event.explicit:
            self._next(start, end, None, None)

    def _count(self, alias: Alias) -> None:
        """Count an alias of the node that it repeats."""
        start = self._anchors.get(alias.anchor)
        if start is not None:
            self.source.aliases[start] = self.source.aliases.get(start, 0) + 1
        elif not self._is_part:
            hint = f"mark what it repeats with &{alias.anchor}, or write it out"
            raise InputError(alias.problem(f"*{alias.anchor} refers to nothing before it", hint))

    def _open(self, node: Collection) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise InputError(node.problem(f"nested deeper than {MAX_DEPTH} levels"))
        self._place(node, node.start)
        self._stack.append(node)
        if node.flow:
            self._next(node.start, node.end, None, None)

    def _close(self, start: int, end: int) -> None:
        node = self._stack.pop()
        if node.flow:
            node.end = end
            self._next(start, end, node, None)
        else:
            node.end = self._token[1] if self._token else end

    def _place(self, node: Node, start: int) -> Entry | None:
        """Put a node where it belongs; return its entry where it is the key of one."""
        if not self._stack:
            self.documents[-1].root = node
            return None
        parent = self._stack[-1]
        children = parent.children
        entry: Entry | None = None
        if type(parent) is SequenceNode:
            child: Child = Item(node, start)
        elif children and (last := children[-1]).value is last.key:  # it waits for its value
            last.value = node
            return None
        else:
            if type(node) is Scalar:
                node.value = intern(node.value)  # few keys are many entries
            child = entry = Entry(node, node, start)
        children.append(child)
        self._starting.append(child)
        return entry

    def _next(self, start: int, end: int, node: Node | None, entry: Entry | None) -> None:
        """Take the next token, and place the comments before it."""
        before, children = self._token, self._starting
        if children:
            self._owner = children[-1]
            self._starting = []
        self._token = token = (start, end, node, entry, children, self._owner)
        if self._sign < end:
            if self._sign < start:
                place(self.source, before, token, self.documents)
            self._sign = self._find_sign(end)

    def _find_sign(self, start: int) -> int:
        sign = self.source.text.find("#", start)
        return sign if sign >= 0 else len(self.source.text)
