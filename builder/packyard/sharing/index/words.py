"""The words that a package is found by: those of its name, of the facts of its model and of its description."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packyard.sharing.index.package import Package

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 40  # characters of a word
_MOST = 100  # words of a package


def split(text: str) -> list[str]:
    """Return the words in a text as they are compared: ``FP32-training`` has ``fp32`` and ``training``."""
    return [word[:_LONGEST] for word in _WORD.findall(text.casefold())]


def of(package: Package) -> dict[str, None]:
    """Return the words of a package, each once."""
    text = " ".join((package.name, *package.model.values(), package.description))
    return dict.fromkeys(islice(split(text), _MOST))


def keys(package: Package) -> dict[str, object]:
    """Return the entries of a package in the map of words: ``word name``, without a value of their own."""
    return dict.fromkeys((f"{word} {package.name}" for word in of(package)), "")
