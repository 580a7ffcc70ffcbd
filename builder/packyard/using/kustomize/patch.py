"""Patches on nodes that keep their lexemes and comments: RFC 6902 (JSON 6902) and strategic merges, as in kustomize.

kustomize drops comments, so this keeps them. A base's prose stays; where a patch replaces a value its comment replaces
the old one, so that a patch without a comment unbinds the setter; comments above an operation are left out.

    value:  volumeMounts: []        op: add, path: /volumeMounts/-        volumeMounts:
                                    value: {name: storage}                - name: storage
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from packyard.core.errors import InputError
from packyard.core.kubernetes.fieldtypes import Step, is_known, merge_key
from packyard.core.yaml.document import walk
from packyard.core.yaml.make import clone, copy, like, scalar
from packyard.core.yaml.node import (
    Child,
    Collection,
    Comment,
    Entry,
    Item,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
)
from packyard.core.yaml.pointer import steps
from packyard.core.yaml.values import YAML11_BOOLEANS, implicit_type, is_null

_Collection = TypeVar("_Collection", bound=Collection)
#: What the operations on one object copy or move at most, and how deep they lead.
MAX_COPIED, MAX_STEPS, MAX_DEPTH = 50_000, 64, 200

#: What a strategic merge may say of a mapping, or of a list in an element of its own.
_PATCH, _MERGE = "$patch", "merge"
_DIRECTIVES = ("delete", "replace", _MERGE)
_OPERATIONS = ("add", "remove", "replace", "test", "move", "copy")


class MisfitError(InputError):
    """An RFC 6902 ``test`` that failed, or a path that leads nowhere: the object is not what the patch is for."""


class AbsentError(MisfitError):
    """A ``replace`` of an entry that is not there, which kustomize adds from version 4 on."""


class Working:
    """The nodes of an object that may be changed in place. All others are copied as soon as the way to a change leads
    through them, so that objects which begin alike share what stays alike.

    It bounds what operations copy or move: an object that is copied into itself again and again grows exponentially.
    ``before`` has the value that each value took the place of, by the id of the new one, which is kept beside it.
    """

    def __init__(self, before: Mapping[int, tuple[Node, Node]] | None = None) -> None:
        self.before = dict(before or {})
        self._own: dict[int, Collection] = {}
        self._left = MAX_COPIED

    def duplicate(self, node: Node, depth: int, operation: MappingNode) -> Node:
        """Copy a node and all below it to a place of this depth."""
        todo = [(node, depth)]
        while todo:
            each, depth = todo.pop()
            self._left -= 1
            if self._left < 0:
                raise InputError(operation.problem(f"copies more than {MAX_COPIED} values of one object"))
            if depth > MAX_DEPTH:
                raise InputError(operation.problem(f"nests deeper than {MAX_DEPTH} levels"))
            if isinstance(each, Collection):
                todo += [(part.value, depth + 1) for part in each.children]
        return clone(node)

    def owned(self, node: _Collection) -> _Collection:
        """Return the object's own copy of a node and its entries or items; the values in these are still shared."""
        if id(node) in self._own:
            return node
        copied = copy(node)
        self._own[id(copied)] = copied
        if id(node) in self.before:
            self.before[id(copied)] = copied, self.before[id(node)][1]
        return copied

    def instead(self, old: Node, new: Node) -> Node:
        """Return what takes the place of a value: the new one, or a copy where that stands elsewhere already."""
        if new is not old:
            new = clone(new) if id(new) in self.before else new
            self.before[id(new)] = new, old
        return new


def apply_operations(root: MappingNode, operations: SequenceNode, working: Working | None = None) -> None:
    """Apply RFC 6902 operations to an object, in their order; ``working`` has what is its own below its root.

    What the operations bring is shared with them.
    """
    working = working or Working()
    for item in operations.items:
        operation = item.value
        if not isinstance(operation, MappingNode):
            raise InputError(operation.problem("an operation must be a mapping with op and path"))
        name = operation.text("op")
        if name not in _OPERATIONS:
            raise InputError(operation.problem(f"op is {name!r}, known are {', '.join(_OPERATIONS)}"))
        if operation.get("path") is None:
            raise InputError(operation.problem(f"{name} needs a path"))
        _operate(root, operation, name, working)


