"""libyaml's events to nodes, without recursion; every comment is hung on the node that it belongs to as it comes by."""

from __future__ import annotations

import yaml

from packyard.errors import InputError, Problem
from packyard.text.node import (
    Alias,
    Collection,
    Comment,
    Document,
    Entry,
    Item,
    Mapping,
    Node,
    Part,
    Scalar,
    Sequence,
    Source,
)

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as SequenceOf
    from typing import Any

#: Deeper nesting is refused: libyaml needs time quadratic in the depth, and no manifest comes near.
MAX_DEPTH = 200

_BREAKS = "\n\r\x85\u2028\u2029"


class _Token:
    """What a comment can stand behind or above: a scalar, an alias, a bracket, a document marker."""

    __slots__ = ("end", "entry", "node", "owner", "parts", "start")

    def __init__(self, start: int, end: int, node: Node | None, entry: Entry | None, parts: list[Part]) -> None:
        self.start = start
        self.end = end
        self.node = node
        self.entry = entry  # the entry whose key this is
        self.parts = parts  # the entries and items that begin here, outermost first
        self.owner: Part | None = parts[-1] if parts else None


class Builder:
    """Takes a text's events one by one; `finish` returns its documents.

    With ``around`` only what leads to a comment that holds one of these texts is kept: a part is dropped when what
    follows it has come, and with it all comments that could have made it worth keeping.
    """

    def __init__(self, source: Source, around: SequenceOf[str] = ()) -> None:
        self.source = source
        self.documents: list[Document] = []
        self._around = around
        self._before: _Token | None = None
        self._ended: list[tuple[Collection, Part]] = []  # parts that may be dropped once the next token has come
        self._stack: list[Collection] = []
        self._keys: list[Node | None] = []  # per open mapping: the key that waits for its value
        self._starting: list[Part] = []  # entries and items that begin at the next token
        self._owner: Part | None = None

    def finish(self) -> list[Document]:
        """Place what stands behind the last token, and return the documents."""
        self._place_comments(None)
        return self.documents

    def add(self, event: Any) -> None:
        """Take the next event."""
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            tag = event.tag if event.tag is not None else None
            node: Node = Scalar(self.source, start, end, event.value, event.style or "plain", tag, event.anchor)
            self._leaf(node, start, end)
        elif isinstance(event, yaml.AliasEvent):
            self._leaf(Alias(self.source, start, end, event.anchor or ""), start, end)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event, start, end)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close(start, end)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents.append(Document(self.source, start))
            if event.explicit:
                self._token(start, end, None, None)
        elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            self._token(start, end, None, None)

    def _leaf(self, node: Node, start: int, end: int) -> None:
        entry = self._place(node, start)
        self._token(start, end, node, entry)

    def _open(self, event: Any, start: int, end: int) -> None:
        if len(self._stack) >= MAX_DEPTH:
            line, column = self.source.locate(start)
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise InputError(Problem(message, file=self.source.name, line=line, column=column))
        kind = Mapping if isinstance(event, yaml.MappingStartEvent) else Sequence
        node = kind(self.source, start, end, bool(event.flow_style), event.tag, event.anchor)
        self._place(node, start)
        self._stack.append(node)
        self._keys.append(None)
        if node.flow:
            self._token(start, end, None, None)

    def _close(self, start: int, end: int) -> None:
        node = self._stack.pop()
        self._keys.pop()
        if node.flow:
            node.end = end
            self._token(start, end, node, None)
            return
        parts = _parts(node)
        if parts:
            node.end = parts[-1].value.end
            self._ended.append((node, parts[-1]))

    def _place(self, node: Node, start: int) -> Entry | None:
        """Put a node where it belongs; return its entry where it is the key of one."""
        if not self._stack:
            self.documents[-1].root = node
            return None
        parent = self._stack[-1]
        if isinstance(parent, Sequence):
            self._end_last(parent)
            item = Item(node, start, parent.size)
            parent.size += 1
            parent.items.append(item)
            self._starting.append(item)
            return None
        assert isinstance(parent, Mapping)
        if self._keys[-1] is None:
            self._end_last(parent)
            self._keys[-1] = node
            entry = Entry(node, node, start, parent.size)  # its value follows with a later event
            parent.size += 1
            parent.entries.append(entry)
            self._starting.append(entry)
            return entry
        parent.entries[-1].value = node
        self._keys[-1] = None
        return None

    def _token(self, start: int, end: int, node: Node | None, entry: Entry | None) -> None:
        token = _Token(start, end, node, entry, self._starting)
        token.owner = self._owner = token.owner or self._owner
        self._starting = []
        self._place_comments(token)
        self._before = token

    def _place_comments(self, after: _Token | None) -> None:
        """Find the comments before a token, and hang each on the node that it belongs to."""
        before, source = self._before, self.source
        start, end = before.end if before else 0, after.start if after else len(source.text)
        if source.text.find("#", start, end) >= 0:
            for comment in _comments(source, start, end):
                if comment.own_line or not before or not _hang_behind(source.text, before, comment):
                    _hang_above(source, before, after, comment, self.documents)
        for collection, part in self._ended:
            self._drop(collection, part)
        self._ended.clear()

    def _end_last(self, parent: Collection) -> None:
        parts = _parts(parent)
        if parts:
            self._ended.append((parent, parts[-1]))

    def _drop(self, collection: Collection, part: Part) -> None:
        """Drop a part that leads to no comment that is asked for.

        What is in brackets stays, as one comment behind them binds all of it; so does what begins an item, as a comment
        above the item binds it; and what says of which kind an object is.
        """
        if not self._around or collection.flow or part.index == 0 or self._is_wanted(part):
            return
        if isinstance(part, Entry) and part.name in ("apiVersion", "kind"):
            return
        parts = _parts(collection)
        position = len(parts) - 1 if parts[-1] is part else len(parts) - 2
        del parts[position]

    def _is_wanted(self, part: Part) -> bool:
        comments = [*part.head, *part.foot, part.comment, part.value.comment]
        if any(mark in comment.text for comment in comments if comment for mark in self._around):
            return True
        value = part.value
        return isinstance(value, Collection) and any(self._is_wanted(inner) for inner in _parts(value))


