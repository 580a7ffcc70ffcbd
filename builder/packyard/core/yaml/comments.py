"""Comments of a text: where they are, and which node each belongs to.

A comment belongs to what stands before it on its line, or to what follows it.
"""

import re
from collections.abc import Iterator, Sequence

from packyard.core.yaml.node import Child, Comment, Document, Entry, Node, Scalar, Source

_BREAKS = "\n\r\x85\u2028\u2029"
_BREAK = re.compile(f"[{_BREAKS}]")


#: What a comment can stand behind or above: a scalar, an alias, a bracket, a document marker. Start, end and node; the
#: entry whose key it is; the entries and items that begin here, outermost first; the innermost one that began here or
#: before. As there is one for each event, it is a tuple without a class.
Token = tuple[int, int, Node | None, Entry | None, Sequence[Child], Child | None]


def place(source: Source, before: Token | None, after: Token | None, documents: list[Document]) -> None:
    """Give the comments between two tokens to the nodes that they belong to."""
    start, end = before[1] if before else 0, after[0] if after else len(source.text)
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
        broken = _BREAK.search(text, start, limit)
        end = broken.start() if broken else limit
        line_start = source.line_start(start)
        own_line = not text[line_start:start].strip(" \t")
        yield Comment(text[start:end].rstrip(" \t"), start, start - line_start, own_line)
        position = end


def _belongs_before(text: str, before: Token, comment: Comment) -> bool:
    """Give a comment to the token that stands before it on its line, if one does."""
    _, end, node, entry, *_ = before
    if _BREAK.search(text, end, comment.start):
        return False
    between = text[end : comment.start]
    if entry is not None:
        if ":" in between:
            entry.comment = comment
        return ":" in between
    if node is None or node.comment is not None or (isinstance(node, Scalar) and node.style in "|>"):
        return False
    node.comment = comment
    return True


def _give_to_next(before: Token | None, after: Token | None, comment: Comment, documents: list[Document]) -> None:
    """Give a comment to what follows, or to what ended where it is indented deeper than what follows."""
    owner = before[5] if before else None
    _, _, node, entry, children, _ = after or (0, 0, None, None, (), None)
    if children:
        if comment.column <= children[0].column or owner is None:
            children[0].head = (*children[0].head, comment)
            return
    elif isinstance(node, Scalar) and entry is None and node.comment is None:
        node.comment = comment  # between a key and its value on the next line
        return
    if owner is not None:
        owner.foot = (*owner.foot, comment)
    elif documents:
        documents[0].head.append(comment)
