"""The objects of a kustomization: gathered, then changed by its components, patches and replacements.

`Gathering.gather` has kustomize's order, whoever read the parts: `supported` from a directory, or what composes.
What several use cases have in common is gathered once: each copies the objects that it changes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.kinds import is_local
from packyard.core.yaml import layout, make
from packyard.core.yaml.document import entries
from packyard.core.yaml.node import Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import to_value, type_of
from packyard.using.kustomize import anchors, patch, replacement, selector
from packyard.using.kustomize.generator import Generated
from packyard.using.kustomize.idle_patches import Idle
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.patch import Copies
from packyard.using.kustomize.replacement import Replacement
from packyard.using.kustomize.selector import Identity

#: How many objects a use case may have.
MAX_OBJECTS = 1000
#: What the objects of bases are called, or begin with; a dash and a name follow where there are several of a kind.
RUN = "run"
_TAKEN = "kustomization"  # by the file that lists the others
_NO_STEM = re.compile(r"[^-.\w]")
#: Where the file name of a kind gets a dash: ConfigMap is written to config-map.yaml.
_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(slots=True, eq=False)
class SourceObject:
    """An object while patches change it; `root` is only read, `stem` is the stem of the file that it came from.

    ``made`` is what it was generated from, ``part`` what that stands in where it is hashed.
    """

    root: MappingNode
    stem: str
    made: Generated | None = None
    part: Part | None = None
    _copies: Copies = field(default_factory=Copies)
    _is_own: bool = False  # whether nobody else has the root
    _identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        """apiVersion, kind, namespace and name, as they are now."""
        if self._identity is None:
            self._identity = selector.identity(self.root)
        return self._identity

    @property
    def is_local(self) -> bool:
        """Whether the object only serves composing."""
        return is_local(self.root)

    def write(self) -> bytes:
        """Return the object's file."""
        return layout.write(anchors.Sharing(self.root).tree)

    def copy(self, root: MappingNode | None = None) -> "SourceObject":
        """Return an independent copy, which may have another root."""
        copied = SourceObject(root or self.root, self.stem, self.made, self.part)
        copied._identity = self._identity
        self._is_own = False
        return copied

    def operate(self, operations: SequenceNode) -> None:
        """Apply RFC 6902 operations."""
        patch.apply_operations(self._begin(), operations, self._copies)

    def merge(self, root: MappingNode) -> None:
        """Apply a strategic merge patch."""
        patch.merge(self._begin(), root)

    def replace(self, target: replacement.Target, value: Node) -> None:
        """Put a value into fields."""
        replacement.replace(self._begin(), target, value)

    def give(self, pointer: str, text: str) -> None:
        """Put a text in the place of a field, or add it."""
        name = self.root.source.name
        operation = make.mapping(name, {"op": "add", "path": pointer, "value": text})
        self.operate(make.sequence(name, [Item(operation, 0)]))

    def _begin(self) -> MappingNode:
        """Return the root, which may be changed."""
        self._identity = None
        if not self._is_own:
            self.root, self._is_own = make.clone(self.root), True
        return self.root


@dataclass(slots=True)
class Gathering:
    """What is gathered beside objects: what was ``idle``, and how many objects parts reach.

    ``reached`` has the number of objects that a part added or changed, by its folder. ``check`` refuses what a patch
    made of an object that was called so before; what composes takes all.
    """

    idle: list[Idle] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    check: Callable[[SourceObject, Patch, Identity], None] = lambda _item, _change, _before: None

    def gather(self, part: Part, onto: list[SourceObject] | None = None) -> list[SourceObject]:
        """Add a part's objects, let its components work on all, then its patches and replacements; return all."""
        objects = [] if onto is None else onto
        add(objects, own := [SourceObject(root, stem) for stem, root in part.objects])
        for resource in part.resources:
            add(objects, self.gather(resource))
        generated = (
            SourceObject(item.root, item.stem, item, part if item.is_hashed else None) for item in part.generated
        )
        add(objects, generated)  # before the components, as kustomize since 5.1.1
        for component in part.components:
            self.gather(component, objects)
        changed: set[int] = set()
        for change in part.patches:
            targets = self._apply(change, objects)
            if patch.deletes(change.document.root):
                objects[:] = [item for item in objects if not any(item is source for source in targets)]
            changed.update(map(id, targets))
            self.idle.append({change.key: not targets})
        changed.update(map(id, self._patch_pods(part, objects)))
        for replaced in part.replacements:
            self._replace(replaced, objects)
        below = sum(self.reached[component.folder] for component in part.components)
        self.reached[part.folder] = len(own) + below + len(changed)
        return objects

    def _apply(self, change: Patch, objects: Sequence[SourceObject]) -> list[SourceObject]:
        """Patch objects, and return those that the patch is for."""
        root = change.document.root
        matched = _matched(change, root, objects)
        for item in matched if not patch.deletes(root) else ():
            before = item.identity
            if isinstance(root, SequenceNode):
                item.operate(root)
            elif isinstance(root, MappingNode):
                item.merge(root)
            else:
                raise InputError(change.problem("a patch is a mapping or a list of operations"))
            self.check(item, change, before)
        return matched

    def _patch_pods(self, part: Part, objects: Sequence[SourceObject]) -> Iterator[SourceObject]:
        """Patch pods, as no kustomization says it by itself, and yield the objects that this changed."""
        for pod_patch in part.pods:
            idle = dict.fromkeys(pod_patch.keys, True)
            for item in objects:
                outcome = None if item.is_local else pod_patch.operations(item.root, item.identity)
                if outcome:
                    item.operate(outcome[0])
                    idle |= dict.fromkeys(outcome[1], False)
                    yield item
            self.idle.append(idle)

    def _replace(self, rule: Replacement, objects: Sequence[SourceObject]) -> None:
        value = replacement.find_source(rule, [item.root for item in objects])
        for target in rule.targets:
            chosen = target.select
            matched = [item for item in objects if selector.selects(chosen, item.root, item.identity, is_exact=True)]
            for item in matched:
                item.replace(target, value)
            words = ", ".join(f"{key} {text!r}" for key, text in chosen.items())
            self.idle.append({(rule.file, 0, words): not matched})


