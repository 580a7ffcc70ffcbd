"""A library as packages will use it: packages in memory whose use cases compose a base with each storage that fits.

    bases/decode  overlays/storage/cache     ->  use case decode/cache
    overlays/programs/serve                  ->  use case decode-serve/cache

They are judged, and never shipped. Not each pair is meant: what only some of the use cases of each part show is no
error of any part. What a library's own packages define for a part, they try themselves, and a base that others build on
need not compose alone. Parts of other libraries are tried where there is none of its own that fits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from packyard.core.errors import InputError, Problem
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.node import MappingNode
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.kustomize.part import Part
from packyard.writing.source import compose, offered, package, parts, words
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.offered import BASE, Offered
from packyard.writing.source.package import MODEL, Package, SetterValue, UseCase
from packyard.writing.source.workspace import PROGRAMS, STORAGE, Workspace

#: What package.yaml gives each use case.
_GIVEN = {"MODEL_NAME": "model", "RUN_NAME": "run"}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: all use cases as one package, what those of each base compose to, and what does not compose."""

    package: Package
    composed: Sequence[tuple[Package, ComposedPackage]]
    problems: Sequence[Problem]
    only: Collection[tuple[str, str]] | None = None

    def is_of_a_part(self, paths: Collection[str]) -> bool:
        """Say whether what these use cases show is due to one of their parts: all use cases of that show it."""
        return _is_of_a_part(self.package.use_cases, paths, self.only)


def unused(here: Workspace) -> frozenset[tuple[str, str]]:
    """Return kind and name of the bases, storages and programs that no package uses, nor another part builds on."""
    used = {(BASE, name) for name in here.part_dirs("bases") if _is_built_on(here, name)}
    for use_case in (each for name in here.package_names() for each in package.read(here, name).use_cases):
        used |= {(BASE, use_case.base), *use_case.overlays}
    folders = {BASE: "bases", **{kind: f"overlays/{kind}" for kind in (STORAGE, PROGRAMS)}}
    own = {(kind, name) for kind, above in folders.items() for name, folder in here.part_dirs(above).items()
           if not folder.startswith(f"{LIBRARIES}/")}  # fmt: skip
    return frozenset(own - used)


def _is_built_on(here: Workspace, name: str) -> bool:
    """Say whether the kustomization of another base or overlay names a base."""
    sources, folder = here.sources, here.base_dir(name)
    listed = (path for kind in ("bases", "overlays") for path in sources.list(kind, f"**/{kustomization.FILE}"))
    return any(f"/{name}" in sources.text(path).text for path in listed if not path.startswith(f"{folder}/"))


def compose_all(here: Workspace, only: Collection[tuple[str, str]] | None = None) -> Tried:
    """Compose the parts of a library with each other; of a workspace what has one of ``only`` these parts."""
    chosen = _Parts(here, only)
    every = (each for each in chosen.use_cases() if only is None or not set(only).isdisjoint(_parts_of(each)))
    use_cases = list({each.path: each for each in every}.values())
    wrong = dict[str, InputError]()
    for use_case in use_cases:
        try:
            compose.make(here, _package(here, [use_case]), use_case)
        except InputError as error:
            wrong[use_case.path] = error
    tried = _package(here, [each for each in use_cases if each.path not in wrong])
    problems = {str(each): each for refused in chosen.refused for each in refused.problems}
    for path, refused in wrong.items():
        same = [other for other, its in wrong.items() if str(its) == str(refused)]
        base = next(each.base for each in use_cases if each.path == path)
        if _is_of_a_part(use_cases, same, only) and here.base_dir(base) not in chosen.built_on:
            problems.update({str(each): each for each in refused.problems})
    composed = []
    for base in sorted({each.base for each in tried.use_cases}):
        of_base = _package(here, [each for each in tried.use_cases if each.base == base])
        try:
            composed.append((of_base, compose.compose(here, of_base)))
        except InputError as error:
            problems.update({str(each): each for each in error.problems})
    return Tried(tried, composed, list(problems.values()), only)


def _parts_of(use_case: UseCase) -> list[tuple[str, str]]:
    return [(BASE, use_case.base), *use_case.overlays]


def _is_of_a_part(
    use_cases: Sequence[UseCase], paths: Collection[str], only: Collection[tuple[str, str]] | None
) -> bool:
    by_part: dict[tuple[str, str], set[str]] = {}
    for each in use_cases:
        for part in (part for part in _parts_of(each) if only is None or part in only):
            by_part.setdefault(part, set()).add(each.path)
    return any(having <= set(paths) for having in by_part.values())


def _package(here: Workspace, use_cases: Sequence[UseCase]) -> Package:
    """Return a package that has no folder of its own."""
    return Package(
        name=here.name,
        folder=f"packages/.{here.name}",
        file=here.sources.shown(WORKSPACE),
        model=dict.fromkeys(MODEL, here.name),
        use_cases=tuple(sorted(use_cases, key=lambda each: each.path)),
        first="",
    )


