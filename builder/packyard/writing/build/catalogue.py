"""Many packages at once: each is composed, in this process or in several; linted, and written.

All or nothing: if one package is refused, none is written, and everything that is wrong with any is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.work import executor
from packyard.writing.build import package_lint, tree, workspace_lint
from packyard.writing.build.draft import compose_draft
from packyard.writing.build.package_lint import Linted
from packyard.writing.source.workspace import Workspace


class Built(NamedTuple):
    """A package that was built; ``inputs`` are the files that it was made from, below the root of the sources."""

    name: str
    version: str
    digest: Digest
    tar: Digest
    size: int
    inputs: Mapping[str, Digest]


class Catalogue(NamedTuple):
    """Packages that were built, in the order of their names, and how many warnings lint has of them."""

    packages: list[Built]
    warnings: int


#: What puts a bundle where it belongs.
_Put = Callable[[Bundle], object]


def build(
    here: Workspace,
    version: str,
    names: Sequence[str],
    out_dir: Path,
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> Catalogue:
    """Build packages into a folder, ``OUT/NAME/`` and ``OUT/NAME.tar.gz``; one that is there already is not touched."""
    out_dir = out_dir.absolute()
    with tree.staging(out_dir) as stage_dir:
        catalogue = _run(here, version, names, partial(tree.stage, out_dir, stage_dir), jobs, done)
        tree.settle(out_dir, stage_dir)
    return catalogue


def pack_into(
    here: Workspace,
    version: str,
    names: Sequence[str],
    folder: Path,
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> Catalogue:
    """Write the bundles of packages into a folder, in the order of their names."""
    return _run(here, version, names, partial(_write, folder.absolute()), jobs, done)


def _run(
    here: Workspace, version: str, names: Sequence[str], put: _Put, jobs: int, done: Callable[[int], None]
) -> Catalogue:
    """Build packages; refuse what is wrong with them, with all of them together, and with parts that none uses."""
    results = executor.run(partial(_task, here, version, put), names, jobs=jobs, done=done)
    linted = [package for _, package in results]
    if here.is_library and here.name in names:
        linted += (package_lint.lint(here, name) for name in here.package_names())
    warnings = workspace_lint.refuse(here, linted)
    return Catalogue([built for built, _ in results], warnings)


def _task(here: Workspace, version: str, put: _Put, name: str) -> tuple[Built, Linted]:
    """Build a package; its bytes are put away here, so that no process holds many."""
    draft = compose_draft(here, version, name)
    bundle = draft.bundle()
    put(bundle)
    built = Built(bundle.name, bundle.version, bundle.digest, bundle.tar, len(bundle.data), draft.inputs)
    return built, package_lint.lint(here, name, draft)


def _write(folder: Path, bundle: Bundle) -> None:
    file = folder / f"{bundle.name}.tar.gz"
    try:
        file.write_bytes(bundle.data)
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror or error}") from error
