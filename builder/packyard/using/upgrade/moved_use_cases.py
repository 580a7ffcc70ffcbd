"""Use cases that another version of a package calls otherwise, as `moved` of its packyard.json says.

    moved: {"serving": "benchmark"}      …/serving/user-mounted-nfs -> …/benchmark/user-mounted-nfs

A name is followed where the older version has the one use case and the newer the other, and neither has both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname

from packyard.core.bundle import manifest
from packyard.core.bundle.manifest import Manifest
from packyard.using.upgrade.difference import Files


def find(base: Files, theirs: Files) -> dict[str, str]:
    """Return the directories of use cases of the base that theirs has under another name, each with that."""
    if manifest.FILE not in base:
        return {}
    old, new = Manifest.parse(base[manifest.FILE]), Manifest.parse(theirs[manifest.FILE])
    return dict(_renamed(old.deployed(), new.deployed(), new.moved))


def paths(files: Files, folders: Mapping[str, str]) -> dict[str, str]:
    """Return the paths of the files below some directories, each with the path below the new name."""
    return {path: folders[above] + path[len(above) :] for path in files for above in _above(path) if above in folders}


def moved(files: Files, names: Mapping[str, str]) -> dict[str, bytes]:
    """Return files under their new names."""
    return {names.get(path, path): data for path, data in files.items()}


def _renamed(old: tuple[str, ...], new: tuple[str, ...], moved: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path in old:
        for name, new_name in moved.items():
            new_path = f"/{path}/".replace(f"/{name}/", f"/{new_name}/", 1).strip("/")
            if path not in new and new_path in new and new_path not in old:
                yield path, new_path


def _above(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path
