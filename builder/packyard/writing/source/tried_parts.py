"""Parts that no package uses, and all parts of a library: each is composed once, in a package in memory.

    bases/decode               the use case decode/cache, with each storage that changes it, or alone
    overlays/storage/cache     the use case decode/cache, of the first base that it changes
    overlays/programs/serve    the use case decode-serve/cache, with the first storage

They are judged, and never shipped. What a part needs, any other may define: definitions of all parts count. A base that
others build on need not compose alone. What a use case shows elsewhere than in the part for which it is there, is told
where that other part is tried.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.using.kustomize.accumulate import is_same
from packyard.using.kustomize.part import Part
from packyard.writing.source import compose, package, parts, reached_rules
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.offered import BASE
from packyard.writing.source.package import MODEL, Package, SetterValue, UseCase
from packyard.writing.source.workspace import PROGRAMS, STORAGE, Workspace, is_own

#: What package.yaml gives each use case.
_GIVEN = {"MODEL_NAME": "model", "RUN_NAME": "run"}
_FOLDERS = {BASE: "bases", **{kind: f"overlays/{kind}" for kind in (STORAGE, PROGRAMS)}}

#: Kind and name of a part.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: all use cases as one package, each of them composed, and what does not compose.

    ``folders`` are those of the parts for which a use case is there, by its path.
    """

    package: Package
    composed: Sequence[ComposedPackage]
    problems: Sequence[Problem]
    folders: Mapping[str, Collection[str]]


def unused(here: Workspace) -> list[Name]:
    """Return the bases, storages and programs that no package uses, nor another part builds on."""
    used = {(kind, name) for kind, name in own(here) if _is_built_on(here, here.part_dir(f"{_FOLDERS[kind]}/{name}"))}
    for use_case in (each for name in here.package_names() for each in package.read(here, name).use_cases):
        used |= {(BASE, use_case.base), *use_case.overlays}
    return [each for each in own(here) if each not in used]


def own(here: Workspace) -> list[Name]:
    """Return the bases, storages and programs that stand in the workspace, not in a library."""
    return [
        (kind, name)
        for kind, above in _FOLDERS.items()
        for name, folder in here.part_dirs(above).items()
        if is_own(folder)
    ]


def compose_all(here: Workspace, names: Iterable[Name]) -> Tried:
    """Compose parts, each in a use case of its own."""
    composed, folders, problems = dict[str, ComposedPackage](), dict[str, set[str]](), list[Problem]()
    for kind, name in names:
        is_needed = kind != BASE or not _is_built_on(here, here.base_dir(name))
        try:
            part = _read(here, kind, name)
            for use_case in _use_cases(here, kind, name):
                if use_case.path not in composed:
                    composed[use_case.path] = compose.compose(here, _package(here, [use_case]))
                own_folders = {f"{here.sources.shown(each.folder)}/" for each in part.parts() if is_own(each.folder)}
                folders[use_case.path] = folders.get(use_case.path, set()) | own_folders
        except InputError as error:
            problems += error.problems if is_needed else []
    tried = _package(here, [use_case for each in composed.values() for use_case in each.package.use_cases])
    by_text = {str(problem): problem for problem in problems}
    return Tried(tried, list(composed.values()), list(by_text.values()), folders)


def _is_built_on(here: Workspace, part: str) -> bool:
    """Say whether the kustomization of another base or overlay names a part."""
    listed = (path for kind in ("bases", "overlays") for path in here.sources.list(kind, f"**/{kustomization.FILE}"))
    named = re.compile(rf"\.\./(\S*/)?{re.escape(part.rpartition('/')[2])}\b")
    return any(named.search(here.sources.text(path).text) for path in listed if not path.startswith(f"{part}/"))


def _use_cases(here: Workspace, kind: str, name: str) -> Iterator[UseCase]:
    """Yield the use case that a part is tried in; none for an overlay that changes no base."""
    if kind == BASE:
        yield from (_use_case(here, name, storage) for storage in _storages(here, name))
        return
    for base in (base for base in _names(here, BASE) if _fits(here, base, kind, name)):
        yield _use_case(here, base, name) if kind == STORAGE else _use_case(here, base, _storages(here, base)[0], name)
        return


def _storages(here: Workspace, base: str) -> list[str]:
    """Return the workspace's storages that change a base, or one of a library, or an empty text for none."""
    fitting = [name for name in _names(here, STORAGE) if _fits(here, base, STORAGE, name)]
    return [each for each in fitting if is_own(here.overlay_dir(STORAGE, each))] or fitting[:1] or [""]


def _names(here: Workspace, kind: str) -> list[str]:
    """Return the names of all parts of a kind, those of the workspace first."""
    folders = here.part_dirs(_FOLDERS[kind])
    return sorted(folders, key=lambda name: not is_own(folders[name]))


def _fits(here: Workspace, base: str, kind: str, overlay: str) -> bool:
    """Say whether an overlay applies to a base, and changes it."""
    try:
        part, added = _read(here, BASE, base), _read(here, kind, overlay)
        stages = [compose.begun(here.sources, part, each)[0] for each in ([], [added])]
    except InputError:  # which is told where the part is tried
        return False
    before, after = ([item.root for item in objects if not item.is_local] for objects in stages)
    return not compose.has_patches(added) or not is_same(before, after)


def _read(here: Workspace, kind: str, name: str) -> Part:
    folder = here.part_dir(f"{_FOLDERS[kind]}/{name}")
    return parts.read(here.sources, folder, "Kustomization" if kind == BASE else "Component")


def _use_case(here: Workspace, base: str, storage: str, *programs: str) -> UseCase:
    name, file = "-".join((base, *programs)), here.sources.shown(WORKSPACE)
    return UseCase(
        path=f"{name}/{storage}" if storage else name,
        name=name,
        base=base,
        storage=storage,
        programs=programs,
        setters={each: SetterValue(text, file, 0) for each, text in _GIVEN.items()},
        line=1,
        has_siblings=bool(storage),
    )


def _package(here: Workspace, use_cases: Iterable[UseCase]) -> Package:
    """Return a package that has no folder of its own."""
    return Package(
        name=here.name,
        folder=f"packages/.{here.name}",
        file=here.sources.shown(WORKSPACE),
        model=dict.fromkeys(MODEL, here.name),
        use_cases=tuple(sorted(use_cases, key=lambda use_case: use_case.path)),
        lent=tuple(reached_rules.krmfiles(here)),
    )
