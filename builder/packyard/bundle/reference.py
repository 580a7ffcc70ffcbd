"""How bundles are called: ``NAME@VERSION``; which names and versions are allowed, and which version is later."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packyard.errors import InputError, Problem

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z._+-]{0,126}")
_PARTS = re.compile(r"v?(?P<release>[0-9]+(?:[._][0-9]+)*)(?P<rest>[^+]*)")
_WORDS = re.compile(r"[0-9]+|[A-Za-z]+")

Order = tuple[tuple[int, ...], int, tuple[tuple[int, int, str], ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a user asks for; without a version it means the latest."""

    name: str
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read ``NAME`` or ``NAME@VERSION``."""
        name, at, version = text.partition("@")
        check_name(name)
        if at:
            check_version(version)
        return cls(name=name, version=version if at else None)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


def check_name(name: str) -> None:
    """Refuse what is not a DNS label (RFC 1123): a bundle's name is used for directories, keys and objects."""
    if not _NAME.fullmatch(name):
        hint = "use up to 63 lower case letters, digits and '-', with a letter or digit at both ends"
        raise InputError(Problem(f"{name!r} is not a name for a bundle", hint=hint))


def check_version(version: str) -> None:
    """Refuse what cannot be a version and a directory of a channel; the spelling (``2.7.0``, ``v2_7_0``) is kept."""
    if not _VERSION.fullmatch(version):
        hint = "use a form such as 2.7.0, v2.7.0 or 2.7.0-rc.1"
        raise InputError(Problem(f"{version!r} is not a version", hint=hint))


def order(version: str) -> Order:
    """Return the key that sorts versions as people expect.

    Numbers count as numbers, a pre-release comes before its release, ``dev`` before ``alpha``, ``post`` after the
    release: 1.9 < 1.10.dev1 < 1.10-alpha < 1.10-alpha.2 < 1.10-rc1 < 1.10 < 1.10.post1. Build metadata (``+…``) and
    a leading ``v`` do not count but where nothing else tells two versions apart.
    """
    match = _PARTS.match(version)
    if match is None:
        raise InputError(f"{version!r} is not a version")
    release = [int(number) for number in re.split("[._]", match["release"])]
    while release and release[-1] == 0:
        release.pop()
    words = _WORDS.findall(match["rest"])
    stage = 0 if not words else 1 if words[0] == "post" else -1
    return tuple(release), stage, tuple(map(_rank, words)), version


def is_prerelease(version: str) -> bool:
    """Say whether ``version`` comes before the release that it names."""
    return order(version)[1] < 0


def _rank(word: str) -> tuple[int, int, str]:
    """Rank as Semantic Versioning 2.0.0 section 11.4 does, numbers below words, and ``dev`` below all."""
    if word.isdigit():
        return 0, int(word), ""
    return (-1, 0, "") if word == "dev" else (1, 0, word)