def _operate(root: MappingNode, operation: MappingNode, name: str, working: Working) -> None:
    place = _Place(root, operation, operation.text("path"), working)
    if name in ("move", "copy"):
        origin = _Place(root, operation, operation.text("from"), working)
        part = origin.part()
        value, comment = working.duplicate(part.value, place.depth, operation), part.comment
        if name == "move":
            origin.remove()
            place = _Place(root, operation, operation.text("path"), working)
        place.add(value, comment)
        return
    if name == "remove":
        place.remove()
        return
    entry = operation.entry("value")
    if entry is None:
        raise InputError(operation.problem(f"{name} needs a value"))
    _refuse_ambiguous(entry.value)
    if name == "add":
        place.add(entry.value, entry.comment)
    elif name == "replace":
        place.replace(entry.value, entry.comment)
    elif not place.has(entry.value):
        raise MisfitError(operation.problem(f"test failed: {operation.text('path')} is not the value given"))


def _refuse_ambiguous(value: Node) -> None:
    """Refuse plain ``yes``, ``on``, ``y`` and their like: kustomize reads operations by YAML 1.1, all else by 1.2."""
    for node in walk(value):
        if isinstance(node, Scalar) and node.style == "plain" and node.value in YAML11_BOOLEANS:
            raise InputError(node.problem(f"kustomize reads {node.value} in an operation as a boolean", "quote it"))


class _Place:
    """Where a JSON pointer leads: a parent that exists, and a key or an index in it that may not."""

    def __init__(self, root: MappingNode, operation: MappingNode, pointer: str, working: Working) -> None:
        self.operation = operation
        self.pointer = pointer
        if not pointer.startswith("/"):
            raise InputError(operation.problem(f"path {pointer!r} must begin with /"))
        *above, self.last = steps(pointer)
        self.depth = len(above)
        if self.depth > MAX_STEPS:
            raise InputError(operation.problem(f"path has more than {MAX_STEPS} steps"))
        parent: Collection = root
        self.place = place = next(
            (
                node
                for key in ("path", "from")
                if (node := operation.get(key)) and isinstance(node, Scalar) and node.value == pointer
            ),
            operation,
        )
        for position, step in enumerate(above):
            child = self._child(parent, step)
            if child is None or not isinstance(child.value, Collection):
                reached = "/" + "/".join(above[: position + 1])
                raise MisfitError(
                    place.problem(f"path {pointer} does not exist: there is no list or mapping at {reached}")
                )
            parent = child.value = working.owned(child.value)
        self.parent = parent
        self.working = working

    def _child(self, parent: Node, step: str) -> Child | None:
        if isinstance(parent, MappingNode):
            return parent.entry(step)
        if isinstance(parent, SequenceNode) and step.isdigit() and int(step) < len(parent.items):
            return parent.items[int(step)]
        return None

    def part(self) -> Child:
        """Return the entry or item there; one that is missing is an error."""
        child = self._child(self.parent, self.last)
        if child is None:
            raise MisfitError(self.place.problem(f"path {self.pointer} does not exist"))
        return child

    def has(self, value: Node) -> bool:
        """Say whether the value there is equal to one; what is missing is equal to null, as kustomize has it."""
        child = self._child(self.parent, self.last)
        if child is None:
            return is_null(value)
        return _plain(child.value) == _plain(value)

    def add(self, value: Node, comment: Comment | None) -> None:
        """Add an entry, or replace it; insert an item before the one at an index, or behind the last at ``-``."""
        if isinstance(self.parent, MappingNode):
            existing = self.parent.entry(self.last)
            if existing is not None:
                self.replace(value, comment)
                return
            entry = Entry(scalar(self.last, self.operation.source.name), value, value.start)
            entry.comment = comment
            self.parent.entries.append(entry)
            return
        assert isinstance(self.parent, SequenceNode)
        size = len(self.parent.items)
        if self.last != "-" and not (self.last.isdigit() and int(self.last) <= size):
            raise MisfitError(self.place.problem(f"path {self.pointer} does not exist: the list has {size} items"))
        item = Item(value, value.start)
        item.comment = comment
        self.parent.items.insert(size if self.last == "-" else int(self.last), item)

    def replace(self, value: Node, comment: Comment | None) -> None:
        """Replace a value and the comment behind it; the prose above stays."""
        if isinstance(self.parent, MappingNode) and self.parent.entry(self.last) is None:
            raise AbsentError(self.place.problem(f"path {self.pointer} does not exist"))
        part = self.part()
        part.value = self.working.instead(part.value, value)
        part.comment = comment

    def remove(self) -> None:
        """Take an entry or item out, with its comments."""
        part = self.part()
        if isinstance(self.parent, MappingNode):
            self.parent.children = [entry for entry in self.parent.entries if entry is not part]
        elif isinstance(self.parent, SequenceNode):
            self.parent.children = [item for item in self.parent.items if item is not part]


