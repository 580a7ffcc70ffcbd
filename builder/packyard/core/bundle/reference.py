"""References to bundles, ``NAME@VERSION``: which names and versions are allowed, and how versions are ordered.

A version has one spelling in a channel: ``1.2``, ``1.2.0`` and ``v1.2.0`` are the same version (`identity`).
"""

import re
from dataclasses import dataclass
from typing import Any

from packyard.core.errors import InputError, Problem

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z._+-]{0,126}")
LATEST = "latest"
_RANGES = ("^", "~")
_PARTS = re.compile(r"v?(?P<release>[0-9]+(?:[._][0-9]+)*)(?P<rest>[^+]*)")
_WORDS = re.compile(r"[0-9]+|[A-Za-z]+")

Identity = tuple[tuple[int, ...], int, tuple[Any, ...]]
Order = tuple[Identity, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a user asks for: a version, or a ``choice`` among the versions, or without both the latest one.

    A choice is ``latest``, or a range such as ``^1.2`` (up to the next number that breaks, 2.0) and ``~1.2.0`` (up to
    the next minor one, 1.3).
    """

    name: str
    version: str | None = None
    choice: str = ""

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Read ``NAME``, ``NAME@VERSION``, ``NAME@^1.2``, ``NAME@~1.2.0`` or ``NAME@latest``."""
        if is_address(text):
            raise refusal(text)
        name, at, version = text.partition("@")
        check_name(name)
        if not at:
            return cls(name=name)
        if version == LATEST or (version[:1] in _RANGES and is_version(version[1:])):
            return cls(name=name, choice=version)
        if not is_version(version):
            raise InputError(
                Problem(f"{version[:80]!r} is not a version", hint="ask for 1.2.0, ^1.2, ~1.2.0 or latest")
            )
        return cls(name=name, version=version)

    def admits(self, version: str) -> bool:
        """Return whether a version is one of those that are asked for, by their numbers.

        A range has no pre-release, but for those of the version that it begins with, if that is one.
        """
        if self.version is not None:
            return identity(self.version) == identity(version)
        if self.choice[:1] not in _RANGES:
            return True
        low, candidate = identity(self.choice[1:]), identity(version)
        if candidate[1] < 0 and (low[1] >= 0 or candidate[0] != low[0]):
            return False
        return low <= candidate and candidate[0] < _end(self.choice)

    def __str__(self) -> str:
        choice = self.version or self.choice
        return f"{self.name}@{choice}" if choice else self.name


def split(text: str) -> tuple[Reference, str]:
    """Read ``NAME[@VERSION][/USECASE]``: a package, and what is named in it."""
    text = text.removeprefix("./")
    package, _, use_case = (text, "", "") if is_address(text) else text.partition("/")
    return Reference.parse(package), use_case.strip("/")


def is_address(text: str) -> bool:
    """Return whether a text is the address or the path of a bundle: the name of one has no dot."""
    first, slash, _ = text.partition("/")
    is_path = slash and (not first or "." in first.partition("@")[0] or "://" in text)
    return bool(is_path) or text.endswith(".tar.gz")


def refusal(text: str) -> InputError:
    """Return the error for an address or a path in place of a name; an address may hold a password."""
    channel, _, name = text.rpartition("/")
    channel, name = "oci://" * (":" in name and "://" not in text) + channel, name.replace(":", "@")
    is_plain = is_name(name.partition("@")[0]) and channel.strip("./") and "@" not in channel and channel[-2:] != ":/"
    hint = f"name it and its channel: {f'{name} --from {channel}' if is_plain else 'NAME@VERSION --from CHANNEL'}"
    if text.endswith(".tar.gz") and "://" not in text:
        hint = f"tar xzf {text} unpacks the file, packyard verify {text} checks it"
    return InputError(Problem("a package is not named by an address or a file", hint=hint))


def is_name(text: str) -> bool:
    """Return whether a text is the name of a bundle."""
    return _NAME.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """Return whether a text is a version."""
    return _VERSION.fullmatch(text) is not None


def _end(choice: str) -> tuple[int, ...]:
    """Return the first numbers that are no longer in a range: 1.3 for ~1.2 and ~1.2.5, 2 for ^1.2, 0.3 for ^0.2.1."""
    match = _PARTS.match(choice[1:])
    assert match
    numbers = [int(number) for number in re.split("[._]", match["release"])]
    last = len(numbers) - 1
    first = next((place for place, number in enumerate(numbers) if number), last)
    raised = first if choice[0] == "^" else min(1, last)
    return (*numbers[:raised], numbers[raised] + 1)


def check_name(name: str) -> None:
    """Refuse a name that is not a DNS label (RFC 1123): it is used for directories, keys and objects."""
    if not _NAME.fullmatch(name):
        hint = "use up to 63 lower case letters, digits and '-', with a letter or digit at both ends"
        corrected = re.sub("==?|:", "@", name.strip(" /").lower().replace("_", "-"), count=1)
        if is_name(corrected.partition("@")[0]) and corrected != name:
            hint = f"did you mean {corrected!r}?"
        raise InputError(Problem(f"{name[:80]!r} is not a name for a package", hint=hint))


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


def canonical(version: str) -> str:
    """Return one text for all spellings of a version: ``1.2`` for ``v1.2.0``, ``1.2-rc-1`` for ``1.2.0.RC1``."""
    release, _, ranks = identity(version)
    words = ["dev" if kind < 0 else word or str(number) for kind, number, word in zip(*[iter(ranks)] * 3, strict=True)]
    return "-".join([".".join(map(str, release)) or "0", *words])


def order(version: str) -> Order:
    """Return the key that sorts by `identity`, and spellings of one version by their text."""
    return identity(version), version


def newest(version: str) -> tuple[bool, Order]:
    """Return the key whose maximum is the latest version: every pre-release is lower than every other version."""
    key = order(version)
    return key[0][1] >= 0, key
