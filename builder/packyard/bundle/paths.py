"""Which paths a bundle may hold: those that mean the same file on every file system, and stay inside.

A path is text with ``/``, relative to the bundle's top directory. Nothing here touches a disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from packyard.files import paths
from packyard.files.paths import fold

_reserved = lru_cache(4096)(paths.reserved)  # the paths of a bundle are made of a few names
_LENGTH, _DEPTH = 512, 32  # twice what ustar can hold; keeps the work for a hostile archive small


def fault(path: str) -> str | None:
    """Say what is wrong with one path, or return None.

    ``a/b`` is fine; ``/a``, ``a/../b``, ``./a``, ``a//b``, ``a/`` and names with a part that is reserved are not.
    """
    if path.startswith("/"):
        return "is an absolute path"
    parts = path.split("/")
    if len(path.encode("utf-8", "surrogatepass")) > _LENGTH or len(parts) > _DEPTH:
        return f"is longer than {_LENGTH} bytes or deeper than {_DEPTH} directories"
    if ".." in parts:
        return "leads out of its directory with '..'"
    if "" in parts or "." in parts:
        return "has an empty part or a '.' in its path"
    for part in parts:
        if reason := _reserved(part):
            return reason if reason.startswith("has") else f"has a part {part!r}, which {reason}"
    return None


def collisions(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, what is wrong) for every path that another is in the way of; a directory's path ends in ``/``.

    Two paths collide if a directory of one is a file in the other, or if they, or directories of theirs, differ only
    in case or in Unicode normalization: on macOS and Windows these are one.
    """
    seen: dict[str, tuple[str, bool]] = {}  # folded -> (as first spelled, is it a file)
    for path in paths:
        if reason := _claim(seen, path):
            yield path, reason


def _claim(seen: dict[str, tuple[str, bool]], path: str) -> str | None:
    prefix, is_file = path.removesuffix("/"), not path.endswith("/")
    while prefix:
        spelled, was_file = known = seen.setdefault(fold(prefix), claimed := (prefix, is_file))
        if spelled != prefix:
            return f"collides with {spelled!r} where case does not count"
        if was_file != is_file:
            return f"needs {prefix!r} to be both a file and a directory"
        if known is not claimed:
            return None  # what is above it was claimed with it
        prefix, is_file = prefix.rpartition("/")[0], False
    return None


def repeated(paths: Iterable[str]) -> Iterator[str]:
    """Yield every path that was there before, once for each repetition."""
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            yield path
        seen.add(path)
