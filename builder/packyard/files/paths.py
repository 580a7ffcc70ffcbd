"""The gate for paths: what somebody names lies below the root that the user named, whatever links say.

    inside("/pkg", "multi-node/cm.yaml")   ->  "/pkg/multi-node/cm.yaml"
    inside("/pkg", "../.profile")          refused: it leads out
    inside("/pkg", "d/cm.yaml")            refused where d is a link to a folder outside of /pkg

And the names that no package may bring, as packyard, a version control system or a file system gives them a meaning.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator

from packyard.errors import InputError, PackyardError, Problem
from packyard.files import regular

# Patterns as texts, which are compiled where they are used: `set` starts without.
_PACKYARDS = r"(?is)\.packyard-.*|.*\.packyard-new"
_VERSION_CONTROL = {".git", ".hg", ".svn", ".bzr", "git~1"}  # the last is what Windows calls the first
_DEVICE = r"(?is)(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?"
_SIGNS = r'[<>:"|?*\\]'
_MANIFEST = "packyard.json"
_MANIFEST_LIMIT = 4 << 20  # of the catalogue's the largest has 90 KB


def reserved(part: str) -> str:
    """Say why no package may bring a file or folder of this name; an empty text where it may."""
    plain = part.rstrip(". ")
    if re.fullmatch(_PACKYARDS, plain):
        return "is a name that packyard keeps for its own work"
    if plain.casefold() in _VERSION_CONTROL:
        return "is a folder of a version control system, which runs commands that it finds there"
    if found := re.search(_SIGNS, part):
        return f"has the character {found[0]!r}, which some file systems cannot hold"
    if plain != part:
        return "ends in a dot or a blank, which some file systems drop"
    if re.fullmatch(_DEVICE, plain):
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


def above(folder: str) -> Iterator[str]:
    """Yield the folders above a real one, nearest first, up to the first that somebody but its user and root rules.

    What stands in one that all may write, /tmp say, may be anybody's.
    """
    while (parent := os.path.dirname(folder)) != folder:
        try:
            state = os.stat(parent)
        except OSError:
            return
        if state.st_uid not in (os.geteuid(), 0) or state.st_mode & stat.S_IWOTH:
            return
        yield parent
        folder = parent


def root_of(directory: str | os.PathLike[str]) -> str:
    """Return the real folder that what is done to a directory has to stay in: the bundle that it is of, or itself."""
    here = os.path.realpath(directory)
    for folder in above(here):
        if os.path.lexists(f"{folder}/{_MANIFEST}") and _lists(f"{folder}/{_MANIFEST}", here[len(folder) :].strip("/")):
            return folder
    return here


def _lists(manifest: str, folder: str) -> bool:
    """Say whether a manifest lists a file below a folder."""
    try:
        document = json.loads(regular.read(manifest, limit=_MANIFEST_LIMIT))
    except (PackyardError, ValueError, RecursionError):
        return False
    files = document.get("files") if isinstance(document, dict) else None
    return isinstance(files, dict) and any(path.startswith(f"{folder}/") for path in files)
