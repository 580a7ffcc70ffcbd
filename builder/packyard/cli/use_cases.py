"""What is printed of the use cases of a package."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from packyard.cli import output
from packyard.core.bundle import address
from packyard.core.bundle.manifest import Manifest

#: What stands before the lines on a use case.
INDENT = "    "


def names(manifest: Manifest) -> dict[str, str]:
    """Return the short name of each use case by its path, in the order of work."""
    paths = manifest.deployed()
    return dict(zip(paths, address.shortened(paths), strict=True))


def sentence(description: str, indent: str = "") -> Sequence[str]:
    """Return a sentence as the terminal has room for it."""
    return filled(description, indent, indent)


def filled(text: str, first: str, rest: str) -> list[str]:
    """Return the lines of a text between its words; ``first`` and ``rest`` are what they begin with."""
    room = min(output.size()[0], 100)
    return wrap(
        text, room, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
