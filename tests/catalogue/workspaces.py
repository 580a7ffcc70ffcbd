"""Copies of this repository's catalogue, to be changed."""

import shutil
from pathlib import Path

import real

SHARED = ("packyard.yaml", "LICENSE", "Krmfile", "bases", "overlays", "docs/readme")
PACKAGES = real.REPOSITORY / "packages"


def names() -> list[str]:
    """Return the names of the catalogue's packages."""
    return sorted(file.parent.name for file in PACKAGES.glob("*/package.yaml"))


def copy(folder: Path, packages: list[str]) -> Path:
    """Copy what packages share, and some of them, byte by byte with their modes."""
    for name in (*SHARED, *(f"packages/{name}" for name in packages)):
        source, target = real.REPOSITORY / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, copy_function=shutil.copy)
        else:
            shutil.copy(source, target)
    return folder
