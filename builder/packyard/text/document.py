"""Bytes of a YAML file to documents of positioned nodes, every comment beside the node that it belongs to.

Positions come from the marks of libyaml's events, which are exact in characters once a byte order mark is cut off.
A span holds a scalar's tag and anchor; a block scalar's holds its header's comment and the blank lines behind it.
"""

from __future__ import annotations

import codecs

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
    from typing import Any

#: Deeper nesting is refused: libyaml needs time quadratic in the depth, and no manifest comes near.
MAX_DEPTH = 200

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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


def decode(data: bytes, name: str) -> tuple[str, str]:
    """Return the byte order mark (or an empty text) and the text of a file, which has to be UTF-8."""
    mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
    try:
        return mark, data.decode("utf-8")[len(mark) :]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(f"not UTF-8: byte {data[error.start]:#04x}", file=name, line=line)
        raise InputError(problem) from error


def parse(data: bytes, name: str) -> list[Document]:
    """Parse every document of a file; ``name`` is what errors call it."""
    return parse_text(Source(name, decode(data, name)[1]))


def parse_one(data: bytes, name: str) -> Document:
    """Parse a file that has to hold exactly one document, with no key twice."""
    documents = [document for document in parse(data, name) if document.root is not None]
    if len(documents) != 1:
        raise InputError(Problem(f"holds {len(documents)} YAML documents where one is expected", file=name))
    check_keys(documents[0])
    return documents[0]


def parse_text(source: Source) -> list[Document]:
    """Parse every document of a text and place its comments."""
    builder = _Builder(source)
    try:
        for event in yaml.parse(source.text, Loader=_Loader):
            builder.add(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        message = error.problem or error.context or "is not YAML"
        raise InputError(Problem(message, file=source.name, line=line, column=column)) from error
    except yaml.YAMLError as error:  # the reader's: a control character, say
        where = getattr(error, "position", None)
        line, column = source.locate(where) if isinstance(where, int) else (0, 0)
        reason = getattr(error, "reason", None) or str(error)
        raise InputError(Problem(str(reason), file=source.name, line=line, column=column)) from error
    if "#" in source.text:
        _place_comments(source, builder.tokens, builder.documents)
    return builder.documents


def check_keys(document: Document) -> None:
    """Refuse a document in which one mapping has a key twice, as kustomize does."""
    problems = []
    for node in walk(document.root):
        if not isinstance(node, Mapping):
            continue
        seen: set[str] = set()
        for entry in node.entries:
            if isinstance(entry.key, Scalar) and entry.name in seen:
                line, column = node.source.locate(entry.start)
                message = f"key {entry.name!r} occurs twice in one mapping"
                problems.append(Problem(message, file=node.source.name, line=line, column=column))
            seen.add(entry.name)
    if problems:
        raise InputError(*problems)


def walk(node: Node | None) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text; keys are not visited."""
    if node is None:
        return
    yield node
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from walk(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from walk(item.value)


class _Builder:
    """Events to nodes, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.tokens: list[_Token] = []
        self._stack: list[Collection] = []
        self._keys: list[Node | None] = []  # per open mapping: the key that waits for its value
        self._starting: list[Part] = []  # entries and items that begin at the next token
        self._owner: Part | None = None

    def add(self, event: Any) -> None:
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
        parts: list[Any] = node.entries if isinstance(node, Mapping) else node.items  # type: ignore[attr-defined]
        if parts:
            node.end = parts[-1].value.end

    def _place(self, node: Node, start: int) -> Entry | None:
        """Put a node where it belongs; return its entry where it is the key of one."""
        if not self._stack:
            self.documents[-1].root = node
            return None
        parent = self._stack[-1]
        if isinstance(parent, Sequence):
            item = Item(node, start)
            parent.items.append(item)
            self._starting.append(item)
            return None
        assert isinstance(parent, Mapping)
        if self._keys[-1] is None:
            self._keys[-1] = node
            entry = Entry(node, node, start)  # its value follows with a later event
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
        self.tokens.append(token)


def _place_comments(source: Source, tokens: list[_Token], documents: list[Document]) -> None:
    """Find the comments between the tokens and hang each on the node that it belongs to."""
    text = source.text
    before: _Token | None = None
    position = 0
    for after in [*tokens, None]:
        limit = after.start if after else len(text)
        for comment in _comments(source, position, limit):
            if before and not comment.own_line and _hang_behind(text, before, comment):
                continue
            _hang_above(source, before, after, comment, documents)
        before = after
        position = after.end if after else limit


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
