"""Where the lines of a composed file come from: the place that an author wrote.

    multi-node/user-mounted-nfs/mpi-job.yaml:61     packages/bert-k8s/patches/arguments.yaml:4

A composed file has the shape of the nodes that it was written from, and each of these knows its source. So nothing is
recorded while packages are built: `traced` composes a use case once more when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from packyard.core.yaml.document import entries
from packyard.core.yaml.node import Child, Collection, Comment, Entry, Item, Node, Scalar, SequenceNode, Source


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file that an author wrote, as messages show it."""

    file: str
    line: int
    column: int = 1


@dataclass(slots=True)
class Origins:
    """The origins of a composed file, by line and column of what begins there."""

    _lines: dict[int, dict[int, Place]] = field(default_factory=dict)

    def add(self, source: Source, start: int, *places: Place | None) -> None:
        """Note the origin of what begins at a character of the composed file: the first place that there is."""
        if place := next(filter(None, places), None):
            line, column = source.locate(start)
            self._lines.setdefault(line, {}).setdefault(column, place)

    def add_line(self, line: int, place: Place) -> None:
        """Note the origin of a whole line."""
        self._lines.setdefault(line, {}).setdefault(1, place)

    def at(self, line: int, column: int = 0) -> Place | None:
        """Return the origin of a place, by default of the last thing that begins in a line.

        A line in which nothing begins belongs to what begins above it.
        """
        line = max((known for known in self._lines if known <= line), default=0)
        begun = sorted(self._lines.get(line, {}).items())
        index = bisect_right([known for known, _ in begun], column) if column else len(begun)
        return begun[max(index, 1) - 1][1] if begun else None


def follow(origins: Origins, composed: Node, node: Node, above: Place | None = None) -> None:
    """Note the origins of a composed node and all below it, which was written from ``node``.

    What no file has comes from where its parent does, in the end from ``above``.
    """
    above = place_of(node) or above
    if isinstance(composed, Collection) and isinstance(node, Collection):
        _children(origins, zip(composed.children, node.children, strict=False), above)


def follow_items(origins: Origins, composed: Node | None, items: Iterable[Item]) -> None:
    """Note the origins of a composed list, which was written from items of several files."""
    listed = composed.items if isinstance(composed, SequenceNode) else ()
    _children(origins, zip(listed, items, strict=False), None)


def follow_names(origins: Origins, composed: Node, node: Node, *above: Place | None) -> None:
    """Note the origins of a mapping whose entries may have other names, and another order, than those of ``node``.

    What it has more is ``above``.
    """
    for entry in entries(composed):
        origin = node.entry(entry.name)
        origins.add(composed.source, entry.start, _key(origin) if origin else None, *above)
        follow_names(origins, entry.value, origin.value if origin else node, *above)


def place_of(node: Node) -> Place | None:
    """Return where a node was written; None of one that no file has."""
    text = node.source.text
    if node.start == 0 and node.end == len(text) and isinstance(node, Scalar) and node.style == "|":
        return Place(node.source.name, 1)  # a file as a literal block
    if node.start == 0 and (node.end == len(text) or not text):
        return None
    return Place(node.source.name, *node.source.locate(node.start))


def _children(origins: Origins, pairs: Iterable[tuple[Child, Child]], above: Place | None) -> None:
    for child, twin in pairs:
        _child(origins, child, twin, above)
        follow(origins, child.value, twin.value, above)


def _child(origins: Origins, child: Child, twin: Child, above: Place | None) -> None:
    value, key, source = place_of(twin.value), _key(twin), child.value.source
    is_block = isinstance(child.value, Collection) and not child.value.flow
    is_patched = bool(value and key and value.file != key.file)
    first = value if value and (is_patched or not is_block) else key or above
    is_beside = key and first and (key.file, key.line) == (first.file, first.line)
    origins.add(source, child.start, key if is_beside else first)
    for comment, written in zip(child.head, twin.head, strict=False):
        origins.add(source, comment.start, _comment(written, twin) or key or above)
    if not is_block:
        origins.add(source, child.value.start, first)
        _block(origins, child.value, twin.value)


def _block(origins: Origins, composed: Node, node: Node) -> None:
    """Note the lines of a literal block, which are those of its source."""
    place = place_of(node)
    if not place or not all(isinstance(scalar, Scalar) and scalar.style == "|" for scalar in (composed, node)):
        return
    first = composed.source.locate(composed.start)[0]
    header = 1 if node.start == 0 else 0  # a whole file has no line like that of the key
    for number in range(1, composed.lexeme.count("\n") + 1):
        origins.add_line(first + number, Place(place.file, place.line + number - header, place.column))


def _key(child: Child) -> Place | None:
    """Return the place of an entry's key, or of an item."""
    if isinstance(child, Entry) and (place := place_of(child.key)):
        return place
    value = child.value
    return Place(value.source.name, *value.source.locate(child.start)) if place_of(value) else None


def _comment(comment: Comment, child: Child) -> Place | None:
    """Return the place of a comment in the source of its child, if it is there."""
    nodes = [child.value, *([child.key] if isinstance(child, Entry) else [])]
    for source in (node.source for node in nodes):
        if source.text.startswith(comment.text, comment.start):
            return Place(source.name, *source.locate(comment.start))
    return None
