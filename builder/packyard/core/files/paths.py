"""Where paths lead: whatever a package names has to lie below the root that the user named, links included.

outside("/pkg", "/pkg/multi-node/cm.yaml")   ->  ""
outside("/pkg", "/pkg/../.profile")          ->  "/.profile"
outside("/pkg", "/pkg/d/cm.yaml")            ->  "/tmp/cm.yaml" where d is a link to /tmp
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

#: Describes the package whose root it is in.
MANIFEST = "packyard.json"
#: Says beside it where the package is from (`core.bundle.receipt`).
RECEIPT = ".packyard.json"
#: The file of a workspace.
WORKSPACE = "packyard.yaml"


def outside(root_dir: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    """Return where a path leads if that is outside of a root, else an empty text; it need not exist yet."""
    real = os.path.realpath(path)
    return "" if is_inside(real, os.path.realpath(root_dir)) else real


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
