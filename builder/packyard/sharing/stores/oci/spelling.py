"""Which repository and tag a key has, and which key a tag has: no two keys share one.

    1.2.0+cpu/bert.tar.gz              PATH/bert:1.2.0_-cpu                  a bundle
    1.2.0+cpu/bert.tar.gz.spdx.json    PATH/bert:1.2.0_-cpu_.spdx.json       what was published with it
    index/index.json                   PATH/index:index.json
    index.html                         PATH/index:_.x_.index.html            any other key
    a key that is too long for a tag   PATH/index:_.long_.<SHA-256>          its manifest has the key

PATH/index:_.name_.bert says that there is a repository for bert: registries cannot be asked which ones there are below
a path. No text is spelled with ``_.`` before a letter, so that what begins so means only what is said here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from packyard.sharing.entry import CHECKSUM, PROVENANCE, SBOM, SIGSTORE
from packyard.sharing.stores.oci.address import spell, unspell

INDEX = "index"
#: The tag that says that objects were removed where nothing can be deleted.
REMOVED = "_.removed"

_RELEASE = r"v?[0-9][0-9A-Za-z._+-]*"
_KINDS = ("", CHECKSUM, PROVENANCE, SBOM, SIGSTORE)
_ENDS = "|".join(re.escape(kind) for kind in _KINDS)
_REPOSITORY = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_BUNDLE = re.compile(rf"({_RELEASE})/({_REPOSITORY})\.tar\.gz({_ENDS})")
_PUBLISHED = re.compile(rf"(.*?)(?:_({'|'.join(re.escape(kind) for kind in _KINDS if kind)}))?", re.DOTALL)
_OTHER, _LONG, _NAME = "_.x_.", "_.long_.", "_.name_."
_LONGEST = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A repository below the channel's path, and a tag; ``kind`` is the end of a bundle's key, None for other keys."""

    repository: str
    tag: str
    kind: str | None = field(default=None, compare=False)


def place(key: str) -> Place:
    """Return where a key is."""
    match = _BUNDLE.fullmatch(key)
    if match and match[2] != INDEX:
        tag, repository, kind = spell(match[1]) + ("_" + match[3] if match[3] else ""), match[2], match[3]
        return Place(repository=repository, tag=_short(tag, key), kind=kind)
    inside = key.removeprefix("index/")
    return Place(repository=INDEX, tag=_short(spell(inside) if inside != key else _OTHER + spell(key), key))


def bundle_of(key: str) -> str:
    """Return the key of the bundle that something was published with."""
    return key[: key.rindex(".tar.gz") + len(".tar.gz")]


def key(repository: str, tag: str) -> str | None:
    """Return the key of a tag, None for a tag that is not of a key, or of a long one."""
    if repository != INDEX:
        match = _PUBLISHED.fullmatch(tag)
        assert match  # any text has a beginning
        candidate = f"{unspell(match[1])}/{repository}.tar.gz{match[2] or ''}"
    elif tag.startswith(_OTHER):
        candidate = unspell(tag.removeprefix(_OTHER))
    else:
        candidate = f"index/{unspell(tag)}"
    return candidate if place(candidate) == Place(repository=repository, tag=tag) else None


def is_long(tag: str) -> bool:
    """Return whether only its manifest says which key a tag has."""
    return re.fullmatch(rf"{re.escape(_LONG)}[0-9a-f]{{64}}", tag) is not None


def name_tag(repository: str) -> str:
    """Return the tag, in the index's repository, that says that there is a repository."""
    return _NAME + repository


def named(tag: str) -> str | None:
    """Return the repository that a tag says to be there, None for any other tag."""
    match = re.fullmatch(rf"{re.escape(_NAME)}({_REPOSITORY})", tag)
    return match[1] if match else None


def _short(tag: str, key: str) -> str:
    return tag if len(tag) <= _LONGEST else _LONG + hashlib.sha256(key.encode()).hexdigest()
