"""Checks of all packages of a workspace together: each patch reaches something, each option changes a use case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import Protocol

from packyard.core.errors import Problem
from packyard.using.kustomize import idle
from packyard.using.kustomize.idle import Idle
from packyard.writing.source import parts
from packyard.writing.source.workspace import OPTIONS, Workspace, is_own


class Offered(Protocol):
    """What was made of a package: the names of the options that it offers, and the patches that reach nothing in it."""

    @property
    def options(self) -> Sequence[str]: ...
    @property
    def idle(self) -> Idle: ...


def check(here: Workspace, packages: Sequence[Offered]) -> Iterator[Problem]:
    """Find options that change no use case of all packages and tried parts, and patches that reach nothing in any.

    What libraries have may be for others, so nothing of it is checked.
    """
    offered = {name for package in packages for name in package.options}
    folders = [here.overlay_dir(OPTIONS, name) for name in here.option_names() if name not in offered]
    for folder in filter(is_own, folders):
        file = here.sources.shown(parts.file_of(here.sources, folder))
        message = "changes nothing in any use case of the workspace"
        yield Problem(message, file=file, line=1, hint="fix its targets, or remove it")
    joined = idle.join(package.idle for package in packages)
    others = {patch: nothing for patch, nothing in joined.items()
              if is_own(patch[0]) and dirname(patch[0]) not in folders}  # fmt: skip
    yield from idle.problems(others, "any use case of the workspace", here.sources)
