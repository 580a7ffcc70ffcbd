"""Files that a package ships as they are: what is a script has to have its run bit, which a checkout may have lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packyard.errors import Problem
from packyard.files.filenames import reserved

DIRECTORY = "files"


def find(package_dir: Path) -> list[Path]:
    """Return the files that a package ships as they are, sorted; not what editors and file managers leave there."""
    return [file for file in _shipped(package_dir) if file.is_file()]


def _shipped(package_dir: Path) -> list[Path]:
    folder = package_dir / DIRECTORY
    parts = ((path, path.relative_to(folder).parts) for path in folder.rglob("*"))
    return sorted(path for path, names in parts if not any(name[0] == "." or name[-1] == "~" for name in names))


def is_executable(file: Path) -> bool:
    """Say whether the owner of a file may run it."""
    return bool(file.stat().st_mode & 0o100)


def check(package_dir: Path) -> Iterator[Problem]:
    """Find what cannot be shipped, and scripts that cannot be run."""
    for path in (package_dir / DIRECTORY).rglob("*"):
        if reason := reserved(path.name):
            yield Problem(f"the name {path.name!r} {reason}", file=str(path), hint="rename it, or take it away")
    for file in _shipped(package_dir):
        if not file.is_file():
            if file.is_symlink() or not file.is_dir():
                yield Problem("is neither a file nor a folder, or a link to a folder", file=str(file))
        elif file.read_bytes().startswith(b"#!") and not is_executable(file):
            yield Problem("a script without its run bit", file=str(file), line=1, hint=f"chmod +x {file.name}")
