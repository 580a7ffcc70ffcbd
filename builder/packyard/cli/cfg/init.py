"""`cfg init`: an empty Krmfile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import state
from packyard.cli.flags import Declared
from packyard.errors import ConflictError, UsageError
from packyard.setters.krmfile import EMPTY, NAME, create

FLAGS = Declared()


def init(words: Sequence[str]) -> int:
    """Make a directory a package; print nothing."""
    arguments = FLAGS.parse(words).arguments
    if len(arguments) > 1:
        raise UsageError(f"accepts between 0 and 1 arg(s), received {len(arguments)}")
    file = Path(*arguments) / NAME
    try:
        create(file)
    except ConflictError as error:
        raise UsageError(str(error)) from error
    state.keep(file.parent, "cfg init")({file: None}, {file: EMPTY})
    return 0
