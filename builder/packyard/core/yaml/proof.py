"""The one place where edits become the bytes of a file, which are proved first.

What is about to be written is parsed again and compared with what was there and what each edit means: the same
documents, in which just the planned values read otherwise; every other comment at the node where it was; anchors,
aliases and tags as they were. Who plans values also says which node has to show which, whatever the edits are: each is
looked for, whole, in what is about to be written. Anything else is refused by file and line, and nothing is written.
So a writer that is wrong about a place, or lacks an edit, cannot damage a file.

It costs a parse of the lines around the edits, before and after, not of the whole file: lines that are one part of a
block mapping or list, and are so before and after, leave the reader where they found it.
"""

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from packyard.core.errors import InputError
from packyard.core.yaml.compare import Comparison, Planned, PlannedNode, refused, shows, unread
from packyard.core.yaml.document import parse_text, source_of
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Child, Collection, Document, Node, Scalar, Source
from packyard.core.yaml.span import aliased, begins_its_line, children_below, has_alias

_LINE = re.compile(r"\n *[^ \t\r\n#]")  # one with more than a comment, to its first character


def rewrite(data: bytes, name: str, change: Callable[[Document], Iterable[Edit]]) -> bytes:
    """Return a file with the edits that ``change`` makes of each of its documents; ``name`` is what errors call it."""
    source = source_of(data, name)
    documents = parse_text(source)
    edits = [edit for document in documents for edit in change(document)]
    return apply_to_file(data, source, edits, documents) or data


def apply_to_file(
    data: bytes, source: Source, edits: Iterable[Edit], documents: Sequence[Document] = (), planned: Planned = ()
) -> bytes | None:
    """Return a file's bytes with edits made in its text, behind the same mark; None where it stays as it is.

    Raises `InputError` where they would do more or less than they mean, or a node would not show what is ``planned`` of
    it, which its edits may not be asked for. With the ``documents`` of the file only the lines around the edits are
    parsed again.
    """
    new = apply_to_text(source, edits, documents, planned)
    if new == source.text:
        return None
    return (BOM_UTF8 if data.startswith(BOM_UTF8) else b"") + new.encode()


def apply_to_text(
    source: Source, edits: Iterable[Edit], documents: Sequence[Document] = (), planned: Planned = ()
) -> str:
    """Return a text with edits made, proved as `apply_to_file` does it."""
    whole = [Edit(node.start, node.start, "", node) for node, plan in planned if isinstance(plan, Mapping)]  # its lines
    ordered = sorted([*whole, *edits], key=lambda edit: (edit.start, edit.end))
    new = _apply(source, ordered)
    shows_aliases = any(has_alias(node) for node, _ in planned)
    stretches: list[_Stretch] = []
    if new != source.text or shows_aliases:
        stretches = _stretches(source, ordered, () if shows_aliases else documents)
    elsewhere: list[PlannedNode] = []
    within: list[list[PlannedNode]] = [[] for _ in stretches]
    for item in planned:
        place = bisect_right(stretches, item[0].start, key=lambda stretch: stretch.start) - 1
        (within[place] if place >= 0 and stretches[place].holds(item[0]) else elsewhere).append(item)
    for stretch, plans in zip(stretches, within, strict=True):
        _prove(source, stretch, plans)
    if new != source.text:
        _check_aliases(source, new, ordered)
    for node, plan in elsewhere:
        if not shows(node, plan):
            raise unread(source, node.start)
    return new


def _apply(source: Source, edits: Sequence[Edit], start: int = 0, end: int | None = None) -> str:
    """Return a text, or the part from ``start`` to ``end``, with all edits made; positions are those of the text.

    Insertions at one position keep the order in which they were given. Edits that overlap, as of a list and of an item
    in it, are refused.
    """
    text = source.text
    pieces: list[str] = []
    position = start
    for edit in edits:
        if edit.start < position:
            raise refused(source, edit.start, "more than one value would be written here")
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
    pieces.append(text[position:end])
    return "".join(pieces)


