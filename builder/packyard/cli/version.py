"""Print packyard's version."""

from __future__ import annotations

import argparse

from packyard import __version__
from packyard.cli.rows import Rows

ROWS = Rows("version", "version", line="packyard {version}")


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the flags of all verbs are enough."""


def run(arguments: argparse.Namespace) -> int:
    """Print the version."""
    ROWS.show([__version__], arguments.output)
    return 0
