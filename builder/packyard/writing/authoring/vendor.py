"""Copies of libraries in a workspace: with them it needs no network, and kustomize reads what it builds on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packyard.core.bundle import archive
from packyard.core.bundle.lock import Pin
from packyard.core.errors import ConflictError, Problem, UnavailableError
from packyard.core.files import atomic, paths, regular
from packyard.core.yaml.sources import Sources
from packyard.writing.source import library
from packyard.writing.source.library import Library


def copy(root_dir: Path, libraries: Sequence[Library]) -> list[str]:
    """Copy libraries, and those that they build on, to their places below a folder; return what was copied.

    A copy that is the same stays, and is not in the list. One that differs is refused.
    """
    copied = []
    for each in libraries:
        into = library.copy_dir(root_dir, each.name)
        paths.inside(root_dir, os.path.relpath(into, root_dir))  # a link may lead out of it
        if not into.is_dir():
            _write(into, each.root_dir)
            copied.append(str(into))
        elif library.digest(each.name, into) != library.digest(each.name, each.root_dir):
            raise ConflictError(Problem("is another library, or was changed", file=str(into), hint="move it away"))
        copied += copy(into, each.libraries)
    return copied


def check(root_dir: Path, pins: Mapping[str, Pin]) -> None:
    """Refuse copies that are not what was pinned, which `replace` would delete."""
    for name, pin in pins.items():
        into = library.copy_dir(root_dir, name)
        if into.is_dir() and library.digest(name, into) != pin.tar:
            hint = "move it away, then packyard update and packyard update --vendor"
            raise ConflictError(Problem("was changed since it was copied", file=str(into), hint=hint))


def replace(root_dir: Path, libraries: Iterable[Library]) -> None:
    """Replace the copies that there are by libraries; each is there before and afterwards."""
    for each in libraries:
        into = library.copy_dir(root_dir, each.name)
        if not into.is_dir() or library.digest(each.name, into) == library.digest(each.name, each.root_dir):
            continue
        aside = Path(atomic.beside(str(into)))
        try:
            into.rename(aside)
            try:
                _write(into, each.root_dir)
            except BaseException:
                aside.rename(into)
                raise
            shutil.rmtree(aside)
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=str(into))) from error
        copy(into, each.libraries)


def _write(into: Path, root_dir: Path) -> None:
    regular.make_folder(into.parent)
    archive.write(into.name, library.members(Sources(root_dir)), into.parent)
