"""Where paths lead: whatever a package names has to lie below the root that the user named, links included.

outside("/pkg", "/pkg/multi-node/cm.yaml")   ->  ""
outside("/pkg", "/pkg/../.profile")          ->  "/.profile"
outside("/pkg", "/pkg/d/cm.yaml")            ->  "/tmp/cm.yaml" where d is a link to /tmp
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

#: Describes the package whose root it is in.
MANIFEST = "packyard.json"
#: Says beside it where the package is from (`core.bundle.receipt`).
RECEIPT = ".packyard.json"
#: The file of a workspace.
WORKSPACE = "packyard.yaml"
#: The folders of a package of what its use cases may add, and of the programs that they share: Components, all of them.
OPTIONS, PROGRAMS = "options", "programs"
_HIGHEST = 8  # folders above a use case that are looked at where no packyard.json says which package it is of


def outside(root_dir: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    """Return where a path leads if that is outside of a root, else an empty text; it need not exist yet."""
    real = os.path.realpath(path)
    return "" if is_inside(real, os.path.realpath(root_dir)) else real


def is_inside(real: str, root: str) -> bool:
    """Return whether a real path is a real folder or lies below it."""
    return real == root or real.startswith(os.path.join(root, ""))


def below(path: str, root: str) -> str:
    """Return the way from a folder to one below it; an empty text for itself."""
    way = os.path.relpath(path, root)
    return "" if way == os.curdir else way


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


def package_of(directory: str | os.PathLike[str]) -> str:
    """Return the real folder that a use case's components must be in."""
    root = root_of(directory)
    if os.path.lexists(f"{root}/{MANIFEST}"):
        return root
    folders = islice(above(os.path.realpath(directory)), _HIGHEST)
    places = ((folder, f"{folder}/{name}") for folder in folders for name in (OPTIONS, PROGRAMS))
    return next((folder for folder, place in places if os.path.isdir(place) and not os.path.islink(place)), root)


def seen(directory: str | os.PathLike[str], real: str) -> str:
    """Return the path of a real folder as it is seen from a directory: by the words that the user named that with."""
    path = os.path.join(directory, os.path.relpath(real, os.path.realpath(directory)))
    short = os.path.normpath(path)
    return short if os.path.realpath(short) == os.path.realpath(path) else path
