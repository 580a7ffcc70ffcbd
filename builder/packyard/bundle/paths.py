"""Which paths a bundle may hold: those that mean the same file on every file system, and stay inside.

A path is text with ``/``, relative to the bundle's top directory. Nothing here touches a disk.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

# Controls, backslash (a separator elsewhere), line separators, marks that reorder text on a screen, lone surrogates.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\\\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_LENGTH, _DEPTH = 512, 32  # twice what ustar can hold; keeps the work for a hostile archive small


def fault(path: str) -> str | None:
    """Say what is wrong with one path, or return None.

    ``a/b`` is fine; ``/a``, ``a/../b``, ``./a``, ``a//b``, ``a/`` and names with control characters are not.
    """
    if bad := _FORBIDDEN.search(path):
        return f"has the character {bad[0]!r} in its name"
    if path.startswith("/"):
        return "is an absolute path"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of its directory with '..'"
    if "" in parts or "." in parts:
        return "has an empty part or a '.' in its path"
    if len(path.encode()) > _LENGTH or len(parts) > _DEPTH:
        return f"is longer than {_LENGTH} bytes or deeper than {_DEPTH} directories"
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
    parts = path.removesuffix("/").split("/")
    for length in range(1, len(parts) + 1):
        prefix, is_file = "/".join(parts[:length]), length == len(parts) and not path.endswith("/")
        spelled, was_file = seen.setdefault(_fold(prefix), (prefix, is_file))
        if spelled != prefix:
            return f"collides with {spelled!r} where case does not count"
        if was_file != is_file:
            return f"needs {prefix!r} to be both a file and a directory"
    return None


def repeated(paths: Iterable[str]) -> Iterator[str]:
    """Yield every path that was there before, once for each repetition."""
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            yield path
        seen.add(path)


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
