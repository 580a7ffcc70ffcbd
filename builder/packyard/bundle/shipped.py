"""What packyard.json says of an untarred package: the values that it was shipped with, and what became of setters.

A directory may belong to no package, and a package may have lost the file: then there is nothing to tell. A damaged
file is an `IntegrityError`.
"""

from __future__ import annotations

import os
from pathlib import Path

from packyard.bundle import manifest
from packyard.bundle.manifest import Manifest, ShippedValue
from packyard.errors import Problem
from packyard.files import paths, regular


def values(directory: Path) -> dict[str, ShippedValue]:
    """Return the shipped value of each setter of a directory."""
    root, data = _read(directory)
    use_cases = Manifest.parse(data).use_cases if data is not None else {}
    use_case = use_cases.get(os.path.relpath(os.path.realpath(directory), root))
    return dict(use_case.setters) if use_case else {}


def package_of(directory: Path) -> tuple[str, Manifest] | None:
    """Return the real root of the built package that a directory belongs to, and its packyard.json."""
    root, data = _read(directory)
    return None if data is None else (root, Manifest.parse(data))


def replacement(directory: Path, name: str) -> Problem | None:
    """Return what replaced a former setter of a directory's package; None if the name never was one."""
    root, data = _read(directory)
    if data is None or name not in (moved := Manifest.parse(data).moved):
        return None
    before, found, _ = data.decode().partition('\n  "moved":')
    file = directory / os.path.relpath(f"{root}/{manifest.FILE}", os.path.realpath(directory))
    message = f"{name} is no longer a setter: {moved[name]}"
    return Problem(message, file=os.path.normpath(file), line=before.count("\n") + 2 if found else 0)


def _read(directory: Path) -> tuple[str, bytes | None]:
    """Return the root of a directory's package, and its packyard.json, None where it is missing."""
    root = paths.root_of(directory)
    file = Path(root, manifest.FILE)
    return root, regular.read(file, limit=manifest.LIMIT) if regular.is_file(file) else None