class _Parts:
    """The parts that a library may be composed of: its own, and those of libraries that it builds on.

    ``refused`` are faults of bases that stand alone, ``built_on`` the folders of those that others build on.
    """

    def __init__(self, here: Workspace, only: Collection[tuple[str, str]] | None) -> None:
        self._here, self._only = here, only
        self._offered = offered.find(here)
        self.refused: list[InputError] = []
        self._objects: dict[str, list[SourceObject] | None] = {}
        self.built_on = {each.folder for base in self._of(BASE) for each in self._read(base).resources}
        self._elsewhere = self._of_packages()

    def use_cases(self) -> Iterator[UseCase]:
        """Yield what is to be composed: whatever has a part of the library's own."""
        bases = self._of(BASE)
        for base in list(filter(_is_own, bases)) or bases:
            fitting = [each for each in self._of(STORAGE) if self._fits(base, each)]
            storages = list(filter(_is_own, fitting)) or fitting
            programs = [each for each in self._of(PROGRAMS) if self._fits(base, each)]
            chosen: list[Offered | None] = [*storages] if storages else [None]
            for storage in chosen:
                needed, missing = self._needed([base, *([storage] if storage else [])], programs)
                if not missing or (self._only is None and not missing <= self._elsewhere):
                    yield from self._use_case(base, storage, needed)
            for program in filter(_is_own, programs):
                complete = (each for each in chosen if self._only is None or self._is_complete(base, each, program))
                for storage in islice(complete, 1):
                    yield from self._use_case(base, storage, [program])

    def _is_complete(self, base: Offered, storage: Offered | None, program: Offered) -> bool:
        """Say whether these define what each of them needs."""
        return not self._needed([base, program, *([storage] if storage else [])], ())[1]

    def _of(self, kind: str) -> list[Offered]:
        return [each for each in self._offered if each.kind == kind]

    def _read(self, part: Offered) -> Part:
        return parts.read(self._here.sources, part.folder, "Kustomization" if part.kind == BASE else "Component")

    def _of_packages(self) -> set[str]:
        """Return the names that packages of the library define, or give a value."""
        here, names = self._here, set[str]()
        for name in here.package_names():
            krmfile = parts.read_krmfile(here.sources, here.package_dir(name))
            names |= set(words.read(krmfile, here.sources.memo)) if krmfile else set()
            with suppress(InputError):  # which the package itself is told
                names.update(key for each in package.read(here, name).use_cases for key in each.setters)
        return names

    def _needed(self, own: Sequence[Offered], programs: Sequence[Offered]) -> tuple[list[Offered], set[str]]:
        """Return programs that define what a base and its storage need, and what none does."""
        missing = {name for each in own for name in each.needs} - {name for each in own for name in each.defines}
        needed = []
        for each in programs:
            if missing & set(each.defines):
                needed.append(each)
                missing -= set(each.defines)
        return needed, missing - _GIVEN.keys()

    def _fits(self, base: Offered, overlay: Offered) -> bool:
        """Say whether an overlay applies to a base, and changes it."""
        before = self._of_base(base)
        try:
            after, _ = compose.begun(self._here.sources, self._read(base), [self._read(overlay)])
        except InputError:
            return False
        is_idle = before is None or compose.changes_nothing(_roots(before), _roots(after))
        return not is_idle or not compose.has_patches(self._read(overlay))

    def _of_base(self, base: Offered) -> list[SourceObject] | None:
        """Return the objects of a base; None where it does not build alone."""
        if base.folder not in self._objects:
            try:
                self._objects[base.folder] = compose.begun(self._here.sources, self._read(base), [])[0]
            except InputError as error:
                self._objects[base.folder] = None
                is_asked = self._only is None or (BASE, base.name) in self._only
                self.refused += [error] if is_asked and _is_own(base) and base.folder not in self.built_on else []
        return self._objects[base.folder]

    def _use_case(self, base: Offered, storage: Offered | None, programs: Sequence[Offered]) -> Iterator[UseCase]:
        used = [base, *programs, *([storage] if storage else [])]
        if not any(map(_is_own, used)) or self._of_base(base) is None:
            return
        name = "-".join((base.name, *(each.name for each in programs)))
        yield UseCase(
            path=f"{name}/{storage.name}" if storage else name,
            name=name,
            base=base.name,
            storage=storage.name if storage else "",
            programs=tuple(each.name for each in programs),
            setters=_given(self._here),
            line=1,
            has_siblings=bool(storage),
        )


def _given(here: Workspace) -> Mapping[str, SetterValue]:
    file = here.sources.shown(WORKSPACE)
    return {name: SetterValue(text, file, 0) for name, text in _GIVEN.items()}


def _is_own(part: Offered) -> bool:
    return not part.folder.startswith(f"{LIBRARIES}/")


def _roots(objects: Sequence[SourceObject]) -> list[MappingNode]:
    return [each.root for each in objects if not each.is_local]
