"""Real paths of many files at once."""

from __future__ import annotations

import os
from collections.abc import Iterable


def real_paths(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return each path as `os.path.realpath` does, but look at the folders that several share once only."""
    folders: dict[str, str] = {}
    found = []
    for given in paths:
        path = os.fspath(given)
        folder, _, name = path.rpartition("/")
        if not folder or name in ("", ".", "..") or os.path.islink(path):
            found.append(os.path.realpath(path))
            continue
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        found.append(os.path.join(folders[folder], name))
    return found
