"""Use cases to parts: a base of what all have in common, one for each group, a storage for what groups vary alike.

    multi-node/pvc, multi-node/nfs, single-node/pvc, single-node/nfs

    bases/NAME                 what all have                   overlays/storage/pvc    what it adds to all groups
    bases/NAME-multi-node      what both of the group have     overlays/storage/nfs
    bases/NAME-multi-node-nfs  what is left, if anything: it builds on the base of its group and on its storage
    bases/NAME-config-map-a    an object that some of these have, and others lack

Where the variations are no storages, all of them is left for the bases of use cases. Where their names are taken, they
get others, and the bases of use cases name them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize import selector
from packyard.writing.authoring.import_.align import Own, common
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.normal import content
from packyard.writing.authoring.import_.read import Variant
from packyard.writing.authoring.import_.share import lines

STORAGE = "overlays/storage"
_LEAST = 8  # lines that are worth a base of their own
_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VOLUMES = {"volumes", "volumeMounts", "volumeClaimTemplates"}

#: A use case: its group, and its last step in it, empty where it is alone.
Place = tuple[str, str]


@dataclass(slots=True)
class Part:
    """A base or a storage: its objects, changes to those of what it builds on, and words of its own."""

    folder: str
    says: str
    on: Part | None = None
    storage: Part | None = None
    beside: list[Part] = field(default_factory=list)
    own: Own = field(default_factory=Own)
    words: dict[str, Word] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether it adds nothing to what it builds on."""
        return not (self.own.objects or self.own.changes or self.words or self.storage or self.beside)

    @property
    def used(self) -> Part:
        """The part, or what it builds on where it adds nothing."""
        return self.on.used if self.on and self.is_empty else self

    @property
    def all_objects(self) -> list[MappingNode]:
        """Its objects, and those of what it builds on."""
        below = (self.on, self.storage, *self.beside)
        return [root for part in below if part for root in part.all_objects] + self.own.objects


