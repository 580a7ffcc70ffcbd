"""References to bundles, ``NAME@VERSION``: which names and versions are allowed, and how versions are ordered.

A version has one spelling in a channel: ``1.2``, ``1.2.0`` and ``v1.2.0`` are the same version (`identity`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packyard.errors import InputError, Problem

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z._+-]{0,126}")
_CHOICE = re.compile(r"latest|stable|newest|sha256:[0-9a-f]*|[\^~<>=!*0-9v][0-9A-Za-z._+^~<>=!*|, -]*")
_PARTS = re.compile(r"v?(?P<release>[0-9]+(?:[._][0-9]+)*)(?P<rest>[^+]*)")
_WORDS = re.compile(r"[0-9]+|[A-Za-z]+")

Identity = tuple[tuple[int, ...], int, tuple[Any, ...]]
Order = tuple[Identity, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a user asks for; without a version the latest one.

    ``choice`` is a range of versions, such as ``^1``, which is not supported yet.
    """

    name: str
    version: str | None = None
    choice: str = ""

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read ``NAME`` or ``NAME@VERSION``."""
        name, at, version = text.partition("@")
        check_name(name)
        if not at:
            return cls(name=name)
        if not _VERSION.fullmatch(version) and len(version) < 128 and _CHOICE.fullmatch(version):
            return cls(name=name, choice=version)
        check_version(version)
        return cls(name=name, version=version)

    def check_choice(self, versions: Sequence[str] = ()) -> None:
        """Refuse a ``choice``, naming the latest of the ``versions`` that exist, and the last few."""
        if self.choice:
            latest = max(versions, key=newest, default="1.0")
            there = f"; it has {', '.join(reversed(versions[-5:]))}" if versions else ""
            hint = f"give a version: packyard get {self.name}@{latest}{there}"
            raise InputError(Problem(f"packyard cannot choose {self.choice!r} yet", hint=hint))

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


def check_name(name: str) -> None:
    """Refuse a name that is not a DNS label (RFC 1123): it is used for directories, keys and objects."""
    if not _NAME.fullmatch(name):
        hint = "use up to 63 lower case letters, digits and '-', with a letter or digit at both ends"
        raise InputError(Problem(f"{name[:80]!r} is not a name for a bundle", hint=hint))


def check_version(version: str) -> None:
    """Refuse what cannot be a version and a directory of a channel; its spelling (``2.7.0``, ``v2_7_0``) is free."""
    if not _VERSION.fullmatch(version):
        hint = "use a form such as 2.7.0, v2.7.0 or 2.7.0-rc.1"
        raise InputError(Problem(f"{version[:80]!r} is not a version", hint=hint))


def identity(version: str) -> Identity:
    """Return a key that is equal for all spellings of a version, and sorts versions as people expect.

    Numbers count as numbers, a pre-release comes before its release, ``dev`` before ``alpha``, ``post`` after the
    release: 1.9 < 1.10.dev1 < 1.10-alpha < 1.10-alpha.2 < 1.10-rc1 < 1.10 < 1.10.post1. A leading ``v``, zeros at the
    end, the separators, the case of letters and build metadata (``+…``) do not count.
    """
    check_version(version)
    match = _PARTS.match(version)
    assert match  # every version has these parts
    release = [int(number) for number in re.split("[._]", match["release"])]
    while release and release[-1] == 0:
        release.pop()
    words = _WORDS.findall(match["rest"].lower())
    stage = 0 if not words else 1 if words[0] == "post" else -1
    ranks: list[Any] = []  # Semantic Versioning 2.0.0, section 11.4: numbers before words; and dev before all
    for word in words:
        ranks += (0, int(word), "") if word.isdigit() else (-1, 0, "") if word == "dev" else (1, 0, word)
    return tuple(release), stage, tuple(ranks)


def order(version: str) -> Order:
    """Return the key that sorts by `identity`, and spellings of one version by their text."""
    return identity(version), version


def newest(version: str) -> tuple[bool, Order]:
    """Return the key whose maximum is the latest version: every pre-release is lower than every other version."""
    key = order(version)
    return key[0][1] >= 0, key


def same(asked: str, version: str) -> bool:
    """Return whether a version is the one asked for, in any spelling; build metadata must match if it is given."""
    return identity(asked) == identity(version) and asked.partition("+")[2] in ("", version.partition("+")[2])