class _Stretch(NamedTuple):
    """Lines with the edits in them, and what they hold when they are read alone."""

    start: int
    end: int
    edits: list[Edit]
    documents: list[Document]

    def holds(self, node: Node) -> bool:
        """Say whether a node of the text begins in these lines."""
        return self.start <= node.start and (node.start < self.end or self.end == len(node.source.text))


def _prove(source: Source, stretch: _Stretch, planned: Planned) -> None:
    start, end, edits, before = stretch
    new = _apply(source, edits, start, end)
    if end < len(source.text) and new[-1:] not in ("\r", "\n"):
        raise refused(source, edits[0].start, "the line below would run into it")
    try:
        after = parse_text(Source(source.name, new), is_part=True)
    except InputError as error:
        reason = error.problems[0].message
        raise refused(source, edits[0].start, f"the file could not be read afterwards: {reason}") from error
    Comparison(source, start, edits, planned).compare(before, after)
    roots = [documents[0].root for documents in (before, after) if documents]
    if end - start < len(source.text) and len({root.start for root in roots if root}) > 1:
        raise refused(source, edits[0].start, "its lines would move")


def _stretches(source: Source, edits: list[Edit], documents: Sequence[Document]) -> list[_Stretch]:
    """Return the lines to prove: all of the text where it cannot be less."""
    spans: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        lines = _lines_around(source, edit, documents)
        if lines is None:
            break
        (start, end), inside = lines, [edit]
        while spans and start < spans[-1][1]:
            first, last, before = spans.pop()
            start, end, inside = min(first, start), max(last, end), before + inside
        spans.append((start, end, inside))
    else:
        stretches = [_Stretch(*span, _alone(source, *span[:2])) for span in spans]
        if all(stretch.documents for stretch in stretches):
            return stretches
    return [_Stretch(0, len(source.text), edits, parse_text(Source(source.name, source.text), is_part=True))]


def _alone(source: Source, start: int, end: int) -> list[Document]:
    """Parse lines alone; nothing where they are more than children of one block collection."""
    try:
        documents = parse_text(Source(source.name, source.text[start:end]), is_part=True)
    except InputError:
        return []
    root = documents[0].root if len(documents) == 1 else None
    is_sound = isinstance(root, Collection) and not root.flow and root.anchor is None and root.tag is None
    return documents if is_sound else []


def _lines_around(source: Source, edit: Edit, documents: Sequence[Document]) -> tuple[int, int] | None:
    """Return the lines of the innermost child around what an edit changes that has lines of its own."""
    target = edit.node
    if target is None or isinstance(target, Child):
        return None
    chosen: Child | None = None
    root = next((item.root for item in reversed(documents) if item.root and item.root.start <= target.start), None)
    node: Node | None = root
    while isinstance(node, Collection) and not node.flow and node is not target:
        children = node.children
        place = bisect_right(children, target.start, key=lambda child: child.start)
        inside = children[place - 1] if place else None
        if inside is None or inside.value.end < target.end:
            break
        if begins_its_line(inside):
            chosen = inside
        node = inside.value
    if chosen is None:
        return None
    start = source.line_start(chosen.start)
    if edit.start < start:
        return None
    # The next line that is no deeper than the child, but for blank ones and comments, is not the child's any more.
    below = _LINE.finditer(source.text, max(edit.end - 1, chosen.value.end - 1))
    end = next((line.start() + 1 for line in below if line.end() - line.start() - 2 <= chosen.column), None)
    return start, len(source.text) if end is None else end


# Aliases of what is removed.


def _check_aliases(source: Source, new: str, edits: list[Edit]) -> None:
    """Refuse to remove an anchor that an alias uses."""
    going = [child for edit in edits for child in edit.gone]
    for edit in edits:
        going += edit.node.children if edit.reads is not None and isinstance(edit.node, Collection) else []
    values = [inner.value for child in going for inner in (child, *children_below(child.value))]
    anchors = {node.anchor for node in values if isinstance(node, Scalar | Collection) and node.anchor}
    if anchors and anchors & aliased(parse_text(Source(source.name, new), is_part=True)):
        names = ", ".join(f"&{name}" for name in sorted(anchors))
        raise refused(source, edits[0].start, f"an alias refers to what is removed ({names})")