def _parts(node: Collection) -> list[Any]:
    return node.entries if isinstance(node, Mapping) else node.items  # type: ignore[attr-defined]


def _comments(source: Source, position: int, limit: int) -> Iterator[Comment]:
    text = source.text
    while (start := text.find("#", position, limit)) >= 0:
        if start and text[start - 1] not in " \t\ufeff" + _BREAKS:  # part of a tag, an anchor or a directive
            position = start + 1
            continue
        end = start
        while end < limit and text[end] not in _BREAKS:
            end += 1
        line_start = source.line_start(start)
        own_line = not text[line_start:start].strip(" \t")
        yield Comment(text[start:end].rstrip(" \t"), start, start - line_start, own_line)
        position = end


def _hang_behind(text: str, before: _Token, comment: Comment) -> bool:
    """Hang a comment on the token that stands before it on its line, if one does."""
    between = text[before.end : comment.start]
    if any(character in _BREAKS for character in between):
        return False
    if before.entry is not None:
        if ":" in between:
            before.entry.comment = comment
        return ":" in between
    if before.node is None or before.node.comment is not None:
        return False
    if isinstance(before.node, Scalar) and before.node.style in "|>":
        return False
    before.node.comment = comment
    return True


def _hang_above(
    source: Source, before: _Token | None, after: _Token | None, comment: Comment, documents: list[Document]
) -> None:
    """Hang a comment on what follows, or on what ended where it is indented deeper than what follows."""
    part = after.parts[0] if after and after.parts else None
    if part is not None:
        column = part.start - source.line_start(part.start)
        if isinstance(part, Item):
            column = _dash_column(source, part)
        if comment.column <= column or before is None or before.owner is None:
            part.head.append(comment)
            return
    elif after and isinstance(after.node, Scalar) and after.entry is None and after.node.comment is None:
        after.node.comment = comment  # between a key and its value on the next line
        return
    if before is not None and before.owner is not None:
        before.owner.foot.append(comment)
    elif documents:
        documents[0].head.append(comment)


def _dash_column(source: Source, item: Item) -> int:
    line_start = source.line_start(item.start)
    dash = source.text.rfind("-", line_start, item.start)
    return (dash if dash >= 0 else item.start) - line_start
