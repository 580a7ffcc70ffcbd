"""What edits mean, and what was planned, compared with what they did: the documents before beside those after.

Four things may differ: a node that an edit exchanges, children that come into a collection or go from it, comments
that are replaced, and new comments. All else has to be the same. Every other comment has to stay where it is: beside
its node or child or, where it stands between children, in the same order. And each node that a plan names has to show
what is planned of it, whatever the edits mean.
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

#: Nodes, each with what it has to show: a text or a list, what a node of another text means, or, of a mapping, some
#: entries, None for one that has to be missing.
Planned = Sequence[tuple[Node, "Reading | Node | Mapping[str, Reading | None]"]]
_Key = tuple[type, int]


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

    Positions are those of the stretch.
    """

    def __init__(self, source: Source, offset: int, edits: list[Edit], planned: Planned) -> None:
        self.source = source
        self.offset = offset
        self.planned: dict[_Key, list[object]] = {}
        for node, plan in planned:
            self.planned.setdefault(_key(node, offset), []).append(plan)
        self.exchanged: dict[_Key, Edit] = {}
        self.within: dict[_Key, list[Edit]] = {}  # what comes into collections, and goes from them
        self.gone: set[_Key] = set()
        self.replaced: dict[int, Sequence[str]] = {}  # comments by their place
        self.added: dict[_Key, list[tuple[bool, str]]] = {}  # whether above, and the comment
        self.regions: dict[int, tuple[int, int]] = {}
        shift = 0
        for edit in edits:
            start = edit.start - offset
            self.regions[id(edit)] = (start + shift, start + shift + len(edit.replacement))
            shift += len(edit.replacement) - (edit.end - edit.start)
            self._plan(edit)
        self.pinned: list[tuple[int, str]] = []  # comments between children: those that have to be there
        self.found: list[Comment] = []  # and those that are

    def _plan(self, edit: Edit) -> None:
        comments = [one for one in edit.gone if isinstance(one, Comment)]
        children = [one for one in edit.gone if isinstance(one, Child)]
        for number, comment in enumerate(comments):
            self.replaced[comment.start - self.offset] = () if number else edit.comments
        if edit.node is None:
            return
        key = _key(edit.node, self.offset)
        if edit.reads is not None:
            self.exchanged[key] = edit
        elif edit.new or children:
            self.within.setdefault(key, []).append(edit)
            self.gone.update(_key(child, self.offset) for child in children)
        elif edit.comments and not comments:
            above = edit.start <= edit.node.start
            self.added.setdefault(key, []).extend((above, text) for text in edit.comments)

    def compare(self, before: list[Document], after: list[Document]) -> None:
        """Refuse what differs without being meant to."""
        if len(before) != len(after):
            raise self._differs(0, f"the file would have {len(after)} documents, not {len(before)}")
        for old, new in zip(before, after, strict=True):
            self.pinned += self._planned([*old.head, *old.tail])
            self.found += [*new.head, *new.tail]
            if (old.root is None) != (new.root is None):
                raise self._differs(old.start, "a document would be added or removed")
            if old.root is not None and new.root is not None:
                self._value(old.root, new.root)
                self._comments(_behind(old.root), _behind(new.root), old.root.start, [])
        for _, position in self.planned:  # those that were met are gone
            raise unread(self.source, position + self.offset)
        # in the order of the text, as a comment may have become the neighbour of another child
        comments = sorted(self.found, key=lambda comment: comment.start)
        if [text for _, text in sorted(self.pinned)] != [comment.text for comment in comments]:
            at = self.pinned[0][0] if self.pinned else 0
            raise self._differs(at, "a comment would be lost, or belong to something else")

    def _differs(self, position: int, reason: str) -> InputError:
        return refused(self.source, position + self.offset, reason)

    def _value(self, old: Node, new: Node) -> None:
        if not all(shows(new, plan) for plan in self.planned.pop(_key(old), ())):
            raise unread(self.source, old.start + self.offset)
        edit = self.exchanged.get(_key(old))
        if edit is not None:
            self._exchanged(old, new, edit)
            return
        if type(old) is not type(new):
            raise self._differs(old.start, "a value would become something else")
        if isinstance(old, Alias):
            assert isinstance(new, Alias)
            if old.anchor != new.anchor:
                raise self._differs(old.start, f"{old.lexeme} would become {new.lexeme}")
            return
        if not _has_same_properties(old, new):
            raise self._differs(old.start, "an anchor or a tag would change")
        if isinstance(old, Scalar):
            assert isinstance(new, Scalar)
            if old.value != new.value or old.style != new.style:
                raise self._differs(old.start, "a value that nobody sets would change")
        elif isinstance(old, Collection):
            assert isinstance(new, Collection)
            if old.flow != new.flow:
                raise self._differs(old.start, "a value that nobody sets would change")
            self._children(old, new)

    def _exchanged(self, old: Node, new: Node, edit: Edit) -> None:
        start, end = self.regions[id(edit)]
        if not (start <= new.start and new.end <= end) or not reads(new, edit.reads):
            raise unread(self.source, old.start + self.offset)
        if not _has_same_properties(old, new):
            raise self._differs(old.start, "an anchor or a tag would change")
        inside = [comment.text for child in children_below(new) for comment in _bound(child)]
        if inside != list(edit.comments):
            raise self._differs(old.start, "a comment would be lost, or belong to something else")
        self._leave(old, None, old)
        self._arrive(children_below(new))

    def _children(self, old: Collection, new: Collection) -> None:
        edits = self.within.get(_key(old), [])
        arrived: dict[int, list[Child]] = {id(edit): [] for edit in edits}
        starts = [self.regions[id(edit)][0] for edit in edits]
        staying: list[Child] = []
        for child in new.children:
            place = bisect_right(starts, child.start)
            edit = edits[place - 1] if place else None
            if edit is not None and child.start < self.regions[id(edit)][1]:
                arrived[id(edit)].append(child)
            else:
                staying.append(child)
        for edit in edits:
            if not _are(arrived[id(edit)], edit.new):
                raise self._differs(old.start, "the addition would not be read as what was asked for")
            below = [each for child in arrived[id(edit)] for each in (child, *children_below(child.value))]
            if [comment.text for each in below for comment in _bound(each)] != list(edit.comments):
                raise self._differs(old.start, "a comment would belong to something else")
            self._arrive(below)
        remaining = [child for child in old.children if _key(child) not in self.gone]
        for child in old.children:
            if _key(child) in self.gone:
                self._leave(child.value, child, old)
        if len(remaining) != len(staying):
            raise self._differs(old.start, "an entry or an item would be added or removed that nobody asked for")
        for one, other in zip(remaining, staying, strict=True):
            self._child(one, other)

    def _child(self, old: Child, new: Child) -> None:
        if isinstance(old, Entry):
            assert isinstance(new, Entry)
            self._value(old.key, new.key)
        above, behind = self._added(old, above=True), self._added(old, above=False)
        self._value(old.value, new.value)
        self._comments(attached(old), attached(new), old.start, above)
        self._comments(_behind(old.value, old), _behind(new.value, new), old.start, behind)
        self.pinned += self._planned([*_apart(old), *old.foot])
        self._arrive([new])

    def _added(self, child: Child, *, above: bool) -> list[str]:
        """Return the new comments of a child; above an item they are also those of what begins in its line."""
        if not self.added:
            return []
        keys = [_key(child), _key(child.value)]
        node, line = child.value, child.value.source.line_start(child.start)
        while above and isinstance(node, Collection) and not node.flow and node.children:
            if node.source.line_start(node.children[0].start) != line:
                break
            keys.append(_key(node.children[0]))
            node = node.children[0].value
        comments = [one for key in dict.fromkeys(keys) for one in self.added.get(key, ()) if one[0] == above]
        for key in keys:
            self.added[key] = [one for one in self.added.get(key, ()) if one[0] != above]
        return [text for _, text in comments]

    def _comments(self, old: list[Comment], new: list[Comment], position: int, added: list[str]) -> None:
        """Refuse other comments at a node or a child than those that were there and the new ones."""
        if [text for _, text in self._planned(old)] + added != [comment.text for comment in new]:
            raise self._differs(position, "a comment here would be lost, or belong to something else")

    def _planned(self, comments: Iterable[Comment]) -> list[tuple[int, str]]:
        """Return the places of comments before, and the texts that have to be there."""
        return [
            (comment.start, text) for comment in comments for text in self.replaced.get(comment.start, (comment.text,))
        ]

    def _leave(self, node: Node, child: Child | None, within: Node) -> None:
        """Let a node go, or a child of a collection, with its own comments; those that stand below it stay."""
        end, outer = node.end, -1
        if isinstance(within, Collection) and not within.flow and within.children:
            outer = within.children[0].column
        elif isinstance(within, Collection):
            end, outer = within.end, len(within.source.text)
        if child is not None:
            self.pinned += self._planned(_apart(child))
        for below in [*([child] if child else []), *children_below(node)]:
            below_it = [comment for comment in (*below.head, *below.foot) if comment.start >= end]
            staying = [one for one in below_it if one.column <= outer or not one.own_line]  # or behind a `---`
            self.pinned += self._planned(staying)

    def _arrive(self, children: Iterable[Child]) -> None:
        """Note the comments that stand between children after the change."""
        for child in children:
            self.found += [*_apart(child), *child.foot]


def _key(one: Node | Child, offset: int = 0) -> _Key:
    """Return what tells a node or a child from others that begin where it begins."""
    return type(one), one.start - offset


def _apart(child: Child) -> list[Comment]:
    """Return the comments above a child that a blank line parts from it."""
    return child.head[: len(child.head) - len(attached(child))]


def _has_same_properties(old: Node, new: Node) -> bool:
    names = ("anchor", "tag")
    if isinstance(old, Alias) or isinstance(new, Alias):
        return isinstance(new, Alias) or all(getattr(new, name) is None for name in names)
    return all(getattr(old, name) == getattr(new, name) for name in names)


def _behind(node: Node, child: Child | None = None) -> list[Comment]:
    """Return the comments behind a key, behind a dash, and behind a value or the header of a block scalar."""
    key = child.key.comment if isinstance(child, Entry) and child.key is not node else None
    header = header_comment(node) if isinstance(node, Scalar) and node.style in "|>" else None
    return [one for one in (key, child.comment if child else None, header, node.comment) if one]


def _bound(child: Child) -> list[Comment]:
    """Return the comments that say something of one child."""
    return [*attached(child), *_behind(child.value, child)]


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
