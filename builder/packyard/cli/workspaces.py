"""Finds the workspace and the packages that a command line names.

Without ``--workspace`` it is the workspace around the working directory, or for some verbs the catalogue that packyard
carries; without names it is every package. A library that it builds on is fetched from its channel, and kept.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import join, quote

from packyard.cli import declare, output, preferences
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.core.files import home, regular
from packyard.core.files.paths import WORKSPACE
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Entry
from packyard.writing.source.workspace import Workspace

#: Fewer packages than this are built one after another by default: what packages share is parsed again in each worker.
#: As measured, workers are slower for 4 packages, and faster for 8.
WORTH_WORKERS = 8


def add_argument(parser: declare.Parser, *, carried: bool = False) -> None:
    """Declare ``--workspace``; ``carried`` as for `find`."""
    otherwise = ", or packyard's own" if carried else ""
    parser.value("--workspace DIR", f"the workspace (default: around here{otherwise})")


def add_arguments(parser: declare.Parser) -> None:
    """Declare ``NAME ...``, the packages, and where they are."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="packages (default: all)")
    add_argument(parser)


def names(arguments: declare.Arguments, workspace: Workspace) -> list[str]:
    """Return the packages that are named, each once, or all; a folder of packages/ names its package."""
    folder = (workspace.root_dir / "packages").resolve()
    places = {name: Path(name).resolve() for name in arguments.names}
    named = dict.fromkeys(place.name if place.parent == folder else name for name, place in places.items())
    packages = [*named] or workspace.package_names()
    if not packages:
        hint = "packyard new NAME --base job makes a package; packyard import DIR takes one from elsewhere"
        raise InputError(Problem("has no packages", file=str(workspace.root_dir), hint=hint))
    return packages


def bundles(arguments: declare.Arguments, workspace: Workspace) -> list[str]:
    """Return what `names` does, but of a library, unless packages are named, the library itself."""
    return [workspace.name] if workspace.is_library and not arguments.names else names(arguments, workspace)


def find(arguments: declare.Arguments, *, carried: bool = False) -> Workspace:
    """Return the workspace that the arguments name, or the one around; with ``carried``, packyard's own as the last.

    A library of it that is not at hand is fetched.
    """
    folder = Path(arguments.workspace) if arguments.workspace else workspace.find_root(Path())
    if not folder and not carried:
        hint = "name the folder that has one: --workspace DIR; packyard init DIR begins a workspace"
        raise InputError(Problem(f"no {WORKSPACE} here or above", hint=hint))
    root_dir = folder or library.carried_dir()
    return workspace.read(root_dir, libraries=library.find(root_dir, obtain=_obtain))


def _obtain(entry: Entry) -> Path:
    """Return the folder of a library that is a bundle: kept from before, or fetched now."""
    kept_dir = home.cache_dir() / "libraries"
    if entry.digest and (kept_dir / entry.digest.hex / entry.name).is_dir():
        return kept_dir / entry.digest.hex / entry.name
    from packyard.cli.bundles import offer  # few workspaces fetch

    is_folder = entry.channel and "://" not in entry.channel
    source = preferences.channel(str(Path(entry.file).parent / entry.channel) if is_folder else entry.channel or None)
    if source is None:
        raise InputError(entry.problem("has no channel", "name it: from: CHANNEL"))
    bundle = offer(Reference(name=entry.name, version=entry.version), source).bundle
    if entry.digest is None:
        problem = f"has no digest: write digest: {bundle.tar}, if you trust what is published"
        flag = preferences.flag_for(source.value)
        hint = f"look at it by: packyard get {quote(f'{entry.name}@{entry.version}')}{flag}"
        raise InputError(entry.problem(problem, hint))
    into = kept_dir / bundle.tar.hex
    regular.make_folder(into)
    with suppress(ConflictError):  # somebody else was quicker
        bundle.unpack(into)
    return into / entry.name


def tell_warnings(count: int, arguments: declare.Arguments) -> None:
    """Say how many warnings lint has of what the arguments name, and what shows them."""
    if count:
        words = [*arguments.names, *(["--workspace", arguments.workspace] if arguments.workspace else [])]
        output.warning(f"lint has {output.counted(count, 'warning')}; {join(['packyard', 'lint', *words])} shows them")


def add_jobs(parser: declare.Parser) -> None:
    """Declare ``--jobs``."""
    parser.value("--jobs N", "packages built at once (default: one per processor)", type=int)


def jobs(arguments: declare.Arguments, names: Sequence[str]) -> int:
    """Return how many processes build packages; 0, which is this one alone, if they are few and no flag says more."""
    count = arguments.jobs
    if count is None:
        count = len(os.sched_getaffinity(0)) if len(names) >= WORTH_WORKERS else 1
    return count if count > 1 else 0
