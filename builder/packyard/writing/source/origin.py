"""Where a place in a composed file comes from: the place that an author wrote.

    multi-node/user-mounted-nfs/mpi-job.yaml:61     packages/bert-k8s/patches/arguments.yaml:4

A composed file has the shape of the nodes that it was written from, and each of these knows its source. So nothing is
recorded while packages are built: `traced` composes a use case once more when somebody asks, and the way down to a
place in the file is followed in the nodes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from packyard.core.yaml.node import Child, Collection, Comment, Entry, Node, Scalar


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file that an author wrote, as messages show it."""

    file: str
    line: int
    column: int = 1


def position(text: str, line: int, column: int) -> int:
    """Return where in a text a column of a line is; without a column it is the end of the line."""
    lines = text.split("\n")
    here = lines[line - 1]
    least = len(here) - len(here.lstrip(" -"))
    start = sum(len(above) + 1 for above in lines[: line - 1])
    return start + (min(max(column - 1, least), len(here)) if column else len(here))


def follow(composed: Node, written: Node, position: int, above: Place | None = None) -> Place | None:
    """Return the origin of what stands at a position below a composed node, which was written from another.

    What no file has comes from where its parent does, in the end from ``above``.
    """
    above = place_of(written) or above
    if not isinstance(composed, Collection) or not isinstance(written, Collection):
        return above
    return follow_children(zip(composed.children, written.children, strict=False), position, above)


def follow_children(pairs: Iterable[tuple[Child, Child]], position: int, above: Place | None) -> Place | None:
    """Return the origin of what stands at a position, by the last of some children that begins before it."""
    begun = [pair for pair in pairs if begin(pair[0]) <= position]
    if not begun:
        return above
    child, written = begun[-1]
    value, key = place_of(written.value), key_place(written)
    if position < child.start:
        comments = zip(child.head, written.head, strict=False)
        *_, comment = (own for comment, own in comments if comment.start <= position)
        return _comment(comment, written) or key or above
    inner = child.value
    is_block = isinstance(inner, Collection) and not inner.flow
    if isinstance(inner, Collection) and inner.children and begin(inner.children[0]) <= position:
        return follow(inner, written.value, position, above)
    is_patched = bool(value and key and value.file != key.file)
    first = value if value and (is_patched or not is_block) else key or above
    is_beside = key and first and (key.file, key.line) == (first.file, first.line)
    if is_block or position < inner.start:
        return key if is_beside else first
    return _line_of(inner, written.value, position, first)


def begin(child: Child) -> int:
    """Return where a child begins, with the comments above it."""
    return child.head[0].start if child.head else child.start


def place_of(node: Node) -> Place | None:
    """Return where a node was written; None of one that no file has."""
    text = node.source.text
    if node.start == 0 and node.end == len(text) and isinstance(node, Scalar) and node.style == "|":
        return Place(node.source.name, 1)  # a file as a literal block
    if node.start == 0 and (node.end == len(text) or not text):
        return None
    return Place(node.source.name, *node.source.locate(node.start))


def key_place(child: Child) -> Place | None:
    """Return the place of an entry's key, or of an item."""
    if isinstance(child, Entry) and (place := place_of(child.key)):
        return place
    value = child.value
    return Place(value.source.name, *value.source.locate(child.start)) if place_of(value) else None


def _line_of(composed: Node, node: Node, position: int, place: Place | None) -> Place | None:
    """Return the origin of a line of a literal block, whose lines are those of its source."""
    if not place or not all(isinstance(scalar, Scalar) and scalar.style == "|" for scalar in (composed, node)):
        return place
    number = composed.source.text.count("\n", composed.start, position)
    header = 1 if node.start == 0 else 0  # a whole file has no line like that of the key
    return Place(place.file, place.line + number - header, place.column) if number else place


def _comment(comment: Comment, child: Child) -> Place | None:
    """Return the place of a comment in the source of its child, if it is there."""
    nodes = [child.value, *([child.key] if isinstance(child, Entry) else [])]
    for source in (node.source for node in nodes):
        if source.text.startswith(comment.text, comment.start):
            return Place(source.name, *source.locate(comment.start))
    return None