def accumulate(
    part: Part, onto: list[SourceObject] | None = None, idle: list[Idle] | None = None
) -> list[SourceObject]:
    """Gather a part's objects; ``idle`` gathers what reached nothing."""
    return Gathering([] if idle is None else idle).gather(part, onto)


def add(objects: list[SourceObject], new: Iterable[SourceObject], where: str = "") -> None:
    """Add objects; one that is there already is refused."""
    called = {selector.effective(source.identity): source for source in objects}
    for item in new:
        if len(objects) >= MAX_OBJECTS:
            raise InputError(item.root.problem(f"a use case has at most {MAX_OBJECTS} objects"))
        first = called.setdefault(selector.effective(item.identity), item)
        if first is not item:
            _, kind, _, name = item.identity
            other = f"also at {first.root.place}"
            raise InputError(item.root.problem(f"{kind} {name!r} is defined twice{where}", other))
        objects.append(item)


def is_same(before: Sequence[MappingNode], after: Sequence[MappingNode]) -> bool:
    """Say whether objects are what they were, whatever their patches reached."""
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(old is new or to_value(old) == to_value(new) for old, new in pairs)


def file_names(objects: list[SourceObject]) -> list[str]:
    """Name each object's file for its kind; of several of one kind, those called ``run-NAME`` for their names.

    Objects of several kinds with one name have both in the names of their files, and those of one kind a number. None
    is called as the kustomization beside it.
    """
    kinds = Counter(item.identity[1] for item in objects)
    stems = [_stem(item, alone=kinds[item.identity[1]] == 1) for item in objects]
    names: list[str] = []
    for item, stem in zip(objects, stems, strict=True):
        name = stem if stems.count(stem) == 1 else f"{_dashed(item)}-{stem}"
        name = name if name != _TAKEN else f"{name}-{_no_stem(item.identity[3])}"
        numbered = (f"{name}-{number}" for number in range(2, len(objects) + 2))
        names.append(next(free for free in (name, *numbered) if free not in names))
    return [f"{name}.yaml" for name in names]


def _no_stem(text: str) -> str:
    return _NO_STEM.sub("-", text)


def _stem(item: SourceObject, *, alone: bool) -> str:
    name = item.identity[3]
    return _dashed(item) if alone or name == RUN else _no_stem(name.removeprefix(f"{RUN}-"))


def _dashed(item: SourceObject) -> str:
    return _no_stem(_UPPER.sub("-", item.identity[1]).lower())


def _matched(change: Patch, root: Node | None, objects: Sequence[SourceObject]) -> list[SourceObject]:
    """Return the objects that a patch is for."""
    needed, words = ((0, 1, 3), "without a target needs apiVersion,") if change.target is None else ((1, 3), "needs")
    if isinstance(root, MappingNode) and not all(selector.identity(root)[part] for part in needed):
        raise InputError(change.problem(f"a strategic merge {words} kind and metadata.name"))
    if change.target is not None:
        _refuse_untexts(root)
        return [item for item in objects if selector.selects(change.target, item.root, item.identity)]
    if not isinstance(root, MappingNode):
        raise InputError(change.problem("a list of operations needs a target", "target: {kind: Job}"))
    matched = [item for item in objects if selector.is_same(item.identity, selector.identity(root))]
    if not matched:
        raise InputError(_unmatched(root, objects))
    return matched


def _refuse_untexts(root: Node | None) -> None:
    """Refuse labels and annotations that are no text where a merge has a target: kustomize makes text of null, too."""
    for name in ("labels", "annotations"):
        value = root.find("metadata", name) if isinstance(root, MappingNode) else None
        for node in [entry.value for entry in entries(value)] or ([value] if value else []):
            if not (isinstance(node, Scalar) and type_of(node) == "string"):
                message = f"kustomize makes text of {name} in a merge with a target, of what is null, too"
                raise InputError(node.problem(message, "put it in quotes, or use an RFC 6902 patch"))


def _unmatched(root: MappingNode, objects: Sequence[SourceObject]) -> Problem:
    """Say which object a patch names that is not there: an object with another namespace is another one."""
    called = [(kind, name, space and f"in namespace {space}") for _, kind, space, name in (o.identity for o in objects)]
    version, kind, _, name = selector.identity(root)
    message = f"no {kind} {name!r} of {version} to patch"
    listed = ", ".join(sorted(" ".join(filter(None, words)) for words in called))
    return (root.find("metadata", "name") or root).problem(message, f"there are {listed}")
