"""Copies of this repository's catalogue: to be changed, or with many packages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
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


def multiply(folder: Path, count: int, packages: list[str] | None = None) -> Path:
    """Copy the catalogue with each package ``count`` times: as other packages would be, for models of other names."""
    packages = names() if packages is None else packages
    copy(folder, packages)
    for name in packages:
        original = folder / "packages" / name
        for number in range(count):
            renamed = original.with_name(f"{name}-{number:03}")
            shutil.copytree(original, renamed, copy_function=shutil.copy)
            _rename(renamed, number)
        shutil.rmtree(original)
    return folder


def _rename(package: Path, number: int) -> None:
    """Give a package a model and texts of its own; no file but those shipped as they are stays as it was."""
    file = package / "package.yaml"
    text = file.read_text()
    for key in ("model: {name", "  MODEL_NAME"):
        text, count = re.subn(rf"^({key}: [^,\s]{{1,27}})[^,\s]*", rf"\g<1>-{number:03}", text, flags=re.MULTILINE)
        assert count == 1
    file.write_text(text)
    for file in files(package):
        if file.suffix == ".md":
            file.write_text(f"{file.read_text()}\nText {number}.\n")
        elif file.suffix == ".yaml" or file.name == "Krmfile":
            file.write_text(f"{file.read_text()}# {number}\n")


def files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder."""
    yield from (file for file in sorted(folder.rglob("*")) if file.is_file())
