"""Parts that no package uses, and all parts of a library: each is composed once, in a package in memory.

    bases/decode               the use case decode/cache, with each storage that changes it, or alone
    overlays/storage/cache     the use case decode/cache, of the first base that it changes
    overlays/programs/serve    the use case decode-serve/cache, with the first storage

They are judged, and never shipped. What a part needs, any other may define: definitions of all parts count. A base that
others build on need not compose alone. What a use case shows elsewhere than in the part for which it is there, is told
where that other part is tried.
"""

import re
from collections.abc import Iterable, Iterator

from packyard.core.errors import InputError, Problem
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.writing.source import compose, package, parts, use_case_rules
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.package import Package, SetterValue, UseCase
from packyard.writing.source.workspace import BASE, FOLDERS, PROGRAMS, STORAGE, Workspace, is_own

#: What package.yaml gives each use case.
_GIVEN = {"MODEL_NAME": "model", "RUN_NAME": "run"}


def unused(here: Workspace) -> list[str]:
    """Return the bases, storages and programs that no package uses, nor another part builds on."""
    used = {path for name in here.package_names() for item in package.read(here, name).use_cases for path in item.parts}
    return [path for path in own(here) if path not in used and not _is_built_on(here, path)]


def own(here: Workspace) -> list[str]:
    """Return the bases, storages and programs that stand in the workspace, not in a library."""
    return here.own_parts(BASE, STORAGE, PROGRAMS)


def compose_all(here: Workspace, paths: Iterable[str]) -> tuple[list[tuple[ComposedPackage, set[str]]], list[Problem]]:
    """Compose parts, each in a use case of its own, as a package that has no other; say what does not compose.

    With each package are the folders of the parts for which it is there.
    """
    composed, folders, problems = dict[str, ComposedPackage](), dict[str, set[str]](), dict[str, Problem]()
    for path in paths:
        is_needed = not path.startswith(FOLDERS[BASE]) or not _is_built_on(here, path)
        try:
            own_folders = {part.folder for part in parts.of(here, path).parts() if is_own(part.folder)}
            for use_case in _use_cases(here, path):
                if use_case.path not in composed:
                    composed[use_case.path] = compose.compose(here, _package(here, use_case))
                shown = {f"{here.sources.shown(folder)}/" for folder in own_folders}
                folders[use_case.path] = folders.get(use_case.path, set()) | shown
        except InputError as error:
            problems |= {str(problem): problem for problem in error.problems if is_needed}
    return [(made, folders[path]) for path, made in composed.items()], list(problems.values())


def _is_built_on(here: Workspace, part: str) -> bool:
    """Say whether the kustomization of another base or overlay names a part."""
    listed = (path for kind in ("bases", "overlays") for path in here.sources.list(kind, f"**/{kustomization.FILE}"))
    named = re.compile(rf"\.\./(\S*/)?{re.escape(part.rpartition('/')[2])}\b")
    return any(named.search(here.sources.text(path).text) for path in listed if not path.startswith(f"{part}/"))


def _use_cases(here: Workspace, path: str) -> Iterator[UseCase]:
    """Yield the use case that a part is tried in; none for an overlay that changes no base."""
    folder, _, name = path.rpartition("/")
    if folder == FOLDERS[BASE]:
        yield from (_use_case(here, name, storage) for storage in _storages(here, name))
        return
    for base in (base for base in _names(here, BASE) if _fits(here, base, path)):
        is_storage = folder == FOLDERS[STORAGE]
        yield _use_case(here, base, name) if is_storage else _use_case(here, base, _storages(here, base)[0], name)
        return


def _storages(here: Workspace, base: str) -> list[str]:
    """Return the workspace's storages that change a base, or one of a library, or an empty text for none."""
    fitting = [name for name in _names(here, STORAGE) if _fits(here, base, f"{FOLDERS[STORAGE]}/{name}")]
    return [item for item in fitting if is_own(here.part_dir(f"{FOLDERS[STORAGE]}/{item}"))] or fitting[:1] or [""]


def _names(here: Workspace, kind: str) -> list[str]:
    """Return the names of all parts of a kind, those of the workspace first."""
    folders = here.part_dirs(FOLDERS[kind])
    return sorted(folders, key=lambda name: not is_own(folders[name]))


def _fits(here: Workspace, base: str, overlay: str) -> bool:
    """Say whether an overlay applies to a base, and changes it."""
    try:
        used = [parts.of(here, path) for path in (f"{FOLDERS[BASE]}/{base}", overlay)]
        return not compose.changes_nothing(here.sources, used)
    except InputError:  # which is told where the part is tried
        return False


def _use_case(here: Workspace, base: str, storage: str, *programs: str) -> UseCase:
    name, file = "-".join((base, *programs)), here.sources.shown(WORKSPACE)
    return UseCase(
        path=f"{name}/{storage}" if storage else name,
        name=name,
        base=base,
        storage=storage,
        programs=programs,
        setters={name: SetterValue(text, file, 0) for name, text in _GIVEN.items()},
        line=1,
        has_siblings=bool(storage),
    )


def _package(here: Workspace, use_case: UseCase) -> Package:
    """Return a package that has no folder of its own."""
    return Package(
        name=here.name,
        folder=f"packages/.{here.name}",
        file=here.sources.shown(WORKSPACE),
        model={},
        use_cases=(use_case,),
        lent=tuple(use_case_rules.krmfiles(here)),
    )
