"""What an untarred package says of itself: the values that it was shipped with, what became of setters, its presets.

A directory may belong to no package, and a package may have lost the file: then there is nothing to tell. A damaged
file is an `IntegrityError`.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from packyard.core.bundle import manifest
from packyard.core.bundle.manifest import Manifest, ShippedUseCase, ShippedValue
from packyard.core.bundle.required import Required
from packyard.core.errors import InputError, IntegrityError, Problem, suggest
from packyard.core.files import paths, regular

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


def required(directory: Path, options: Iterable[str] = ()) -> tuple[Required, ...]:
    """Return what the authors of a directory's package say that a cluster must have for it, and for its options."""
    package = package_of(directory)
    return package[1].required_of(os.path.relpath(os.path.realpath(directory), package[0]), options) if package else ()


def _use_case(directory: Path) -> ShippedUseCase | None:
    if (package := package_of(directory)) is None:
        return None
    root, described = package
    return described.use_cases.get(os.path.relpath(os.path.realpath(directory), root))


def package_of(directory: Path) -> tuple[str, Manifest] | None:
    """Return the real root of the built package that a directory belongs to, and its packyard.json."""
    root = paths.root_of(directory)
    file = Path(root, manifest.FILE)
    if not regular.is_file(file):
        return None
    try:
        return root, Manifest.parse(regular.read(file, limit=manifest.LIMIT))
    except IntegrityError as error:
        raise error.mapped(lambda problem: problem._replace(file=os.path.relpath(file))) from error


def lost(directory: Path, name: str) -> Problem | None:
    """Return what to do about a file that a directory's package shipped there, and that is gone."""
    if os.path.lexists(directory / name) or not (package := package_of(directory)):
        return None
    root, described = package
    if os.path.relpath(os.path.realpath(directory / name), root) not in described.files:
        return None
    brings = f"packyard get {described.name}@{described.version} --to FOLDER"
    hint = f"its package ships one: {brings}, and copy it from there"
    return Problem(f"has no {name}", file=str(directory), hint=hint)


def replacement(directory: Path, name: str) -> Problem | None:
    """Return what replaced a former setter of a directory's package; None if the name never was one."""
    package = package_of(directory)
    if package is None or name not in package[1].moved:
        return None
    return Problem(f"{name} is no longer a parameter: {package[1].moved[name]}", missing=name)


def presets(directory: Path) -> dict[str, Path]:
    """Return the presets of a directory's package by their names, sorted; a link is none."""
    root = paths.root_of(directory)
    folder = Path(os.path.normpath(directory / os.path.relpath(f"{root}/{PRESETS}", os.path.realpath(directory))))
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
