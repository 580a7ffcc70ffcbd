"""A package whose one setter is set, and a file of it that somebody edits."""

from __future__ import annotations

from pathlib import Path

from packyard.using.setting import set_values


def set_to(root: Path, value: str) -> None:
    set_values(root, {"V": [value]})


def edit(file: Path) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write("mine: by hand\n")
