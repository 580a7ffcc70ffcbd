"""Many packages at once: each is found in the cache, or assembled, in this process or in several.

All or nothing: if one package is refused, none is written, and everything that is wrong with any is said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.work import executor
from packyard.writing.build import tree, workspace_lint
from packyard.writing.build.package_lint import Linted, Linting
from packyard.writing.build.packing import Packing, Settings
from packyard.writing.build.product import Built
from packyard.writing.build.staging import staging


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Packages that were built, in the order of their names, and how many warnings lint has of them."""

    packages: list[Built]
    warnings: int


def build(
    settings: Settings,
    names: Sequence[str],
    out_dir: Path,
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> Catalogue:
    """Build packages into a folder, ``OUT/NAME/`` and ``OUT/NAME.tar.gz``; one that is there already is not touched."""
    out_dir = out_dir.absolute()
    with staging(out_dir) as stage_dir:
        results = executor.run(
            partial(_stage, Linting(Packing(settings), is_quick=True), out_dir, stage_dir), names, jobs=jobs, done=done
        )
        catalogue = _checked(settings, results)
        tree.settle([item.name for item in catalogue.packages if item.staged], out_dir, stage_dir)
    return catalogue


def _checked(settings: Settings, results: Sequence[tuple[Built, Linted]]) -> Catalogue:
    """Refuse what is wrong with packages, and with all of them together; with a library, those that try its parts."""
    here, linted = settings.workspace(), [each for _, each in results]
    lint, names = Linting(Packing(settings), is_quick=True), {each.name for each in linted}
    if here.is_library and here.name in names:
        linted += map(lint, here.package_names())
    elif not here.is_library and names >= set(here.package_names()):
        linted.append(lint.unused())
    warnings = workspace_lint.refuse(here, linted)
    return Catalogue([replace(built, fault=built.fault or linted.fault) for built, linted in results], warnings)


def pack_into(
    settings: Settings,
    names: Sequence[str],
    folder: Path,
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
    describe: Callable[[Bundle], Mapping[str, bytes]] | None = None,
) -> Catalogue:
    """Write the bundles of packages into a folder, in the order of their names; `read_inputs` has what each is from.

    What ``describe``, called where a bundle is packed, says of it is written beside it: NAME and an ending of its own.
    """
    task = partial(_write, Linting(Packing(settings), is_quick=True), folder.absolute(), describe)
    return _checked(settings, executor.run(task, names, jobs=jobs, done=done))


def read_inputs(folder: Path, name: str) -> dict[str, Digest]:
    """Return the files that a bundle was made from, which `pack_into` wrote beside it."""
    return {path: Digest(found) for path, found in json.loads(_inputs_file(folder, name).read_bytes()).items()}


def _inputs_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.inputs.json"


def _write(
    lint: Linting, folder: Path, describe: Callable[[Bundle], Mapping[str, bytes]] | None, name: str
) -> tuple[Built, Linted]:
    """Write a bundle into a folder; its bytes stay there, so that no process holds many."""
    packed = lint.packing.make(name)
    built = packed.built
    file = folder / f"{name}.tar.gz"
    descriptions = describe(Bundle.open(built.data, what=file.name)) if describe else {}
    try:
        file.write_bytes(built.data)
        for ending, data in descriptions.items():
            (folder / f"{name}{ending}").write_bytes(data)
        _inputs_file(folder, name).write_text(json.dumps(built.inputs))
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror or error}") from error
    return replace(built, data=b"", inputs={}), lint(name, packed.drafted)


def _stage(lint: Linting, out_dir: Path, stage_dir: Path, name: str) -> tuple[Built, Linted]:
    """Stage a bundle that is not in place."""
    packed = lint.packing.make(name)
    staged = tree.stage(packed.built, out_dir, stage_dir, packed.members)
    return replace(packed.built, data=b"", inputs={}, staged=staged), lint(name, packed.drafted)
