"""How verbs declare their flags: a line for each, and the flags that many verbs have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packyard.cli.colors import MODES

if TYPE_CHECKING:
    import argparse


def switch(parser: argparse.ArgumentParser, flag: str, text: str) -> None:
    """Declare a flag that is on or off: ``--yes``, or ``-y --yes``."""
    parser.add_argument(*flag.split(), action="store_true", help=text)


def given(arguments: argparse.Namespace, *names: str) -> list[str]:
    """Return those of some switches that the user gave, ``--no-wait`` by ``no-wait``; a verb need not have all."""
    return [f"--{name}" for name in names if vars(arguments).get(name.replace("-", "_"))]


def value(parser: argparse.ArgumentParser, flag: str, text: str, **more: Any) -> None:
    """Declare a flag with a value, ``--role NAME``; its text says which it has by default, if that is not empty."""
    *names, metavar = flag.split()
    default = f" (default: {more['default']})" if more.get("default") else ""
    parser.add_argument(*names, metavar=metavar, help=text + default, **more)


def dry_run(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dry-run``."""
    switch(parser, "--dry-run", "print the changes as a diff; write nothing")


def libraries(parser: argparse.ArgumentParser) -> None:
    """Declare ``--libraries``."""
    switch(parser, "--libraries", "libraries that packages are built on, not packages")


def verbosity(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet``, ``--verbose`` and ``--color``; ``packyard -q VERB`` means the same."""
    switch(parser, "-q --quiet", "print results and problems only")
    switch(parser, "-v --verbose", "also print files, requests and programs in use")
    text = "whether messages, tables and diffs are colored (default: auto, on a terminal without NO_COLOR)"
    parser.add_argument("--color", choices=MODES, help=text)
