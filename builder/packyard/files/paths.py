"""The gate for paths: what somebody names lies below the root that the user named, whatever links say.

    inside("/pkg", "multi-node/cm.yaml")   ->  "/pkg/multi-node/cm.yaml"
    inside("/pkg", "../.profile")          refused: it leads out
    inside("/pkg", "d/cm.yaml")            refused where d is a link to a folder outside of /pkg

And the names that no package may bring, as packyard, a version control system or a file system gives them a meaning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from packyard.errors import InputError, Problem

_PACKYARDS = re.compile(r"\.packyard-.*|.*\.packyard-new", re.DOTALL | re.IGNORECASE)
_VERSION_CONTROL = {".git", ".hg", ".svn", ".bzr", "git~1"}  # the last is what Windows calls the first
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.DOTALL | re.IGNORECASE)
_SIGNS = re.compile(r'[<>:"|?*\\]')


def reserved(part: str) -> str:
    """Say why no package may bring a file or folder of this name; an empty text where it may."""
    plain = part.rstrip(". ")
    if _PACKYARDS.fullmatch(plain):
        return "is a name that packyard keeps for its own work"
    if plain.casefold() in _VERSION_CONTROL:
        return "is a folder of a version control system, which runs commands that it finds there"
    if found := _SIGNS.search(part):
        return f"has the character {found[0]!r}, which some file systems cannot hold"
    if plain != part:
        return "ends in a dot or a blank, which some file systems drop"
    if _DEVICE.fullmatch(plain):
        return "is the name of a device on Windows"
    return ""


def inside(root_dir: str | os.PathLike[str], path: str) -> str:
    """Return the real path of ``path`` below a root, which need not be there yet.

    Raises `InputError` where it is absolute, has a ``..``, or leads outside of the real root by a link.
    """
    named = os.path.join(root_dir, path)
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:
        raise InputError(Problem(f"leads out of {os.fspath(root_dir)}", file=named))
    root, real = os.path.realpath(root_dir), os.path.realpath(named)
    if real != root and not real.startswith(os.path.join(root, "")):
        raise InputError(Problem(f"leads to {real}, outside of {os.fspath(root_dir)}", file=named))
    return real


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
