"""Comments of a text: where they are, and which node each belongs to.

A comment belongs to what stands before it on its line, or to what follows it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from packyard.core.yaml.node import Child, Comment, Document, Entry, Node, Scalar, Source

_BREAKS = "\n\r\x85\u2028\u2029"


class Token(NamedTuple):
    """What a comment can stand behind or above: a scalar, an alias, a bracket, a document marker.

    ``entry`` is that whose key this is, ``children`` are the entries and items that begin here, outermost first, and
    ``owner`` is the innermost one that began here or before.
    """

    start: int
    end: int
    node: Node | None
    entry: Entry | None
    children: list[Child]
    owner: Child | None


def place(source: Source, before: Token | None, after: Token | None, documents: list[Document]) -> None:
    """Give the comments between two tokens to the nodes that they belong to."""
    start, end = before.end if before else 0, after.start if after else len(source.text)
    if source.text.find("#", start, end) < 0:  # as between most
        return
    for comment in _find(source, start, end):
        if comment.own_line or not before or not _belongs_before(source.text, before, comment):
            _give_to_next(before, after, comment, documents)


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
            child.head = (*child.head, comment)
            return
    elif after and isinstance(after.node, Scalar) and after.entry is None and after.node.comment is None:
        after.node.comment = comment  # between a key and its value on the next line
        return
    if before is not None and before.owner is not None:
        before.owner.foot = (*before.owner.foot, comment)
    elif documents:
        documents[0].head.append(comment)
