"""Print packyard's version."""

from __future__ import annotations

import argparse

from packyard import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take no arguments."""


def run(_arguments: argparse.Namespace) -> int:
    """Print it."""
    print(f"packyard {__version__}")
    return 0
