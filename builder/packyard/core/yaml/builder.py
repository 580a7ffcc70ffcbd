"""libyaml's events to nodes, without recursion; every comment is hung on the node that it belongs to as it comes by.

A large tree is read event by event in this file more than anywhere else. Hence the identity of types where `isinstance`
would do, and no object for what is left out: 2 to 3 times the speed on files with one setter comment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from packyard.core.errors import InputError
from packyard.core.yaml.comments import Around, Token, place
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

#: Keys that are kept whatever is asked for: what says of which kind an object is.
_KEPT = ("apiVersion", "kind")


class Builder:
    """Makes a text's documents of its events.

    With ``around`` only what leads to a comment that holds one of these texts is kept. What is far from any of them
    never becomes a node; other children are dropped when what follows them has come, and with it all comments that
    could have made them worth keeping.
    """

    def __init__(self, source: Source, around: Sequence[str] = ()) -> None:
        self.source = source
        self.documents: list[Document] = []
        self._around = Around(source.text, around) if around else None
        self._quiet_end = self._around.quiet_end if self._around else -1
        self._wanted = 0  # comments asked for that were placed up to now
        self._before: Token | None = None
        self._left_out: Any = None  # the last token's event, if that was left out
        self._ended: list[tuple[Collection, Child, int]] = []  # children to be judged once the next token has come
        self._stack: list[Collection] = []
        self._keys: list[Node | None] = []  # per open mapping: the key that waits for its value
        self._since: list[int] = []  # per open collection: comments asked for when its last child began
        self._starting: list[Child] = []  # entries and items that begin at the next token

    def build(self, next_event: Callable[[], Any]) -> list[Document]:
        """Take all events, up to None, and return the documents."""
        while (event := next_event()) is not None:
            if event.end_mark.index <= self._quiet_end and self._stack and not self._stack[-1].flow:
                event = self._skim(event, next_event)
            self._add(event)
        self._place_comments(self._last(), None)
        return self.documents

    def _skim(self, event: Any, next_event: Callable[[], Any]) -> Any:
        """Count what nothing can come to hang on, and return the first event that matters.

        The plain loop, in which nothing is made and nothing called, is what most of a large file goes through.
        """
        quiet_end, at_top = self._quiet_end, len(self._stack) == 1
        parent = self._stack[-1]
        in_mapping = type(parent) is MappingNode
        if in_mapping and self._keys[-1] is not None:
            return event
        key = last = None
        size = 0
        opened: list[tuple[Any, Any, int, bool]] = []  # collections in it, what was counted before, and where
        while True:
            kind = type(event)
            if kind is ScalarEvent:
                if event.end_mark.index > quiet_end:
                    break
                if in_mapping and key is None:
                    if at_top and not opened and event.value in _KEPT:
                        break
                    key = event
                else:
                    key = None
                    size += 1
                    last = event
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.end_mark.index >= quiet_end or event.flow_style or (in_mapping and key is None):
                    break
                opened.append((event, key, size, in_mapping))
                key, size, in_mapping = None, 0, kind is MappingStartEvent
            elif opened and (kind is MappingEndEvent or kind is SequenceEndEvent):
                _, _, size, in_mapping = opened.pop()
                size += 1
            else:
                break
            event = next_event()
        if last is not None:
            self._starting = []
            self._left_out = last
        sizes = [*(counted for _, _, counted, _ in opened), size]
        parent.size += sizes[0]
        for (start, name, _, _), counted in zip(opened, sizes[1:], strict=True):
            self._open_late(start, name, counted)
        if key is not None:
            self._scalar(key)
        return event

    def _open_late(self, event: Any, key: Any, size: int) -> None:
        """Make a node after all of a collection that was begun, as it holds something that matters."""
        if key is not None:
            self._place(self._node(key), key.start_mark.index)
            if self._left_out is None or self._left_out.end_mark.index <= key.start_mark.index:
                self._left_out = key
        self._open(self._collection(event))
        self._stack[-1].size = size
        if self._left_out is not None:  # what began before it does not begin at the next token
            end = self._left_out.end_mark.index
            self._starting = [child for child in self._starting if child.start >= end]

    def _add(self, event: Any) -> None:
        """Take the next event."""
        kind = type(event)
        if kind is ScalarEvent:
            self._scalar(event)
            return
        start, end = event.start_mark.index, event.end_mark.index
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            self._close(start, end)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            self._open(self._collection(event))
        elif kind is AliasEvent:
            node = Alias(self.source, start, end, event.anchor or "")
            self._token(start, end, node, self._place(node, start))
        elif kind is DocumentStartEvent:
            self.documents.append(Document(self.source, start))
            if event.explicit:
                self._token(start, end, None, None)
        elif kind is DocumentEndEvent and event.explicit:
            self._token(start, end, None, None)

    def _scalar(self, event: Any) -> None:
        node = self._node(event)
        self._token(node.start, node.end, node, self._place(node, node.start))

    def _node(self, event: Any) -> Scalar:
        start, end = event.start_mark.index, event.end_mark.index
        return Scalar(self.source, start, end, event.value, event.style or "plain", event.tag, event.anchor)

    def _collection(self, event: Any) -> Collection:
        kind = MappingNode if type(event) is MappingStartEvent else SequenceNode
        start, end = event.start_mark.index, event.end_mark.index
        return kind(self.source, start, end, bool(event.flow_style), event.tag, event.anchor)

    def _open(self, node: Collection) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise InputError(node.problem(f"nested deeper than {MAX_DEPTH} levels"))
        self._place(node, node.start)
        self._stack.append(node)
        self._keys.append(None)
        self._since.append(0)
        if node.flow:
            self._token(node.start, node.end, None, None)

    def _close(self, start: int, end: int) -> None:
        node = self._stack.pop()
        self._keys.pop()
        since = self._since.pop()
        if node.flow:
            node.end = end
            self._token(start, end, node, None)
            return
        node.end = (
            self._left_out.end_mark.index if self._left_out is not None else self._before.end if self._before else end
        )
        children = node.children
        if children and self._around:
            self._ended.append((node, children[-1], since))

    def _place(self, node: Node, start: int) -> Entry | None:
        """Put a node where it belongs; return its entry where it is the key of one."""
        if not self._stack:
            self.documents[-1].root = node
            return None
        parent = self._stack[-1]
        if type(parent) is SequenceNode:
            item = Item(node, start, parent.size)
            self._begin(parent, parent.items, item)
            return None
        assert isinstance(parent, MappingNode)
        if self._keys[-1] is None:
            self._keys[-1] = node
            entry = Entry(node, node, start, parent.size)  # its value follows with a later event
            self._begin(parent, parent.entries, entry)
            return entry
        parent.entries[-1].value = node
        self._keys[-1] = None
        return None

    def _begin(self, parent: Collection, children: list[Any], child: Child) -> None:
        """Add a child to an open collection."""
        if children and self._around:
            self._ended.append((parent, children[-1], self._since[-1]))
        self._since[-1] = self._wanted
        parent.size += 1
        children.append(child)
        self._starting.append(child)

    def _token(self, start: int, end: int, node: Node | None, entry: Entry | None) -> None:
        before, children = self._last(), self._starting
        owner = children[-1] if children else before.owner if before else None
        token = Token(start, end, node, entry, children, owner)
        if children:
            self._starting = []
        self._place_comments(before, token)
        self._before = token
        if self._around:
            self._around.pass_token(start)
            self._quiet_end = self._around.quiet_end

    def _last(self) -> Token | None:
        """Return the last token; one that was left out is made now, for comments to hang on that nobody asks for."""
        if self._left_out is not None:
            node, self._left_out = self._node(self._left_out), None
            self._before = Token(node.start, node.end, node, None, [], Item(node, node.start))
        return self._before

    def _place_comments(self, before: Token | None, after: Token | None) -> None:
        """Give the comments between two tokens to their nodes, and drop children that turn out to lead to none."""
        start, end = before.end if before else 0, after.start if after else len(self.source.text)
        if self.source.text.find("#", start, end) >= 0:
            self._wanted += place(self.source, before, after, self.documents, self._around)
        if self._ended:
            for collection, child, since in self._ended:
                if self._wanted == since:
                    self._drop(collection, child)
            self._ended.clear()

    def _drop(self, collection: Collection, child: Child) -> None:
        """Drop a child that leads to no comment that is asked for.

        What is in brackets stays, as one comment behind them binds all of it; so does what begins an item, as a comment
        above the item binds it; and what says of which kind an object is.
        """
        if collection.flow or child.index == 0 or (isinstance(child, Entry) and child.name in _KEPT):
            return
        children = collection.children
        position = len(children) - 1 if children[-1] is child else len(children) - 2
        del children[position]
