"""Which names a package may bring: those that mean the same file on every file system, and have no special meaning.

A path is text with ``/``, relative to the package's folder. Nothing here touches a disk; `paths` follows links there.
"""

import re
from functools import lru_cache
from typing import Literal

#: Invisible characters, which HFS+ ignores: ``.g\u200cit`` is ``.git`` there.
_UNSEEN = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF))
# Patterns are compiled on first use, so that `set` starts without them.
# Controls, backslash (a separator elsewhere), line separators, marks that reorder text on a screen, lone surrogates.
_FORBIDDEN = "[\x00-\x1f\x7f-\x9f\\\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_SIGNS = r'[<>:"|?*]'
_PACKYARDS = r"\.packyard-.*|\.packyard\.json|.*\.packyard-new"
_VERSION_CONTROL = r"\.(git|hg|svn|bzr)"
_DEVICE = r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\..*)?"
_SHORT = r"(git|hg|svn|bzr|packya)~[0-9]+(\..*)?"  # the short names on Windows of longer names
_LENGTH, _DEPTH = 512, 32  # twice what ustar can hold: bounds the work for a hostile archive


@lru_cache(4096)  # the paths of a bundle consist of a few names
def reserved(part: str) -> str:
    """Return why no package may bring a file or folder of this name; empty if it may."""
    if match := re.search(_FORBIDDEN, part):
        return f"has the character {match[0]!r} in its name"
    plain = fold(part, "NFKC").rstrip(". ")
    if re.fullmatch(_PACKYARDS, plain):
        return "is a name that packyard reserves for itself"
    if re.fullmatch(_SHORT, plain):
        return "is the short name on Windows of a folder of a version control system or of packyard"
    if re.fullmatch(_VERSION_CONTROL, plain):
        return "is a folder of a version control system, which runs commands that it finds there"
    if match := re.search(_SIGNS, part):
        return f"has the character {match[0]!r}, which some file systems cannot hold"
    if part.endswith((".", " ")):
        return "ends in a dot or a space, which some file systems drop"
    if re.fullmatch(_DEVICE, plain):
        return "is the name of a device on Windows"
    return ""


def fold(name: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return a key that is equal for names that are one on some file system: case, normalization, invisible signs."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize(form, normalize(form, name.translate(_UNSEEN)).casefold())


def fault(path: str) -> str | None:
    """Return what is wrong with one path, or None.

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
        if reason := reserved(part):
            return reason if reason.startswith("has") else f"has a part {part!r}, which {reason}"
    return None


def claim(holders: dict[str, tuple[str, bool]], path: str) -> str | None:
    """Return what is wrong with a path beside those that were claimed before, or claim it; a folder's ends in ``/``.

    Two paths collide if a directory of one is a file in the other, or if they, or directories of theirs, differ only
    in case or in Unicode normalization: on macOS and Windows these are one. ``holders`` has how each was first spelled,
    folded, and whether it is a file.
    """
    prefix, is_file = path.removesuffix("/"), not path.endswith("/")
    while prefix:
        spelled, was_file = holder = holders.setdefault(fold(prefix), claimed := (prefix, is_file))
        if spelled != prefix:
            return f"collides with {spelled!r} on file systems that ignore case"
        if was_file != is_file:
            return f"needs {prefix!r} to be both a file and a directory"
        if holder is not claimed:
            return None  # the directories above it were claimed with it
        prefix, is_file = prefix.rpartition("/")[0], False
    return None
