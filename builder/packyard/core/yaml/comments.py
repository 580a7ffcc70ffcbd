"""Comments of a text: where they are, which node each belongs to, and which part of a text matters to some of them.

A comment belongs to what stands before it on its line, or to what follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packyard.core.yaml.node import Child, Comment, Document, Entry, Node, Scalar, Source

_BREAKS = "\n\r\x85\u2028\u2029"
#: So many tokens behind a comment may say what it binds: an item, its first key and that key's value, with their own
#: comments, are three; the rest is margin.
_TOKENS_BEHIND = 6


class Token:
    """What a comment can stand behind or above: a scalar, an alias, a bracket, a document marker."""

    __slots__ = ("children", "end", "entry", "node", "owner", "start")

    def __init__(
        self, start: int, end: int, node: Node | None, entry: Entry | None, children: list[Child], owner: Child | None
    ) -> None:
        self.start = start
        self.end = end
        self.node = node
        self.entry = entry  # the entry whose key this is
        self.children = children  # the entries and items that begin here, outermost first
        self.owner = owner  # the innermost child that began here or before


class Around:
    """Tells, as the tokens of a text come by, up to where they have nothing to do with a comment asked for.

    A comment is asked for that holds one of ``marks``. It belongs to the last token before it or to the first ones
    behind it; so every token that ends before the last line with content above the comment is without meaning to it.
    Taking more text for a comment than is one, for example a ``#`` in quoted text, only leaves out less.
    """

    def __init__(self, text: str, marks: Sequence[str]) -> None:
        self._text = text
        self._marks = marks
        self._behind = 0  # tokens still to come that the last comment may bind
        self._next = self._find(0)
        #: Tokens that end here or before may be left out.
        self.quiet_end = self._content_above(self._next)

    def wants(self, comment: str) -> bool:
        """Say whether a comment is asked for."""
        return any(mark in comment for mark in self._marks)

    def pass_token(self, start: int) -> None:
        """Take notice of a token that was not left out."""
        if start > self._next:
            self._next = self._find(start)
            self._behind = _TOKENS_BEHIND
            self.quiet_end = -1
        elif self._behind:
            self._behind -= 1
            if not self._behind:
                self.quiet_end = self._content_above(self._next)

    def _find(self, position: int) -> int:
        text = self._text
        while (start := text.find("#", position)) >= 0:
            end = text.find("\n", start)
            position = end if end >= 0 else len(text)
            if self.wants(text[start:position]):
                return start
        return len(text)

    def _content_above(self, position: int) -> int:
        """Return the start of the last line above that of ``position`` which holds more than a comment."""
        text = self._text
        start = text.rfind("\n", 0, position) + 1
        while start:
            end, start = start, text.rfind("\n", 0, start - 1) + 1
            content = text[start:end].strip()
            if content and not content.startswith("#"):
                break
        return start


def place(
    source: Source, before: Token | None, after: Token | None, documents: list[Document], around: Around | None = None
) -> int:
    """Give the comments between two tokens to the nodes that they belong to; return how many are asked for."""
    count = 0
    for comment in _find(source, before.end if before else 0, after.start if after else len(source.text)):
        if comment.own_line or not before or not _belongs_before(source.text, before, comment):
            _give_to_next(before, after, comment, documents)
        count += around is not None and around.wants(comment.text)
    return count


def _find(source: Source, position: int, limit: int) -> Iterator[Comment]:
    """Yield the comments of a stretch of text between two tokens."""
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


def _belongs_before(text: str, before: Token, comment: Comment) -> bool:
    """Give a comment to the token that stands before it on its line, if one does."""
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


def _give_to_next(before: Token | None, after: Token | None, comment: Comment, documents: list[Document]) -> None:
    """Give a comment to what follows, or to what ended where it is indented deeper than what follows."""
    child = after.children[0] if after and after.children else None
    if child is not None:
        if comment.column <= child.column or before is None or before.owner is None:
            child.head.append(comment)
            return
    elif after and isinstance(after.node, Scalar) and after.entry is None and after.node.comment is None:
        after.node.comment = comment  # between a key and its value on the next line
        return
    if before is not None and before.owner is not None:
        before.owner.foot.append(comment)
    elif documents:
        documents[0].head.append(comment)
