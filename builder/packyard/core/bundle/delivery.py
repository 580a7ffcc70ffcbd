"""What an untarred package says of itself: the values that it was delivered with, what became of setters, its presets.

A directory may belong to no package, and a package may have lost the file: then there is nothing to tell. A damaged
file is an `IntegrityError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.core.errors import InputError, IntegrityError, Problem, suggest
from packyard.core.files import paths, regular

if TYPE_CHECKING:
    from packyard.core.bundle.manifest import Manifest, ShippedUseCase, ShippedValue

Package = tuple[str, "Manifest"]
"""The real root of a built package, and its packyard.json."""
Packages = dict[str, Package | None]
"""Packages by the roots of directories; None where these belong to none."""

#: The folder of a package's values files.
PRESETS = "presets"


def values(directory: Path) -> dict[str, ShippedValue]:
    """Return the shipped value of each setter of a directory."""
    use_case = _use_case(directory)
    return dict(use_case.setters) if use_case else {}


def description(directory: Path) -> str:
    """Return what the use case in a directory is for; nothing where that is not known, or the file is damaged."""
    with suppress(IntegrityError):
        use_case = _use_case(directory)
        return use_case.description if use_case else ""
    return ""


def _use_case(directory: Path) -> ShippedUseCase | None:
    if (package := package_of(directory)) is None:
        return None
    root, described = package
    return described.use_cases.get(os.path.relpath(os.path.realpath(directory), root))


def package_of(directory: Path, known: Packages | None = None) -> Package | None:
    """Return the package that a directory belongs to; ``known`` are those that were read, and gets those that are."""
    root, packages = paths.root_of(directory), {} if known is None else known
    if root not in packages:
        packages[root] = (root, _read(file)) if regular.is_file(file := Path(root, paths.MANIFEST)) else None
    return packages[root]


def _read(file: Path) -> Manifest:
    from packyard.core.bundle import manifest  # slow to import, and `set` meets folders that have none

    try:
        return manifest.Manifest.parse(regular.read(file, limit=manifest.LIMIT))
    except IntegrityError as error:
        raise error.mapped(lambda problem: problem._replace(file=os.path.relpath(file))) from error


def lost(directories: Iterable[Path], name: str) -> Iterator[Problem]:
    """Yield what to do about a file that the package of directories shipped in them, where it is gone."""
    known: Packages = {}
    for directory in (directory for directory in directories if not os.path.lexists(directory / name)):
        root, described = package_of(directory, known) or ("", None)
        if described and os.path.relpath(os.path.realpath(directory / name), root) in described.files:
            brings = f"packyard get {described.name}@{described.version} --to FOLDER"
            hint = f"its package ships one: {brings}, and copy it from there"
            yield Problem(f"has no {name}", file=str(directory), hint=hint)


def replacement(directory: Path, name: str) -> Problem | None:
    """Return what replaced a former setter of a directory's package; None if the name never was one."""
    package = package_of(directory)
    moved = package[1].moved if package else {}
    former = name if name in moved else name.upper()
    return Problem(f"{former} is no longer a parameter: {moved[former]}", missing=name) if former in moved else None


def presets(directory: Path) -> dict[str, Path]:
    """Return the presets of a directory's package by their names, sorted; a link is none."""
    folder = Path(paths.seen(directory, f"{paths.root_of(directory)}/{PRESETS}"))
    if folder.is_symlink() or not folder.is_dir():
        return {}
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    return {name.removesuffix(".yaml"): folder / name for name in names if name.endswith(".yaml")}


def preset(directory: Path, name: str) -> Path:
    """Return the file of a preset of a directory's package; an unknown name is refused with those that there are."""
    files = presets(directory)
    if name not in files:
        hint = suggest(name, files) or (f"there are {', '.join(files)}" if files else "its package has no presets")
        raise InputError(Problem(f"there is no preset {name!r}", file=str(directory), hint=hint))
    return files[name]
