"""Where paths lead: whatever a package names has to lie below the root that the user named, links included.

inside("/pkg", "multi-node/cm.yaml")   ->  "/pkg/multi-node/cm.yaml"
inside("/pkg", "../.profile")          refused: it leads out
inside("/pkg", "d/cm.yaml")            refused where d is a link to a folder outside of /pkg
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from packyard.core.errors import InputError, Problem

#: Describes the package whose root it is in.
MANIFEST = "packyard.json"
#: Says beside it where the package is from (`core.bundle.receipt`).
RECEIPT = ".packyard.json"
#: The file of a workspace.
WORKSPACE = "packyard.yaml"


def inside(root_dir: str | os.PathLike[str], path: str) -> str:
    """Return the real path of ``path`` below a root; it need not exist yet.

    Raises `InputError` where it is absolute, has a ``..``, or leads outside of the real root by a link.
    """
    joined = os.path.join(root_dir, path)
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:
        raise InputError(Problem(f"leads out of {os.fspath(root_dir)}", file=joined))
    root, real = os.path.realpath(root_dir), os.path.realpath(joined)
    if not is_inside(real, root):
        raise InputError(Problem(f"leads to {real}, outside of {os.fspath(root_dir)}", file=joined))
    return real


def is_inside(real: str, root: str) -> bool:
    """Return whether a real path is a real folder or lies below it."""
    return real == root or real.startswith(os.path.join(root, ""))


def above(folder: str) -> Iterator[str]:
    """Yield the folders above a real one, nearest first, as long as they belong to the user, to root or to its owner.

    A file in a folder that everybody may write, such as /tmp, may be anybody's.
    """
    owners = {os.geteuid(), 0}
    with suppress(OSError):
        owners.add(os.stat(folder).st_uid)
    while (parent := os.path.dirname(folder)) != folder:
        try:
            state = os.stat(parent)
        except OSError:
            return
        if state.st_uid not in owners or state.st_mode & stat.S_IWOTH:
            return
        yield parent
        folder = parent


def root_of(directory: str | os.PathLike[str]) -> str:
    """Return the real folder that a change of a directory must not leave: its package, or the directory itself."""
    here = os.path.realpath(directory)
    return next((folder for folder in (here, *above(here)) if os.path.lexists(f"{folder}/{MANIFEST}")), here)


class Gate:
    """Checks many paths against one root."""

    def __init__(self, root_dir: str | os.PathLike[str]) -> None:
        self._root = os.path.realpath(root_dir)
        self._inside: set[str] = set()

    def outside(self, path: str) -> str:
        """Return where a path leads if that is outside the root, else an empty text."""
        if path in self._inside:
            return ""
        real = os.path.realpath(path)
        if not is_inside(real, self._root):
            return real
        self._inside.add(path)
        return ""