def merge(root: MappingNode, patch: MappingNode, working: Working) -> None:
    """Apply a strategic merge patch to an object; ``working`` has what is its own below its root.

    kustomize knows the merge keys of lists for Kubernetes' own kinds only: in a custom resource a list replaces the
    list. What a patch says of a merged list goes in front, in the patch's order: new elements, and old ones that it
    changes. ``$patch: delete`` takes a mapping, a list or an element out; that of an object is for `deletes`.
    ``$patch: replace`` puts the patch's mapping or list in the place of the old one. Other directives are refused, and
    those that versions of kustomize take differently.
    """
    _refuse_replacing(patch)
    _Merge(root.text("apiVersion"), root.text("kind"), working).mapping(root, patch, ())


def deletes(patch: Node | None) -> bool:
    """Say whether a strategic merge takes out what it is for: an object, a mapping in it, or an element of a list."""
    return _directive(patch) == "delete"


def _directive(node: Node | None) -> str:
    """Return what a mapping of a patch says of itself, or a list in an element of its own: ``merge`` where nothing."""
    if isinstance(node, SequenceNode):
        return next((_directive(item.value) for item in node.items if _is_directive(item.value)), _MERGE)
    entry = node.entry(_PATCH) if isinstance(node, MappingNode) else None
    text = node.text(_PATCH) if isinstance(node, MappingNode) else ""
    if entry and text not in _DIRECTIVES:
        raise InputError(entry.value.problem(f"{_PATCH} is {text!r}, known are {', '.join(_DIRECTIVES)}"))
    return text or _MERGE


def _is_directive(node: Node) -> bool:
    return isinstance(node, MappingNode) and [entry.name for entry in node.entries] == [_PATCH]


def _bare(node: Node) -> Node:
    """Return what a patch puts in a place, without what it says of itself there."""
    if isinstance(node, MappingNode) and node.entry(_PATCH):
        node = copy(node)
        node.children = [entry for entry in node.entries if entry.name != _PATCH]
    elif isinstance(node, SequenceNode) and any(_is_directive(item.value) for item in node.items):
        node = copy(node)
        node.children = [item for item in node.items if not _is_directive(item.value)]
    _refuse_directives(node)
    return node


