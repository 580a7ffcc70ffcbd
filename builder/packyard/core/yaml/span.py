"""Where a node's text ends, and what a child's lines are.

args:            <- a child's lines begin with the comments directly above it
# about a
- a # first      <- and end with what stands behind its last line,
  # more         <- or with comments that are indented deeper than the child
# about b
- b
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from packyard.core.errors import InputError
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Alias, Child, Collection, Comment, Document, Item, Node, Scalar, Source

OneNode = TypeVar("OneNode", bound=Node)

_BREAKS = "\r\n"
_HEADER = re.compile(r"(?:[&!][^ \t\r\n]*[ \t\r\n]+)*[|>][-+0-9]*(?:[ \t]+(#[^\r\n]*))?")


def line_break(source: Source) -> str:
    """Return the line break that the file uses, by its first line."""
    end = source.text.find("\n")
    return "\r\n" if end > 0 and source.text[end - 1] == "\r" else "\n"


def line_end(source: Source, position: int) -> int:
    """Return the end of the line that holds a position, before its line break."""
    end = source.text.find("\n", position)
    if end < 0:
        return len(source.text)
    return end - 1 if end > position and source.text[end - 1] == "\r" else end


def next_line(source: Source, position: int) -> int:
    """Return the start of the line below that of a position; the end of the text where there is none."""
    end = source.text.find("\n", position)
    return len(source.text) if end < 0 else end + 1


def end_of_lines(node: Node) -> int:
    """Return where a node's last line ends, a comment behind it included, its line break not.

    A block scalar ends behind its last line break, and the blank lines behind its text belong to it.
    """
    text = node.source.text
    end = node.end
    while end > node.start and text[end - 1] in _BREAKS:
        end -= 1
    return line_end(node.source, end)


def attached(child: Child) -> list[Comment]:
    """Return the comments that stand directly above a child, with no blank line between."""
    source = child.value.source
    below = source.line_start(child.start)
    comments: list[Comment] = []
    for comment in reversed(child.head):
        between = source.text[comment.end : below].strip(" \t") if comment.own_line else "\n"
        if between not in ("\n", "\r\n", "\r"):
            break
        comments.insert(0, comment)
        below = source.line_start(comment.start)
    return comments


def lines(child: Child) -> tuple[int, int]:
    """Return where a child's own lines begin and end, its comments included, the last line break not.

    Refuses a child that shares its first line with something else.
    """
    source = child.value.source
    heads = attached(child)
    start = source.line_start(heads[0].start if heads and heads[0].own_line else child.start)
    if not begins_its_line(child):
        raise InputError(child.value.problem("this cannot be removed where it stands", "give it lines of its own"))
    return start, _with_deeper_comments(source, end_of_lines(child.value), child.column)


def begins_its_line(child: Child) -> bool:
    """Say whether nothing stands before a child on its first line, but for its own dash."""
    source = child.value.source
    own = source.text[source.line_start(child.start) : child.start].strip(" \t")
    return own == ("-" if isinstance(child, Item) else "")


def _with_deeper_comments(source: Source, end: int, outer: int) -> int:
    """Go on over comment lines that are indented deeper than a column, with the blank lines before them."""
    text = source.text
    at = next_line(source, end)
    while at < len(text):
        stop = line_end(source, at)
        line = text[at:stop]
        content = line.lstrip(" \t")
        if content and not (content[0] == "#" and len(line) - len(content) > outer):
            break
        if content:
            end = stop
        at = next_line(source, stop)
    return end


def header_comment(block: Scalar) -> Comment | None:
    """Return the comment behind the header of a block scalar, which its span holds."""
    match = _HEADER.match(block.source.text, block.start, block.end)
    if match is None or match[1] is None:
        return None
    start = match.start(1)
    return Comment(match[1].rstrip(" \t"), start, start - block.source.line_start(start), False)


def header_end(block: Scalar) -> int:
    """Return the end of a block scalar's header, before the comment behind it."""
    match = _HEADER.match(block.source.text, block.start, block.end)
    assert match is not None
    return block.start + len(match[0].removesuffix(match[1] or "").rstrip())


def children_below(node: Node) -> list[Child]:
    """Return every entry and item below a node."""
    return [child for inner in walk(node) if isinstance(inner, Collection) for child in inner.children]


def has_alias(node: Node) -> bool:
    """Say whether an alias stands below a node."""
    return any(isinstance(inner, Alias) for inner in walk(node))


def expanded(node: OneNode) -> OneNode:
    """Return a list or a mapping of a whole text with what its aliases stand for."""
    if not has_alias(node):
        return node
    from packyard.core.yaml.aliases import followed  # few have any

    documents = followed(Source(node.source.name, node.source.text))
    nodes = (candidate for document in documents for candidate in walk(document.root))
    return next(candidate for candidate in nodes if isinstance(candidate, type(node)) and candidate.start == node.start)


def aliased(documents: Iterable[Document]) -> set[str]:
    """Return the anchors that aliases refer to."""
    nodes = (node for document in documents for node in walk(document.root))
    return {node.anchor for node in nodes if isinstance(node, Alias)}


def embedded(node: Scalar) -> Source:
    """Return a scalar's text as a source, that of a literal block in the lines and columns that it has in its file."""
    name, line = node.source.name, node.source.locate(node.start)[0]
    if node.style != "|":
        return Source(name, "\n" * (line - 1) + node.value)
    end = node.value[len(node.value.rstrip()) :]  # what |- strips, a block inside lacks too
    return Source(name, "\n" * line + node.lexeme.partition("\n")[2].rstrip() + end)
