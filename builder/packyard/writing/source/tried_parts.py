"""A library as packages will use it: a package in memory whose use cases compose each base with each storage that fits.

    bases/decode  overlays/storage/cache     ->  use case decode/cache
    overlays/programs/serve                  ->  use case decode-serve/cache, and wherever a base needs its definitions

It is judged, and never shipped. What a library's own packages define for a part, they try themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.node import MappingNode
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.kustomize.accumulate import SourceObject, is_same
from packyard.writing.source import compose, offered, package, parts, words
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.offered import BASE, Offered
from packyard.writing.source.package import MODEL, Package, SetterValue, UseCase
from packyard.writing.source.workspace import PROGRAMS, STORAGE, Workspace

#: What package.yaml gives each use case.
_GIVEN = {"MODEL_NAME", "RUN_NAME"}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: the package and what it composes to, None where nothing does, and what does not compose."""

    package: Package
    composed: ComposedPackage | None
    problems: Sequence[Problem]


def compose_all(here: Workspace) -> Tried:
    """Compose the parts of a library with each other."""
    problems = dict[str, Problem]()
    sound = []
    for use_case in _Parts(here, problems).use_cases():
        try:
            compose.make(here, _package(here, [use_case]), use_case)
            sound.append(use_case)
        except InputError as error:
            problems.update({str(each): each for each in error.problems})
    found = _package(here, sound)
    composed = None
    try:
        composed = compose.compose(here, found) if sound else None
    except InputError as error:
        problems.update({str(each): each for each in error.problems})
    return Tried(found, composed, list(problems.values()))


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
    """The parts that a library may be composed of: its own, and those of libraries that it builds on."""

    def __init__(self, here: Workspace, problems: dict[str, Problem]) -> None:
        self._here = here
        self._problems = problems
        self._offered = offered.find(here)
        self._elsewhere = self._of_packages()

    def use_cases(self) -> Iterator[UseCase]:
        """Yield what is to be composed: whatever has a part of the library's own."""
        tried = set[str]()
        for base in self._of(BASE):
            fitting = [each for each in self._of(STORAGE) if self._fits(base, [], each)]
            wanted: list[Offered | None] = [each for each in fitting if _is_own(base) or _is_own(each)]
            if not fitting and _is_own(base):
                wanted = [None]
            for storage in wanted:
                programs, missing = self._needed(base, storage)
                if not missing or not missing <= self._elsewhere:
                    tried.update(each.folder for each in programs)
                    yield self._use_case(base, storage, programs)
            for program in self._of(PROGRAMS):
                if program.folder not in tried and _is_own(program) and self._fits(base, [], program):
                    tried.add(program.folder)
                    yield self._use_case(base, next(iter(fitting), None), [program])

    def _of(self, kind: str) -> list[Offered]:
        return [each for each in self._offered if each.kind == kind]

    def _of_packages(self) -> set[str]:
        """Return the names that packages of the library define, or give a value."""
        here, found = self._here, set[str]()
        for name in here.package_names():
            krmfile = parts.read_krmfile(here.sources, here.package_dir(name))
            found |= set(words.read(krmfile, here.sources.memo)) if krmfile else set()
            with suppress(InputError):  # which the package itself is told
                found.update(key for each in package.read(here, name).use_cases for key in each.setters)
        return found

    def _needed(self, base: Offered, storage: Offered | None) -> tuple[list[Offered], set[str]]:
        """Return programs that define what a base and its storage need, and what none does."""
        both = [base, *([storage] if storage else [])]
        missing = {name for each in both for name in each.needs} - {name for each in both for name in each.defines}
        programs = list[Offered]()
        for each in self._of(PROGRAMS):
            if missing & set(each.defines) and self._fits(base, programs, each):
                programs.append(each)
                missing -= set(each.defines)
        return programs, missing - _GIVEN

    def _fits(self, base: Offered, below: Sequence[Offered], overlay: Offered) -> bool:
        """Say whether an overlay applies to a base, and changes it."""
        sources = self._here.sources
        root = parts.read(sources, base.folder, "Kustomization")
        over = [parts.read(sources, each.folder, "Component") for each in (*below, overlay)]
        try:
            before = compose.begun(sources, root, over[:-1])[0]
        except InputError as error:
            if _is_own(base):
                self._problems.update({str(each): each for each in error.problems})
            return False
        try:
            after = compose.begun(sources, root, over)[0]
        except InputError:
            return False
        return not compose.has_patches(over[-1]) or not is_same(_roots(before), _roots(after))

    def _use_case(self, base: Offered, storage: Offered | None, programs: Sequence[Offered]) -> UseCase:
        name = "-".join((base.name, *(each.name for each in programs)))
        file = self._here.sources.shown(WORKSPACE)
        given = {"MODEL_NAME": SetterValue(self._here.name, file, 0), "RUN_NAME": SetterValue(name, file, 0)}
        return UseCase(
            path=f"{name}/{storage.name}" if storage else name,
            name=name,
            base=base.name,
            storage=storage.name if storage else "",
            programs=tuple(each.name for each in programs),
            setters=given,
            line=1,
            has_siblings=bool(storage),
        )


def _is_own(part: Offered) -> bool:
    return not part.folder.startswith(f"{LIBRARIES}/")


def _roots(objects: Sequence[SourceObject]) -> list[MappingNode]:
    return [each.root for each in objects if not each.is_local]
