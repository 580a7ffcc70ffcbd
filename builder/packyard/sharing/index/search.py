"""Searching a channel by words, on the same static files that resolve names.

A word finds what begins with it. A package has to have all words, and a version that is not yanked. Whatever a channel
holds, a search of W words takes about 60 + 15 W small requests at most, and 1 MiB + W * 256 KiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem
from packyard.sharing.index import tree, words
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package

#: Packages that are shown at most, and words that may be asked for.
MOST, WORDS = 20, 10
_NAMES = 1000  # names that are read for a word: a few leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Packages that have all words, sorted by name; ``is_all`` is False where there may be more."""

    packages: tuple[Package, ...]
    is_all: bool


def search(listed: Index, texts: Sequence[str], kind: str = "") -> Matches:
    """Find the packages, or what else is of a kind, that have all words of some texts, in names, models, categories and
    descriptions.
    """
    asked = list(dict.fromkeys(word for text in texts for word in words.split(text)))
    if not 0 < len(asked) <= WORDS:
        raise InputError(
            Problem(f"expected 1 to {WORDS} words, found {len(asked)}", hint="write words such as: bert fp32")
        )
    found = {word: _names(listed, word) for word in asked}
    whole = [names for names, is_all in found.values() if is_all]
    candidates = set.intersection(*whole) if whole else min((names for names, _ in found.values()), key=len)
    is_all, packages = bool(whole), list[Package]()
    for read, name in enumerate(sorted(candidates)):
        if read == MOST:
            is_all = False
            break
        package = listed.package(name)
        if package is not None and package.latest and package.kind == kind and _has(package, asked):
            packages.append(package)
    return Matches(packages=tuple(packages), is_all=is_all)


def _names(listed: Index, word: str) -> tuple[set[str], bool]:
    """Return the names of packages with a word that begins so, and whether that is all of them."""
    names: set[str] = set()
    for number, (key, _) in enumerate(tree.scan(listed.head.words, listed.nodes.node, word)):
        if number == _NAMES:
            return names, False
        names.add(key.rpartition(" ")[2])
    return names, True


def _has(package: Package, asked: Sequence[str]) -> bool:
    own = words.of(package)
    return all(any(word.startswith(start) for word in own) for start in asked)
