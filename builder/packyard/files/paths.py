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

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from typing import Literal

#: What nobody sees in a name, HFS+ neither, which knows no case: ``.g\u200cit`` is ``.git`` there.
_UNSEEN = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF))
# Patterns are texts, which are compiled where they are used: `set` starts without.
# Controls, backslash (a separator elsewhere), line separators, marks that reorder text on a screen, lone surrogates.
_FORBIDDEN = "[\x00-\x1f\x7f-\x9f\\\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_SIGNS = r'[<>:"|?*]'
_PACKYARDS = r"\.packyard-.*|.*\.packyard-new"
_VERSION_CONTROL = r"\.(git|hg|svn|bzr)"
_DEVICE = r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\..*)?"
_SHORT = r"(git|hg|svn|bzr|packya)~[0-9]+(\..*)?"  # what Windows calls a longer name that begins so
#: What a kustomization may be called.
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MANIFEST = "packyard.json"
_MANIFEST_LIMIT = 4 << 20  # of the catalogue's the largest has 90 KB


def reserved(part: str) -> str:
    """Say why no package may bring a file or folder of this name; an empty text where it may."""
    if found := re.search(_FORBIDDEN, part):
        return f"has the character {found[0]!r} in its name"
    plain = fold(part, "NFKC").rstrip(". ")
    if re.fullmatch(_PACKYARDS, plain):
        return "is a name that packyard keeps for its own work"
    if re.fullmatch(_SHORT, plain):
        return "is what Windows calls a folder of a version control system or of packyard"
    if re.fullmatch(_VERSION_CONTROL, plain):
        return "is a folder of a version control system, which runs commands that it finds there"
    if found := re.search(_SIGNS, part):
        return f"has the character {found[0]!r}, which some file systems cannot hold"
    if part.endswith((".", " ")):
        return "ends in a dot or a blank, which some file systems drop"
    if re.fullmatch(_DEVICE, plain):
        return "is the name of a device on Windows"
    return ""


def fold(name: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return what is equal for names that are one on some file system: case, normalization, what is not seen."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize(form, normalize(form, name.translate(_UNSEEN)).casefold())


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


def _real_path(path: str, folders: dict[str, str]) -> str:
    folder, _, name = path.rpartition("/")
    if not folder or name in ("", ".", "..") or os.path.islink(path):
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


class Gate:
    """Says of many paths which lead out of a root; ``folders`` are the real paths that are known already."""

    def __init__(self, root_dir: str | os.PathLike[str], folders: dict[str, str]) -> None:
        self._root = os.path.realpath(root_dir)
        self._below = os.path.join(self._root, "")
        self._folders = folders
        self._inside: set[str] = set()

    def outside(self, path: str) -> str:
        """Return where a path leads, if that is not below the root; an empty text otherwise."""
        if path in self._inside:
            return ""
        real = _real_path(path, self._folders)
        if real != self._root and not real.startswith(self._below):
            return real
        self._inside.add(path)
        return ""
