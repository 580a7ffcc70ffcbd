"""Arguments that many verbs share: the form of results, and how much is printed."""

from __future__ import annotations

import argparse

#: The forms of a result; each JSON result is a list of objects.
FORMS = ("text", "json")


def add_output(parser: argparse.ArgumentParser, *forms: str) -> None:
    """Declare ``--output``; the first form is the default."""
    forms = forms or FORMS
    parser.add_argument("-o", "--output", choices=forms, default=forms[0], help=f"output format (default: {forms[0]})")


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dry-run``."""
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")


def add_wide(parser: argparse.ArgumentParser) -> None:
    """Declare ``--wide``."""
    parser.add_argument("--wide", action="store_true", help="print each row on one line, with all its text")


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Declare ``--libraries``."""
    parser.add_argument("--libraries", action="store_true", help="libraries that packages are built on, not packages")


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet`` and ``--verbose``; ``packyard -q VERB`` means the same."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print results and problems only")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print files, requests and programs in use")
