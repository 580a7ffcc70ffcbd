"""What edits mean, and what was planned, compared with what they did: the documents before beside those after.

Four things may differ: a node that an edit exchanges, children that come into a collection or go from it, comments
that are replaced, and new comments. All else has to be the same: every other comment belongs to the node or child that
it belonged to, or to none as before. And each node that a plan names has to show what is planned of it, whatever the
edits mean.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.edit import Edit, Reading
from packyard.core.yaml.node import (
    Child,
    Collection,
    Comment,
    Document,
    Entry,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    Source,
)
from packyard.core.yaml.span import attached, children_below, expanded, header_comment
from packyard.core.yaml.values import meaning

#: A node with what it has to show, or, of a mapping, some entries, None for one that has to be missing.
PlannedNode = tuple[Node, "Reading | Mapping[str, Reading | None]"]
Planned = Sequence[PlannedNode]
_Key = tuple[type, int]
_ABOVE, _BEHIND = "above", "behind"


def refused(source: Source, position: int, reason: str) -> InputError:
    """Describe an edit that would do more or less than it means, by its place."""
    message = f"this cannot be changed exactly: {reason}"
    hint = "nothing was written; change it by hand, or write it more simply"
    return InputError(source.problem(min(position, len(source.text)), message, hint))


def unread(source: Source, position: int) -> InputError:
    """Describe a value that is set and would not be there."""
    return refused(source, position, "it would not be read as the value that is set")


class Comparison:
    """Compares the documents before and after with what the edits mean, and what is planned of the nodes before.

    Positions are those of the stretch. Nodes and children that stay are paired, before and after; a comment of one of
    them has to be that of the other.
    """

    def __init__(self, source: Source, offset: int, edits: list[Edit], planned: Planned) -> None:
        self.source = source
        self.offset = offset
        self.edits = edits
        self.planned: dict[_Key, list[object]] = {}
        self.within: dict[_Key, list[Edit]] = {}  # what comes into collections, and goes from them
        self.before = [(edit.start - offset, edit.end - offset) for edit in edits]
        self.after: list[tuple[int, int]] = []
        self.pairs: dict[_Key, _Key] = {}  # what stays, before and after
        exchanged = [(edit.node, edit.reads) for edit in edits if edit.node is not None and edit.reads is not None]
        self.exchanged = {_key(node, offset) for node, _ in exchanged}
        for node, plan in (*planned, *exchanged):
            self.planned.setdefault(_key(node, offset), []).append(plan)
        shift = 0
        for edit, (start, end) in zip(edits, self.before, strict=True):
            self.after.append((start + shift, start + shift + len(edit.replacement)))
            shift += len(edit.replacement) - (end - start)
            if edit.node is not None and edit.reads is None:
                self.within.setdefault(_key(edit.node, offset), []).append(edit)

    def compare(self, before: list[Document], after: list[Document]) -> None:
        """Refuse what differs without being meant to."""
        if len(before) != len(after):
            raise self._differs(0, f"the file would have {len(after)} documents, not {len(before)}")
        for old, new in zip(before, after, strict=True):
            if (old.root is None) != (new.root is None):
                raise self._differs(old.start, "a document would be added or removed")
            if old.root is not None and new.root is not None:
                self.pairs[_key(old.root)] = _key(new.root)
                self._value(old.root, new.root)
        for _, position in self.planned:  # those that were met are gone
            raise unread(self.source, position + self.offset)
        self._comments(before, after)

    def _differs(self, position: int, reason: str) -> InputError:
        return refused(self.source, position + self.offset, reason)

    def _value(self, old: Node, new: Node) -> None:
        is_exchanged = _key(old) in self.exchanged
        if not all(shows(new, plan) for plan in self.planned.pop(_key(old), ())):
            raise unread(self.source, old.start + self.offset)
        if _properties(old) != _properties(new):
            raise self._differs(old.start, "an anchor, an alias or a tag would change")
        if not is_exchanged and _form(old) != _form(new):
            raise self._differs(old.start, "a value that nobody sets would change")
        if not is_exchanged and isinstance(old, Collection) and isinstance(new, Collection):
            self._children(old, new)

    def _children(self, old: Collection, new: Collection) -> None:
        edits = self.within.get(_key(old), [])
        arrived: dict[int, list[Child]] = {id(edit): [] for edit in edits}
        staying: list[Child] = []
        for child in new.children:
            place = _place(self.after, child.start)  # of the edit in whose text it begins
            arrived.get(-1 if place is None else id(self.edits[place]), staying).append(child)
        for edit in edits:
            if not _are(arrived[id(edit)], edit.new):
                raise self._differs(old.start, "the addition would not be read as what was asked for")
        lost = {_key(child, self.offset) for edit in edits for child in edit.gone}
        remaining = [child for child in old.children if _key(child) not in lost]
        if len(remaining) != len(staying):
            raise self._differs(old.start, "an entry or an item would be added or removed that nobody asked for")
        for entry, twin in zip(remaining, staying, strict=True):
            self.pairs[_key(entry)] = _key(twin)
            if isinstance(entry, Entry) and isinstance(twin, Entry):
                self._value(entry.key, twin.key)
            self._value(entry.value, twin.value)

    def _comments(self, before: list[Document], after: list[Document]) -> None:
        """Refuse a comment that is lost, that belongs to something else, or that nobody wrote.

        Each is known by its text, with the node or child that it is at, or the edit that makes it.
        """
        replaced = {edit.comment.start - self.offset: edit.comments for edit in self.edits if edit.comment}
        making = {place: edit.comments for place, edit in enumerate(self.edits) if edit.comments and not edit.comment}
        expected: list[tuple[object, str]] = [(place, text) for place, texts in making.items() for text in texts]
        for comment, owner, side in _bindings(before):
            pair = self.pairs.get(owner) if owner else None
            if owner and not pair and _place(self.before, comment.start) is not None:
                continue  # it goes with what goes
            key = (pair, side) if pair and side else None
            expected += ((key, text) for text in replaced.get(comment.start, (comment.text,)))
        present: list[tuple[object, str]] = []
        for comment, owner, side in _bindings(after):
            place = _place(self.after, comment.start)
            present.append(((place if place in making else (owner, side)) if side else None, comment.text))
        if Counter(expected) != Counter(present):
            raise self._differs(self.before[0][0], "a comment would be lost, or belong to something else")


def _place(spans: Sequence[tuple[int, int]], position: int) -> int | None:
    """Return which of some spans holds a position."""
    place = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return place if place >= 0 and position < spans[place][1] else None


def _key(place: Node | Child, offset: int = 0) -> _Key:
    """Return what tells a node or a child from others that begin where it begins."""
    return type(place), place.start - offset


def _properties(node: Node) -> tuple[str | None, ...]:
    """Return the anchor and the tag of a node; an alias has none."""
    return (node.anchor, node.tag) if isinstance(node, Scalar | Collection) else (None, None)


def _form(node: Node) -> list[object]:
    """Return what a node is, as far as its kind has these."""
    return [type(node), *(getattr(node, name, None) for name in ("anchor", "value", "style", "flow"))]


def _bindings(documents: Iterable[Document]) -> list[tuple[Comment, _Key | None, str]]:
    """Return every comment, with the node or child that it is at; the side is empty where it says nothing of that."""
    bound: list[tuple[Comment, _Key | None, str]] = []
    for document in documents:
        bound += [(comment, None, "") for comment in (*document.head, *document.tail)]
        if document.root is None:
            continue
        bound += [(comment, _key(document.root), _BEHIND) for comment in _behind(document.root)]
        for child in children_below(document.root):
            near = attached(child)
            bound += [(comment, _key(child), _ABOVE if comment in near else "") for comment in child.head]
            bound += [(comment, _key(child), _BEHIND) for comment in _behind(child.value, child)]
            bound += [(comment, _key(child), "") for comment in child.foot]
    return sorted(bound, key=lambda pair: pair[0].start)


def _behind(node: Node, child: Child | None = None) -> list[Comment]:
    """Return the comments behind a key, behind a dash, and behind a value or the header of a block scalar."""
    key = child.key.comment if isinstance(child, Entry) and child.key is not node else None
    header = header_comment(node) if isinstance(node, Scalar) and node.style in "|>" else None
    return [comment for comment in (key, child.comment if child else None, header, node.comment) if comment]


def _are(children: Sequence[Child], planned: Sequence[object]) -> bool:
    """Say whether children read as planned, entries as pairs of a key and a value."""
    return len(children) == len(planned) and all(map(_is, children, planned))


def _is(child: Child, plan: object) -> bool:
    if isinstance(child, Entry):
        return isinstance(plan, tuple) and reads(child.key, plan[0]) and reads(child.value, plan[1])
    return reads(child.value, plan)


def reads(node: Node, plan: object) -> bool:
    """Say whether a node reads as planned: a text, a list, or a mapping, or what another node means."""
    if isinstance(plan, Node):
        return meaning(node) == meaning(plan)
    if isinstance(plan, str):
        return isinstance(node, Scalar) and node.value == plan
    if isinstance(node, MappingNode):
        pairs = list(plan.items()) if isinstance(plan, dict) else plan
        return isinstance(pairs, list) and _are(node.entries, pairs)
    return isinstance(node, SequenceNode) and isinstance(plan, list | tuple) and _are(node.items, plan)


def shows(node: Node, plan: object) -> bool:
    """Say whether a node shows what is planned of it; of an alias in it counts what that repeats."""
    if isinstance(node, Collection):
        node = expanded(node)
    if isinstance(plan, Mapping):
        values = {name: node.get(name) for name in plan}
        return all(plan[name] is None if value is None else reads(value, plan[name]) for name, value in values.items())
    return reads(node, plan)
