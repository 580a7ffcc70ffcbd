"""The objects of a part: gathered, then changed by its components, then by its patches, as kustomize does.

What several use cases begin with is gathered once: an object is copied when the first of them changes it.
"""

from __future__ import annotations

from collections import Counter

from packyard.errors import InputError, Problem, refuse
from packyard.source import parts, patch, pods
from packyard.source.idle import WHOLE, Idle, place
from packyard.source.parts import Part, Patch
from packyard.source.patch import Working
from packyard.source.selector import selects
from packyard.text import layout
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Node, Sequence

#: How many objects a use case may have.
MAX_OBJECTS = 1000

Identity = tuple[str, str, str, str]
"""apiVersion, kind, namespace and name of an object."""


class Object:
    """A Kubernetes object on its way, and the stem of the file that it came from; `root` is for reading."""

    __slots__ = ("_identity", "_working", "_written", "root", "stem")

    def __init__(self, root: MappingNode, stem: str) -> None:
        self.root = root
        self.stem = stem
        self._working: Working | None = None  # none of it is this object's own
        self._identity: Identity | None = None
        self._written: bytes | None = None

    @property
    def identity(self) -> Identity:
        """apiVersion, kind, namespace and name, as they are now."""
        if self._identity is None:
            metadata = self.root.mapping("metadata")
            texts = [metadata.text(key) if metadata else "" for key in ("namespace", "name")]
            self._identity = (self.root.text("apiVersion"), self.root.text("kind"), texts[0], texts[1])
        return self._identity

    def label(self, name: str) -> str:
        """Return a label of the object, an empty text where it has none."""
        labels = self.root.mapping("metadata", "labels")
        return labels.text(name) if labels else ""

    def write(self) -> bytes:
        """Return the object's file."""
        if self._written is None:
            self._written = layout.write(self.root)
        return self._written

    def copy(self) -> Object:
        """Return an object that may be changed without changing this one, nor this one it."""
        copied = Object(self.root, self.stem)
        copied._identity, copied._written = self._identity, self._written
        self._working = None
        return copied

    def operate(self, operations: Sequence) -> None:
        """Apply RFC 6902 operations."""
        self._identity = self._written = None
        self._working = self._working or Working()
        self.root = _as_mapping(self._working.of(self.root))
        patch.apply_operations(self.root, operations, self._working)

    def merge(self, root: MappingNode) -> None:
        """Apply a strategic merge patch."""
        self._identity = self._written = None
        self.root = _as_mapping(patch.clone(self.root))
        self._working = None
        patch.merge(self.root, root)

    def problem(self, message: str) -> Problem:
        """Describe something wrong with the object, by the place that it came from."""
        return self.root.problem(message)


def _as_mapping(node: Node) -> MappingNode:
    assert isinstance(node, MappingNode)
    return node


Expanded = list[tuple[Identity, Sequence | MappingNode]]
"""A patch as what it came to for each object that it has reached: the object's identity, and operations or a merge."""


def accumulate(
    part: Part,
    onto: list[Object] | None = None,
    trace: list[Expanded] | None = None,
    idle: list[Idle] | None = None,
) -> list[Object]:
    """Gather a part's objects, let its components work on them, then its patches: kustomize's order.

    ``trace`` gathers, for every patch in the order of their application, what it came to; ``idle`` what was in vain.
    """
    objects = [] if onto is None else onto
    for file in part.files:
        for root in parts.read_objects(file):
            _add(objects, Object(root, file.stem))
    for resource in part.resources:
        for item in accumulate(resource, trace=trace, idle=idle):
            _add(objects, item)
    for component in part.components:
        accumulate(component, objects, trace, idle)
    for made in part.generated:
        _add(objects, Object(made.root(), made.stem))
    for change in part.patches:
        expanded, nothing = (_patch if change.pods is None else _patch_pods)(objects, change)
        if trace is not None:
            trace.append(expanded)
        if idle is not None:
            places = (*map(place, nothing), *(() if expanded else (WHOLE,)))
            idle.append({change.key: frozenset(places)})
    return objects