class PartTree:
    """The parts as they come into being: a root, a base for each group, storages, and bases for what is left."""

    def __init__(self, name: str, variants: Sequence[Variant]) -> None:
        self.name = name
        self.stem = name.removesuffix("-k8s")
        self.places = _groups(variants)
        kinds = (Counter(root.text("kind") for root in each.objects) for each in variants)
        self.several = {kind for counts in kinds for kind, number in counts.items() if number > 1}
        self.storages: dict[str, Part] = {}
        self.leaves: dict[Place, Part] = {}
        says = f"What all use cases of {name} have in common." if len(variants) > 1 else f"{name}."
        self.root = Part(f"bases/{self.stem}", says)
        self.root.own.objects, rest = common([each.objects for each in self.places.values()])
        self.left = dict(zip(self.places, rest, strict=True))
        self.bases = {group: self._group(group) for group in dict.fromkeys(group for group, _ in self.places)}

    def _base(self, path: str, on: Part) -> Part:
        return Part(f"bases/{self.stem}-{path.replace('/', '-')}", f"{path} of {self.name}.", on)

    def _group(self, group: str) -> Part:
        """Make the base of a group of what is left to all of it."""
        base = self._base(group, self.root)
        members = [place for place in self.places if place[0] == group]
        base.own.objects, more = common([self.left[place].objects for place in members])
        for place, own in zip(members, more, strict=True):
            self.left[place] = Own(own.objects, [*self.left[place].changes, *own.changes])
        shared = self._take(members)
        base.own = Own([*base.own.objects, *shared.objects], shared.changes)
        return base

    def _take(self, places: Sequence[Place]) -> Own:
        """Take what some use cases all have left out of what is left of them."""
        first, *others = (self.left[place] for place in places)
        alike = [key for key in first.keys if all(key in own.keys for own in others)]
        for place in places:
            self.left[place] = self.left[place].without(alike)
        return first.without(self.left[places[0]].keys)

    def place_storages(self, is_free: Callable[[str], bool]) -> None:
        """Make a storage of what each last step adds to all groups that it can reach."""
        lasts = dict.fromkeys(last for _, last in self.places if last)
        before = dict(self.left)
        for last in lasts:
            part = self.storages[last] = Part(f"{STORAGE}/{last}", f"{last} of {self.name}.")
            members = [place for place in self.places if place[1] == last]
            for key in dict.fromkeys(key for place in members for key in self.left[place].keys):
                self._move(key, members, part)
        if not all(map(_stores, self.storages.values())):
            self.storages, self.left = {}, before
        is_taken = not all(is_free(part.folder) for part in self.storages.values())
        for last, part in self.storages.items() if is_taken else ():
            part.folder = f"{STORAGE}/{self.stem}-{last}"
        for place in self.places:
            spaces = {each.namespace for (group, _), each in self.places.items() if group == place[0]}
            if is_taken or not self.storages or self.left[place].keys or len(spaces) > 1:
                self.leaf(place)

    def share(self) -> list[Part]:
        """Make bases of the objects that some bases have, each of those that the same ones have."""
        holders = [*self.bases.values(), *self.leaves.values()]
        having: dict[object, list[int]] = {}
        for number, holder in enumerate(holders):
            for root in holder.own.objects:
                having.setdefault(content(root), []).append(number)
        together: dict[tuple[int, ...], list[object]] = {}
        for key, numbers in having.items():
            if len(set(numbers)) > 1:
                together.setdefault(tuple(numbers), []).append(key)
        bases: list[Part] = []
        for members, keys in together.items():
            first = holders[members[0]]
            roots = [root for root in first.own.objects if content(root) in keys]
            if sum(map(lines, roots)) < _LEAST:
                continue
            names = " and ".join(holders[number].folder.removeprefix("bases/") for number in members)
            part = Part(self._free(roots, bases), f"What {names} have in common.")
            part.own.objects = roots
            bases.append(part)
            for number in members:
                holders[number].own = holders[number].own.without(keys)
                holders[number].beside.append(part)
        return bases

    def _free(self, roots: Sequence[MappingNode], others: Sequence[Part]) -> str:
        """Name a base for its object, or as one that is shared."""
        _, kind, _, name = selector.identity(roots[0])
        text = re.sub(r"[^a-z0-9]+", "-", f"{_UPPER.sub('-', kind)}-{name}".lower()).strip("-")
        stem = f"bases/{self.stem}-{text if len(roots) == 1 else 'shared'}"
        folders = {part.folder for part in (self.root, *self.bases.values(), *self.leaves.values(), *others)}
        names = [stem, *(f"{stem}-{number}" for number in range(2, len(folders) + 3))]
        return next(each for each in names if each not in folders)

    def _move(self, key: object, members: Sequence[Place], part: Part) -> None:
        """Move what comes to an object to a storage, where it comes to all objects that are called so."""
        own = next(self.left[place] for place in members if key in self.left[place].keys)
        moved = own.without(each for each in own.keys if each != key)
        for change in moved.changes:
            members = [place for place in members if self._has(place, change.to)]
        if all(key in self.left[place].keys for place in members):
            part.own = Own([*part.own.objects, *moved.objects], [*part.own.changes, *moved.changes])
            for place in members:
                self.left[place] = self.left[place].without([key])

    def _has(self, place: Place, root: MappingNode) -> bool:
        """Say whether a use case has an object that a patch of another one reaches."""
        objects = (*self.bases[place[0]].all_objects, *self.left[place].objects)
        _, kind, _, name = selector.identity(root)
        called = [selector.identity(each)[1::2] for each in objects]
        return (kind, name) in called if kind in self.several else kind in dict(called)

    def leaf(self, place: Place) -> Part:
        """Return the base of a use case alone."""
        group, last = place
        if not last:
            return self.bases[group]
        if place not in self.leaves:
            part = self.leaves[place] = self._base(f"{group}/{last}", self.bases[group])
            part.storage, part.own = self.storages.get(last), self.left[place]
        return self.leaves[place]


def _groups(variants: Sequence[Variant]) -> dict[Place, Variant]:
    """Group use cases by all of their paths but the last step, where that makes groups of several."""
    heads = Counter(variant.path.rpartition("/")[0] for variant in variants)
    places: dict[Place, Variant] = {}
    for variant in variants:
        head, _, last = variant.path.rpartition("/")
        places[(head, last) if head and heads[head] > 1 else (variant.path, "")] = variant
    return places


def _stores(part: Part) -> bool:
    """Say whether a part has to do with storage."""
    steps = {step for change in part.own.changes for each in change.additions for step in each.path}
    return not steps.isdisjoint(_VOLUMES) or any("Volume" in root.text("kind") for root in part.own.objects)