@dataclass(frozen=True, slots=True)
class _Merge:
    """A strategic merge into an object of a kind; what it merges into may be changed."""

    version: str
    kind: str
    working: Working

    def mapping(self, target: MappingNode, patch: MappingNode, path: tuple[Step, ...]) -> None:
        """Merge entries; a new one goes behind the entry of the key before it in the patch, the first ones in front."""
        place = 0
        for entry in patch.entries:
            if entry.name == _PATCH:
                continue
            if entry.name.startswith("$"):
                raise InputError(entry.key.problem(f"{entry.name} is not supported", "use an RFC 6902 patch"))
            existing = target.entry(entry.name)
            if is_null(entry.value) or deletes(entry.value):
                target.children = [other for other in target.entries if other is not existing]
                continue
            if existing is None:
                added = like(entry, partial(self._new, path=(*path, entry.name)))
                target.children = [*target.entries[:place], added, *target.entries[place:]]
            else:
                self._entry(existing, entry, (*path, entry.name))
                place = next(index for index, other in enumerate(target.entries) if other is existing)
            place += 1

    def _entry(self, existing: Entry, entry: Entry, path: tuple[Step, ...]) -> None:
        old, new = existing.value, entry.value
        if isinstance(old, Collection) != isinstance(new, Collection) and not is_null(old):
            message = f"{'.'.join(map(str, path))}: a patch cannot turn a collection into text, or back"
            raise InputError(new.problem(message))
        is_merged = _directive(new) == _MERGE
        if isinstance(old, MappingNode) and isinstance(new, MappingNode) and is_merged:
            existing.value = own = self.working.owned(old)
            self.mapping(own, new, path)
            return
        if isinstance(old, SequenceNode) and isinstance(new, SequenceNode) and is_merged:
            key = self._key(path)
            if key == "":
                message = "merging a list of plain values is not supported"
                raise InputError(new.problem(message, "use an RFC 6902 patch"))
            if key:
                existing.value = own_list = self.working.owned(old)
                self._items(own_list, new, key, path)
                return
        existing.value = self.working.instead(old, self._new(new, path))
        existing.comment = entry.comment

    def _key(self, path: tuple[Step, ...]) -> str | None:
        """Return what the elements of a list are told apart by, as `merge_key` does; kustomize knows no other kinds."""
        return merge_key(self.version, self.kind, path) if is_known(self.version, self.kind) else None

    def _new(self, node: Node, path: tuple[Step, ...]) -> Node:
        """Return what a patch puts in a place, without what it says of itself there, and what it takes away."""
        return self._without_nulls(_bare(node), path)

    def _without_nulls(self, node: Node, path: tuple[Step, ...]) -> Node:
        """Leave out the entries without value, but for those in lists that are replaced as a whole."""
        if isinstance(node, MappingNode):
            parts: list[tuple[Child, Node]] = [
                (each, self._without_nulls(each.value, (*path, each.name)))
                for each in node.entries
                if not is_null(each.value)
            ]
        elif isinstance(node, SequenceNode) and self._key(path):
            parts = [(each, self._without_nulls(each.value, (*path, 0))) for each in node.items]
        else:
            return node
        if len(parts) == len(node.children) and all(each.value is value for each, value in parts):
            return node
        node, values = copy(node), {id(each.value): value for each, value in parts}
        node.children = [like(each, lambda value: values[id(value)]) for each, _ in parts]
        return node

    def _items(self, old: SequenceNode, new: SequenceNode, key: str, path: tuple[Step, ...]) -> None:
        front: list[Item] = []
        gone: list[Item] = []
        for item in (each for each in new.items if not _is_directive(each.value)):
            value = item.value
            if not isinstance(value, MappingNode) or value.get(key) is None:
                raise InputError(value.problem(f"an element of {'.'.join(map(str, path))} needs its key {key!r}"))
            for other in old.items:
                if isinstance(other.value, MappingNode) and other.value.text(key) == value.text(key):
                    self._element(other, value, (*path, 0))
                    (gone if deletes(value) else front).append(other)
                    break
            else:
                front += [] if deletes(value) else [like(item, partial(self._new, path=(*path, 0)))]
        old.children = [*front, *(item for item in old.items if not any(item is other for other in (*front, *gone)))]

    def _element(self, other: Item, value: MappingNode, path: tuple[Step, ...]) -> None:
        """Merge a patch into an element of a list."""
        assert isinstance(other.value, MappingNode)
        _refuse_replacing(value)
        other.value = own = self.working.owned(other.value)
        self.mapping(own, value, path)


def _refuse_replacing(node: MappingNode) -> None:
    """Refuse to replace an object or an element: kustomize 3 does, 4 and 5 leave it as it is."""
    if _directive(node) == "replace":
        message = "versions of kustomize differ on `$patch: replace` of an object or an element"
        raise InputError(node.problem(message, "use an RFC 6902 patch"))


def _refuse_directives(node: Node) -> None:
    if isinstance(node, MappingNode):
        for entry in node.entries:
            if entry.name.startswith("$"):
                raise InputError(entry.key.problem(f"{entry.name} is not supported", "use an RFC 6902 patch"))
            _refuse_directives(entry.value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            _refuse_directives(item.value)


def _plain(node: Node) -> object:
    if isinstance(node, MappingNode):
        return {entry.name: _plain(entry.value) for entry in node.entries}
    if isinstance(node, SequenceNode):
        return [_plain(item.value) for item in node.items]
    assert isinstance(node, Scalar)
    return (node.value, implicit_type(node.value) if node.style == "plain" else "string")
