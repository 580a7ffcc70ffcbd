"""Print packyard's version."""

from __future__ import annotations

from collections.abc import Sequence

from packyard import __version__
from packyard.errors import UsageError


def main(words: Sequence[str]) -> int:
    """Print it; there is nothing to choose."""
    if words and list(words) != ["--help"]:
        raise UsageError("packyard version: takes no arguments")
    print(f"packyard {__version__}" if not words else __doc__)
    return 0
