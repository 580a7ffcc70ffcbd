"""What edits mean, and what was planned, compared with what they did: the documents before beside those after.

Four things may differ: a node that an edit exchanges, children that come into a collection or go from it, comments
that are replaced, and new comments. All else has to be the same: every other comment belongs to the node or child that
it belonged to, or to none as before. And each node that a plan names has to show what is planned of it, whatever the
edits mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.edit import Edit, Reading
from packyard.core.yaml.node import (
    Alias,
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

#: A node with what it has to show: a text or a list, what a node of another text means, or, of a mapping, some
#: entries, None for one that has to be missing.
PlannedNode = tuple[Node, "Reading | Node | Mapping[str, Reading | None]"]
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
        for node, plan in planned:
            self.planned.setdefault(_key(node, offset), []).append(plan)
        self.exchanged: dict[_Key, Edit] = {}
        self.within: dict[_Key, list[Edit]] = {}  # what comes into collections, and goes from them
        self.gone: set[_Key] = set()
        self.before = [(edit.start - offset, edit.end - offset) for edit in edits]
        self.after: list[tuple[int, int]] = []
        self.pairs: dict[_Key, _Key] = {}  # what stays, before and after
        shift = 0
        for edit, (start, end) in zip(edits, self.before, strict=True):
            self.after.append((start + shift, start + shift + len(edit.replacement)))
            shift += len(edit.replacement) - (end - start)
            children = [child for child in edit.gone if isinstance(child, Child)]
            if edit.node is not None and edit.reads is not None:
                self.exchanged[_key(edit.node, offset)] = edit
            elif edit.node is not None and (edit.new or children):
                self.within.setdefault(_key(edit.node, offset), []).append(edit)
                self.gone.update(_key(child, offset) for child in children)

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
        if not all(shows(new, plan) for plan in self.planned.pop(_key(old), ())):
            raise unread(self.source, old.start + self.offset)
        edit = self.exchanged.get(_key(old))
        if edit is not None and not (self._made(new) is edit and reads(new, edit.reads)):
            raise unread(self.source, old.start + self.offset)
        if _properties(old) != _properties(new):
            raise self._differs(old.start, "an anchor, an alias or a tag would change")
        if edit is None and _form(old) != _form(new):
            raise self._differs(old.start, "a value that nobody sets would change")
        if edit is None and isinstance(old, Collection) and isinstance(new, Collection):
            self._children(old, new)

    def _children(self, old: Collection, new: Collection) -> None:
        edits = self.within.get(_key(old), [])
        arrived: dict[int, list[Child]] = {id(edit): [] for edit in edits}
        staying: list[Child] = []
        for child in new.children:
            arrived.get(id(self._made(child)), staying).append(child)
        for edit in edits:
            if not _are(arrived[id(edit)], edit.new):
                raise self._differs(old.start, "the addition would not be read as what was asked for")
        remaining = [child for child in old.children if _key(child) not in self.gone]
        if len(remaining) != len(staying):
            raise self._differs(old.start, "an entry or an item would be added or removed that nobody asked for")
        for entry, twin in zip(remaining, staying, strict=True):
            self.pairs[_key(entry)] = _key(twin)
            if isinstance(entry, Entry) and isinstance(twin, Entry):
                self._value(entry.key, twin.key)
            self._value(entry.value, twin.value)

    def _made(self, new: Node | Child) -> Edit | None:
        """Return the edit in whose text a node or a child begins, and which holds all of it."""
        place = _place(self.after, new.start)
        whole = place is not None and (isinstance(new, Child) or new.end <= self.after[place][1])
        return self.edits[place] if place is not None and whole else None

    def _comments(self, before: list[Document], after: list[Document]) -> None:
        """Refuse a comment that is lost, that belongs to something else, or that nobody wrote."""
        expected, places = self._expected(before)
        present: dict[object, list[str]] = {}
        staying = set(self.pairs.values())
        for comment, owner, side in _bindings(after):
            place = _place(self.after, comment.start)
            is_new = side and owner not in staying and place is not None
            key: object = place if is_new else (owner, side) if side else None
            present.setdefault(key, []).append(comment.text)
        for key in [*expected, *present]:
            if expected.get(key, []) != present.get(key, []):
                position = places.get(key, self.before[0][0] if self.before else 0)
                raise self._differs(position, "a comment would be lost, or belong to something else")

    def _expected(self, before: list[Document]) -> tuple[dict[object, list[str]], dict[object, int]]:
        """Return the comments that have to be there, and where messages place them.

        They are those of a node or a child, above it or behind it, those of an edit that makes some, and, by None, in
        the order of the text those that belong to nothing.
        """
        replaced: dict[int, Sequence[str]] = {}
        for edit in self.edits:
            comments = [one for one in edit.gone if isinstance(one, Comment)]
            replaced |= {one.start - self.offset: edit.comments if one is comments[0] else () for one in comments}
        expected: dict[object, list[str]] = {}
        places: dict[object, int] = {}
        for comment, owner, side in _bindings(before):
            new = self.pairs.get(owner) if owner else None
            if owner and not new and _place(self.before, comment.start) is not None:
                continue  # it goes with what goes
            key = (new, side) if new and side else None
            places.setdefault(key, comment.start)
            expected.setdefault(key, []).extend(replaced.get(comment.start, (comment.text,)))
        outermost: dict[int, _Key] = {}  # what begins where; a comment above an item is one above what begins it
        holders: dict[_Key, _Key] = {}
        for child in (child for document in before if document.root for child in children_below(document.root)):
            outermost.setdefault(child.start, _key(child))
            holders[_key(child.value)] = _key(child)
        for place, edit in enumerate(self.edits):
            if edit.node is None or not edit.comments or any(isinstance(one, Comment) for one in edit.gone):
                continue
            target: object = place
            if edit.reads is None and not edit.new:
                owner = _key(edit.node, self.offset)
                above = edit.start <= edit.node.start
                owner = outermost[owner[1]] if above else holders.get(owner, owner)
                target = self.pairs.get(owner), _ABOVE if above else _BEHIND
            expected.setdefault(target, []).extend(edit.comments)
        return expected, places


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


def _form(node: Node) -> tuple[object, ...]:
    if isinstance(node, Scalar):
        return Scalar, node.value, node.style
    if isinstance(node, Alias):
        return Alias, node.anchor
    return type(node), isinstance(node, Collection) and node.flow


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
    if len(children) != len(planned):
        return False
    for child, plan in zip(children, planned, strict=True):
        if isinstance(child, Entry):
            if not (isinstance(plan, tuple) and reads(child.key, plan[0]) and reads(child.value, plan[1])):
                return False
        elif not reads(child.value, plan):
            return False
    return True


def reads(node: Node, plan: object) -> bool:
    """Say whether a node reads as planned: a text, a list, or a mapping."""
    if isinstance(plan, str):
        return isinstance(node, Scalar) and node.value == plan
    if isinstance(node, MappingNode):
        pairs = list(plan.items()) if isinstance(plan, dict) else plan
        return isinstance(pairs, list) and _are(node.entries, pairs)
    return isinstance(node, SequenceNode) and isinstance(plan, list | tuple) and _are(node.items, plan)


def shows(node: Node, plan: object) -> bool:
    """Say whether a node shows what is planned of it; of an alias in it counts what that repeats."""
    node = expanded(node)
    if isinstance(plan, Node):
        return meaning(node) == meaning(plan)
    if isinstance(plan, Mapping):
        values = {name: node.get(name) for name in plan}
        return all(plan[name] is None if value is None else reads(value, plan[name]) for name, value in values.items())
    return reads(node, plan)
