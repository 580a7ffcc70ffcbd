"""Finds the workspace and the packages that a command line names.

Without ``--workspace`` it is the workspace around the working directory, or for some verbs the catalogue that packyard
carries; without names it is every package.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import declare, libraries, output
from packyard.core.errors import InputError, Problem, UsageError
from packyard.core.files.paths import WORKSPACE
from packyard.writing.source import library, workspace
from packyard.writing.source.workspace import Workspace

#: Fewer packages than this are built one after another by default: what packages share is parsed again in each worker.
#: As measured, workers are slower for 4 packages, and faster for 8.
WORTH_WORKERS = 8


def add_argument(parser: argparse.ArgumentParser, *, carried: bool = False) -> None:
    """Declare ``--workspace``; ``carried`` as for `find`."""
    otherwise = ", or packyard's own" if carried else ""
    declare.value(parser, "--workspace DIR", f"the workspace (default: around here{otherwise})")


def add_names(parser: argparse.ArgumentParser) -> None:
    """Declare ``NAME ...``, the packages."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="packages (default: all)")


def names(arguments: argparse.Namespace, workspace: Workspace) -> list[str]:
    """Return the packages that are named, each once, or all; a folder of packages/ names its package."""
    folder = (workspace.root_dir / "packages").resolve()
    places = {name: Path(name).resolve() for name in arguments.names}
    named = dict.fromkeys(place.name if place.parent == folder else name for name, place in places.items())
    packages = [*named] or workspace.package_names()
    if not packages:
        hint = "packyard new NAME --base job makes a package; packyard import DIR takes one from elsewhere"
        raise InputError(Problem("has no packages", file=str(workspace.root_dir), hint=hint))
    return packages


def bundles(arguments: argparse.Namespace, workspace: Workspace) -> list[str]:
    """Return what `names` does, but of a library, unless packages are named, the library itself."""
    return [workspace.name] if workspace.is_library and not arguments.names else names(arguments, workspace)


def find(arguments: argparse.Namespace, *, carried: bool = False) -> Workspace:
    """Return the workspace that the arguments name, or the one around; with ``carried``, packyard's own as the last.

    A library of it that is not at hand is fetched.
    """
    folder = Path(arguments.workspace) if arguments.workspace else workspace.find_root(Path())
    if not folder and not carried:
        hint = "name the folder that has one: --workspace DIR; packyard init DIR begins a workspace"
        raise InputError(Problem(f"no {WORKSPACE} here or above", hint=hint))
    root_dir = folder or library.carried_dir()
    return workspace.read(root_dir, libraries=library.find(root_dir, obtain=libraries.obtain))


def tell_warnings(count: int) -> None:
    """Say how many warnings lint has of what was built."""
    if count:
        output.note(f"{output.counted(count, 'warning')} by packyard lint")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Declare ``--jobs``."""
    declare.value(parser, "--jobs N", "packages built at once (default: one per processor)", type=int)


def jobs(arguments: argparse.Namespace, names: Sequence[str]) -> int:
    """Return how many processes build packages; 0, which is this one alone, if they are few and no flag says more."""
    count = arguments.jobs
    if count is None:
        count = len(os.sched_getaffinity(0)) if len(names) >= WORTH_WORKERS else 1
    if count < 1:
        raise UsageError(f"--jobs: must be at least 1, found {count}")
    return count if count > 1 else 0
