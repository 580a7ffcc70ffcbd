"""Checks of all packages of a workspace together: each patch reaches something, each option changes a use case.

Idle patches are tried on all bases of the workspace, too, as a part may wait for its first package.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from posixpath import basename, dirname
from typing import Protocol

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.kustomize import idle
from packyard.using.kustomize.accumulate import SourceObject, accumulate, is_same
from packyard.using.kustomize.idle import Idle
from packyard.using.kustomize.part import Part
from packyard.writing.source import parts
from packyard.writing.source.workspace import OPTIONS, OVERLAYS, Workspace


class Offered(Protocol):
    """What was made of a package: the names of the options that it offers, and the patches that reach nothing in it."""

    @property
    def options(self) -> Sequence[str]: ...
    @property
    def idle(self) -> Idle: ...


def check(here: Workspace, names: Collection[str], packages: Sequence[Offered]) -> None:
    """Refuse options that change no use case of any package, and patches that reach nothing in any, nor in any base.

    What libraries have may be for others, so nothing of it is checked. Only all packages of the workspace together can
    tell: unless all are among ``names``, nothing is checked at all.
    """
    if not packages or here.is_library or not set(here.package_names()) <= set(names):
        return
    offered = {name for item in packages for name in item.options}
    joined = idle.join(item.idle for item in packages)
    unreached: Idle = {patch: nothing for patch, nothing in joined.items() if nothing and _is_own(patch[0])}
    folders = {name: here.overlay_dir(OPTIONS, name) for name in here.option_names() if name not in offered}
    unused = [name for name, folder in folders.items() if _is_own(folder)]
    problems = []
    if unreached or unused:
        nothing, fitting = _of_bases(here, {path for path, _, _ in unreached}, unused)
        joined = idle.join([unreached, nothing])
        unreached = {patch: joined[patch] for patch in unreached}
        idle_names = [name for name in unused if not fitting.get(name)]
        problems = [_unused(here, folders[name], is_reached=name in fitting) for name in idle_names]
    refuse([*problems, *idle.problems(unreached, "any use case of the workspace", here.sources)])


def _unused(here: Workspace, folder: str, *, is_reached: bool) -> Problem:
    file = here.sources.shown(parts.file_of(here.sources, folder))
    if is_reached:
        message = "changes nothing in any use case of the workspace"
        return Problem(message, file=file, line=1, hint="have it say what is to be another, or remove it")
    return Problem("fits no use case of any package", file=file, line=1, hint="fix its targets")


def _of_bases(here: Workspace, files: set[str], options: Collection[str]) -> tuple[Idle, dict[str, bool]]:
    """Try patches and options on every base, alone and with each overlay.

    Return which patches reached nothing in all of these, and of the options that reach something whether they change
    it.
    """
    nothing: list[Idle] = []
    fitting: dict[str, bool] = {}
    sources = here.sources
    folders = [folder for kind in OVERLAYS for folder in here.part_dirs(f"overlays/{kind}").values()]
    overlays = [parts.read(sources, folder, "Component") for folder in folders]
    chosen = [part for part in overlays if _is_option(part) and (basename(part.folder) in options or _has(part, files))]
    for base in here.part_dirs("bases").values():
        try:
            objects = accumulate(parts.read(sources, base, "Kustomization"), idle=nothing)
        except InputError:  # others build on it, or no package uses it
            continue
        combined = [_try(part, objects, nothing) for part in overlays if not _is_option(part)]
        for part in chosen:
            for each in (objects, *filter(None, combined)):
                reached: list[Idle] = []
                name, tried = basename(part.folder), _try(part, each, reached)
                if tried and not all(idle.join(reached).values()):
                    is_changed = not is_same([item.root for item in each], [item.root for item in tried])
                    fitting[name] = fitting.get(name, False) or is_changed
                nothing += reached
    return idle.join(nothing), fitting


def _is_own(path: str) -> bool:
    return not path.startswith(f"{LIBRARIES}/")


def _try(part: Part, objects: Sequence[SourceObject], nothing: list[Idle]) -> list[SourceObject]:
    """Return copies of objects with a part applied, none if it does not fit; add to ``nothing`` what is idle in it."""
    copies, tried = [item.copy() for item in objects], list[Idle]()
    try:
        accumulate(part, copies, tried)
    except InputError:
        return []
    nothing += tried
    return copies


def _is_option(part: Part) -> bool:
    return basename(dirname(part.folder)) == OPTIONS


def _has(part: Part, files: set[str]) -> bool:
    """Say whether a patch of an option stands in one of these files."""
    return not files.isdisjoint({*(patch.path for patch in part.patches), *(each.path for each in part.pods)})
