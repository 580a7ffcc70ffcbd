"""Flags that many verbs share: what is written, what is listed, and how much is printed."""

from __future__ import annotations

import argparse

from packyard.cli.colors import MODES


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dry-run``."""
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Declare ``--libraries``."""
    parser.add_argument("--libraries", action="store_true", help="libraries that packages are built on, not packages")


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet``, ``--verbose`` and ``--color``; ``packyard -q VERB`` means the same."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print results and problems only")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print files, requests and programs in use")
    text = "whether messages, tables and diffs are colored (default: auto, on a terminal without NO_COLOR)"
    parser.add_argument("--color", choices=MODES, help=text)
