"""Patches on nodes that keep their lexemes and comments: RFC 6902 (JSON 6902) and strategic merges, as in kustomize.

kustomize drops comments, so this keeps them. A base's prose stays; where a patch replaces a value its comment replaces
the old one, so that a patch without a comment unbinds the setter; comments above an operation are left out.

    value:  volumeMounts: []        op: add, path: /volumeMounts/-        volumeMounts:
                                    value: {name: storage}                - name: storage
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from packyard.core.errors import BeyondError, InputError, Problem, suggest
from packyard.core.kubernetes.fieldtypes import Step, merge_keys
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.make import clone, like, scalar
from packyard.core.yaml.node import Child, Collection, Comment, Entry, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.pointer import steps
from packyard.core.yaml.values import YAML11_BOOLEANS, is_null, to_value, type_of
from packyard.using.setters.comment import parse

#: What the operations on one object copy or move at most, and how deep they lead.
MAX_COPIED, MAX_STEPS, MAX_DEPTH = 50_000, 64, 200

_PATCH = "$patch"
#: The fields of a strategic merge that only name its object.
_NAMES = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
_CONTAINERS = ("containers", "initContainers")
_OPERATIONS = ("add", "remove", "replace", "test", "move", "copy")


class MisfitError(InputError):
    """An RFC 6902 ``test`` that failed, or a path that leads nowhere: the object is not what the patch is for."""


class AbsentError(MisfitError):
    """A ``replace`` of an entry that is not there, which kustomize adds from version 4 on."""


class Copies:
    """Bounds what operations copy or move in an object: one that is copied into itself again and again grows
    exponentially.
    """

    def __init__(self) -> None:
        self._left = MAX_COPIED

    def duplicate(self, node: Node, depth: int, operation: MappingNode) -> Node:
        """Copy a node and all below it to a place of this depth."""
        todo = [(node, depth)]
        while todo:
            child, depth = todo.pop()
            self._left -= 1
            if self._left < 0:
                raise InputError(operation.problem(f"copies more than {MAX_COPIED} values of one object"))
            if depth > MAX_DEPTH:
                raise InputError(operation.problem(f"nests deeper than {MAX_DEPTH} levels"))
            if isinstance(child, Collection):
                todo += [(part.value, depth + 1) for part in child.children]
        return clone(node)


def apply_operations(root: MappingNode, operations: SequenceNode, copies: Copies) -> None:
    """Apply RFC 6902 operations to an object, in their order."""
    for item in operations.items:
        operation = item.value
        if not isinstance(operation, MappingNode):
            raise InputError(operation.problem("an operation must be a mapping with op and path"))
        name = operation.text("op")
        if name not in _OPERATIONS:
            raise InputError(operation.problem(f"op is {name!r}, known are {', '.join(_OPERATIONS)}"))
        if operation.get("path") is None:
            raise InputError(operation.problem(f"{name} needs a path"))
        _operate(root, operation, name, copies)


def _operate(root: MappingNode, operation: MappingNode, name: str, copies: Copies) -> None:
    place = _Place(root, operation, "path")
    if name in ("move", "copy"):
        origin = _Place(root, operation, "from")
        part = origin.part()
        value, comment = copies.duplicate(part.value, place.depth, operation), part.comment
        if name == "move":
            origin.remove()
            place = _Place(root, operation, "path")
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
        place.add(clone(entry.value), entry.comment)
    elif name == "replace":
        place.replace(clone(entry.value), entry.comment)
    elif not place.has(entry.value):
        raise MisfitError(operation.problem(f"test failed: {operation.text('path')} is not the value given"))


def _refuse_ambiguous(value: Node) -> None:
    """Refuse plain ``yes``, ``on``, ``y`` and their like: kustomize reads operations by YAML 1.1, all else by 1.2."""
    for part in (*walk(value), *(entry.key for entry in _entries(value))):
        if isinstance(part, Scalar) and part.style == "plain" and part.value in YAML11_BOOLEANS:
            raise InputError(part.problem(f"kustomize reads {part.value} in an operation as a boolean", "quote it"))


class _Place:
    """Where a JSON pointer of an operation leads: a parent that exists, and a key or an index in it that may not."""

    def __init__(self, root: MappingNode, operation: MappingNode, key: str) -> None:
        self.operation = operation
        self.pointer = pointer = operation.text(key)
        if not pointer.startswith("/"):
            raise InputError(operation.problem(f"path {pointer!r} must begin with /"))
        *above, self.last = steps(pointer)
        self.depth = len(above)
        if self.depth > MAX_STEPS:
            raise InputError(operation.problem(f"path has more than {MAX_STEPS} steps"))
        parent: Collection = root
        self.place = place = operation.get(key) or operation
        for position, step in enumerate(above):
            child = self._child(parent, step)
            if child is None or not isinstance(child.value, Collection):
                at = "/" + "/".join(above[: position + 1])
                raise MisfitError(place.problem(f"path {pointer} does not exist: there is no list or mapping at {at}"))
            parent = child.value
        self.parent = parent

    def _child(self, parent: Node, step: str) -> Child | None:
        if isinstance(parent, SequenceNode) and step.isdigit() and int(step) < len(parent.items):
            return parent.items[int(step)]
        return parent.entry(step)

    def part(self) -> Child:
        """Return the entry or item there; one that is missing is an error."""
        child = self._child(self.parent, self.last)
        if child is None:
            raise MisfitError(self.place.problem(f"path {self.pointer} does not exist"))
        return child

    def has(self, value: Node) -> bool:
        """Say whether the value there is equal to one; what is missing is equal to null, as kustomize has it."""
        child = self._child(self.parent, self.last)
        return is_null(value) if child is None else _json(child.value) == _json(value)

    def add(self, value: Node, comment: Comment | None) -> None:
        """Add an entry, or replace it; insert an item before the one at an index, or behind the last at ``-``."""
        if isinstance(self.parent, MappingNode):
            if self.parent.entry(self.last):
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
        note = self.parent.comment
        if note and not size and isinstance(value, Scalar) and parse(note.text) is None:
            self.parent.comment = None  # it says why the list is empty
        self.parent.items.insert(size if self.last == "-" else int(self.last), item)

    def replace(self, value: Node, comment: Comment | None) -> None:
        """Replace a value and the comment behind it; the prose above stays."""
        if isinstance(self.parent, MappingNode) and self.parent.entry(self.last) is None:
            raise AbsentError(self.place.problem(f"path {self.pointer} does not exist", "op: add makes it"))
        part = self.part()
        part.value = value
        part.comment = comment

    def remove(self) -> None:
        """Take an entry or item out, with its comments."""
        part = self.part()
        self.parent.children = [child for child in self.parent.children if child is not part]


def merge(root: MappingNode, patch: MappingNode) -> None:
    """Apply a strategic merge patch to an object.

    Kubernetes' own kinds have lists that are merged, by the keys that kustomize 5 knows; all others, and all lists of
    custom resources, are replaced. What a patch says of a merged list goes in front, in the patch's order: new
    elements, and old ones that it changes. These keep their places where a second key (``protocol``) tells elements
    apart. As kustomize walks through the whole object, that loses its fields without value.
    ``$patch: delete`` takes a mapping or an element out; that of an object is for `deletes`. Other directives are
    refused, and what versions of kustomize take differently, or pass over: elements of one key, and a second key that
    only some of the elements with the same first one have.
    """
    merging = _Merge(root)
    merging.without(root, (), _is_blank)
    merging.mapping(root, patch, ())
    metadata = root.mapping("metadata")
    if metadata and is_null(metadata.get("namespace")):
        metadata.children = [entry for entry in metadata.entries if entry.name != "namespace"]


def deletes(patch: Node | None) -> bool:
    """Say whether a strategic merge takes out what it is for: an object, a mapping in it, or an element of a list."""
    return isinstance(patch, MappingNode) and patch.text(_PATCH) == "delete"


def no_container(root: MappingNode, container: Node, names: Sequence[str]) -> Problem:
    """Say that an object has no such container as a strategic merge wants to change."""
    name = _text(container.find("name"))
    message = f"no container {name!r} in {root.text('kind')} {_text(root.find('metadata', 'name'))}"
    place = container.find("name") or container
    return place.problem(message, suggest(name, names) or f"there are {', '.join(names)}")


def _is_blank(node: Node) -> bool:
    """Say whether a field has no value at all; kustomize 5 keeps a null that is written."""
    return isinstance(node, Scalar) and is_null(node) and not node.value


def _text(node: Node | None) -> str:
    return node.value if isinstance(node, Scalar) and not is_null(node) else ""


@dataclass(frozen=True, slots=True)
class _Merge:
    """A strategic merge into an object."""

    root: MappingNode

    def mapping(self, target: MappingNode, patch: MappingNode, path: tuple[Step, ...]) -> None:
        """Merge entries; a new one goes behind the entry of the key before it in the patch, the first ones in front."""
        place = 0
        for entry in patch.entries:
            _refuse_directives([entry])
            below = (*path, entry.name)
            if below in _NAMES:
                continue
            existing = target.entry(entry.name)
            nodes = [node for node in (existing and existing.value, entry.value) if node and not is_null(node)]
            if len({type(node) for node in nodes}) > 1:
                message = f"{'.'.join(map(str, below))}: a patch cannot turn a mapping, a list or text into another one"
                raise InputError(entry.value.problem(message))
            if is_null(entry.value) or deletes(entry.value):
                target.children = [entry for entry in target.entries if entry is not existing]
                continue
            if existing is None:
                added = like(entry, partial(self._new, path=below))
                target.entries.insert(place, added)
            else:
                self._entry(existing, entry, below)
                place = next(index for index, entry in enumerate(target.entries) if entry is existing)
            place += 1

    def without(self, node: Node, path: tuple[Step, ...], is_absent: Callable[[Node], bool]) -> None:
        """Take out the entries whose value is absent, but for those in lists that are replaced as a whole."""
        if isinstance(node, MappingNode):
            node.children = [entry for entry in node.entries if not is_absent(entry.value)]
            for entry in node.entries:
                self.without(entry.value, (*path, entry.name), is_absent)
        elif isinstance(node, SequenceNode) and (keys := self._keys(path)) is not None:
            self._elements(node, keys, path)
            for item in node.items:
                self.without(item.value, (*path, 0), is_absent)

    def _entry(self, existing: Entry, entry: Entry, path: tuple[Step, ...]) -> None:
        old, new = existing.value, entry.value
        keys = self._keys(path)
        if isinstance(old, MappingNode) and isinstance(new, MappingNode):
            old.flow = old.flow if old.entries else new.flow  # which decides what kustomize makes of a missing value
            self.mapping(old, new, path)
            return
        if isinstance(old, SequenceNode) and isinstance(new, SequenceNode) and keys is not None:
            old.flow = old.flow if old.items else new.flow
            self._items(old, new, keys, path)
            return
        is_bare = not (old.comment or new.comment or existing.comment or entry.comment)
        if isinstance(old, Scalar) and isinstance(new, Scalar) and old.lexeme == new.lexeme and is_bare:
            return  # such as the name of an item, which is from where the item is
        if isinstance(old, Scalar) and isinstance(new, Scalar) and old.style != "plain" and type_of(new) != "string":
            text = scalar(new.value, new.source.name)  # kustomize keeps the quotes
            text.comment, new = new.comment, text
        existing.value = self._new(new, path)
        existing.comment = entry.comment

    def _keys(self, path: tuple[Step, ...]) -> list[str] | None:
        """Return what the elements of a list are told apart by, as `merge_keys` does."""
        return merge_keys(self.root.text("apiVersion"), self.root.text("kind"), path)

    def _new(self, node: Node, path: tuple[Step, ...]) -> Node:
        """Return what a patch puts in a place, without what it takes away."""
        _refuse_directives(_entries(node))
        new = clone(node)
        self.without(new, path, is_null)
        return new

    def _elements(self, node: SequenceNode, keys: list[str], path: tuple[Step, ...]) -> dict[tuple[str, ...], Item]:
        """Return the elements of a list by what tells them apart: the texts of its keys, or their own without keys."""
        place = ".".join(map(str, path))
        elements: dict[tuple[str, ...], Item] = {}
        for item in node.items:
            value = item.value
            texts = tuple(_text(value.get(key)) for key in keys)
            texts = texts or (_text(value),)
            if not texts[0]:
                _refuse_directives(entries(value))
                what = f"needs its key {keys[0]!r}" if keys else "must be text"
                raise InputError(value.problem(f"an element of {place} {what}"))
            if texts in elements:
                message = f"{place} has {', '.join(filter(None, texts))} twice, of which kustomize keeps one"
                raise BeyondError(value.problem(message, "take one of them out"))
            elements[texts] = item
        self._refuse_partial(node, keys, elements)
        return elements

    def _refuse_partial(self, node: Node, keys: list[str], elements: Iterable[tuple[str, ...]]) -> None:
        """Refuse elements of one first key of which some have no second: kustomize 5 passes their patches over."""
        seconds: dict[str, bool] = {}
        for first, *second in elements:
            if second and seconds.setdefault(first, bool(second[0])) is not bool(second[0]):
                raise _partial(node, first, keys)

    def _items(self, old: SequenceNode, new: SequenceNode, keys: list[str], path: tuple[Step, ...]) -> None:
        known = self._elements(old, keys, path)
        updates = self._elements(new, keys, path)
        self._refuse_partial(new, keys, (*known, *updates))
        stays = len(keys) > 1 and any(texts[-1] for texts in (*known, *updates))
        front: list[Item] = []
        removed: list[Item] = []
        for texts, item in updates.items():
            present = known.get(texts)
            if deletes(item.value) and stays and not texts[-1]:
                raise _partial(item.value, texts[0], keys)  # kustomize 5 does not find it
            if deletes(item.value):
                removed += [present] if present else []
            elif present is None and path[-1] in _CONTAINERS and _is_directed(item.value):
                raise InputError(no_container(self.root, item.value, [name for name, *_ in known]))
            elif present is None:
                front.append(like(item, partial(self._new, path=(*path, 0))))
            else:
                if isinstance(present.value, MappingNode) and isinstance(item.value, MappingNode):
                    self.mapping(present.value, item.value, (*path, 0))
                front += [] if stays else [present]
        old.children = [*front, *(item for item in old.items if not any(item is moved for moved in (*front, *removed)))]


def _partial(node: Node, first: str, keys: list[str]) -> BeyondError:
    message = f"some elements have {keys[1]} and others with {keys[0]} {first} do not, of which versions of kustomize"
    return BeyondError(node.problem(f"{message} make different things", f"write {keys[1]} in all of them"))


def _is_directed(node: Node) -> bool:
    """Say whether what changes something in a container, as it has no image, holds a directive."""
    return node.find("image") is None and any(entry.name.startswith("$") for entry in _entries(node))


def _entries(node: Node) -> Iterator[Entry]:
    return (entry for child in walk(node) for entry in entries(child))


def _refuse_directives(named: Iterable[Entry]) -> None:
    for entry in named:
        if entry.name.startswith("$"):
            raise InputError(entry.key.problem(f"{entry.name} is not supported", "use an RFC 6902 patch"))


def _json(node: Node) -> str:
    return json.dumps(to_value(node), sort_keys=True)