def file_names(objects: list[Object]) -> list[str]:
    """Name each object's file for its kind; objects of one kind keep the names of the files they came from."""
    kinds = Counter(item.identity[1] for item in objects)
    names = [
        f"{parts.dashed(item.identity[1]) if kinds[item.identity[1]] == 1 else item.stem}.yaml" for item in objects
    ]
    twice = [item for item, name in zip(objects, names, strict=True) if names.count(name) > 1]
    refuse(item.problem(f"two objects would be written to {item.stem}.yaml: one object a file") for item in twice)
    return names


def _add(objects: list[Object], item: Object) -> None:
    if len(objects) >= MAX_OBJECTS:
        raise InputError(item.problem(f"one of more than {MAX_OBJECTS} objects of one use case"))
    if any(other.identity == item.identity for other in objects):
        raise InputError(item.problem(f"{item.identity[1]} {item.identity[3]!r} is there twice"))
    objects.append(item)


def _patch(objects: list[Object], item: Patch) -> tuple[Expanded, list[Node]]:
    """Patch objects, and return what it came to, and no operation: what is applied reaches what it names, or fails."""
    root = item.document.root
    if isinstance(root, MappingNode) and not all(Object(root, "").identity[part] for part in (0, 1, 3)):
        raise InputError(item.problem("a strategic merge names apiVersion, kind and metadata.name, target or not"))
    if item.target is not None:
        root = _nameless(root) if isinstance(root, MappingNode) else root
        matched = [other for other in objects if selects(item.target, other.identity)]
    elif isinstance(root, MappingNode):
        wanted = Object(root, "").identity
        matched = [other for other in objects if other.identity == wanted]
        if not matched:
            known = [f"{kind} {name}" for _, kind, _, name in (other.identity for other in objects)]
            message = f"no {wanted[1]} {wanted[3]!r} of {wanted[0]} to patch"
            raise InputError(item.problem(message, f"there are {', '.join(sorted(known))}"))
    else:
        raise InputError(item.problem("a list of operations needs a target", "target: {kind: Job}"))
    if not isinstance(root, (MappingNode, Sequence)):
        raise InputError(item.problem("a patch is a mapping or a list of operations"))
    expanded: Expanded = []
    for other in matched:
        before = other.identity
        if isinstance(root, Sequence):
            other.operate(root)
        elif isinstance(root, MappingNode):
            _merge(other, root, before)
        expanded.append((before, root))
    return expanded, []


def _patch_pods(objects: list[Object], item: Patch) -> tuple[Expanded, list[Node]]:
    """Patch pods, and return what it came to, and the operations that came to nothing."""
    root = item.document.root
    if not isinstance(root, Sequence):
        raise InputError(item.problem("a patch of pods is a list of operations, with paths below the pod's template"))
    expanded: Expanded = []
    reached: set[int] = set()
    for other in objects:
        if selects(item.target or {}, other.identity):
            operations = pods.expand(other.root, root, item.pods or "")
            if operations.items:
                reached.update(each.start for each in operations.items)
                other.operate(operations)
                expanded.append((other.identity, operations))
    return expanded, [each.value for each in root.items if each.start not in reached]


def _nameless(root: MappingNode) -> MappingNode:
    """Return a strategic merge without what names its object: a target has selected the objects."""
    found = patch.clone(root)
    assert isinstance(found, MappingNode)
    found.entries = [entry for entry in found.entries if entry.name not in ("apiVersion", "kind")]
    metadata = found.mapping("metadata")
    if metadata:
        metadata.entries = [entry for entry in metadata.entries if entry.name not in ("name", "namespace")]
    return found


def _merge(target: Object, root: MappingNode, before: Identity) -> None:
    target.merge(root)
    if target.identity[:2] != before[:2] or target.identity[3] != before[3]:
        raise InputError(target.problem("a strategic merge cannot change kind or name: use an RFC 6902 patch"))
