"""Files that a package ships as they are: what is a script has to have its run bit, which a checkout may have lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packyard.errors import Problem

DIRECTORY = "files"


def find(package_dir: Path) -> list[Path]:
    """Return the files that a package ships as they are, sorted; not what editors and file managers leave there."""
    files = (file for file in (package_dir / DIRECTORY).rglob("*") if file.is_file())
    return sorted(file for file in files if not file.name.startswith(".") and not file.name.endswith("~"))


def is_executable(file: Path) -> bool:
    """Say whether the owner of a file may run it."""
    return bool(file.stat().st_mode & 0o100)


def check(package_dir: Path) -> Iterator[Problem]:
    """Find scripts that cannot be run."""
    for file in find(package_dir):
        if file.read_bytes().startswith(b"#!") and not is_executable(file):
            yield Problem("a script without its run bit", file=str(file), line=1, hint=f"chmod +x {file.name}")
