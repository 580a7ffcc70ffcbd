"""Which sources a command line means: the workspace around the working directory, else the catalogue carried along.

And which packages of them: those that it names, else all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.source import workspace
from packyard.source.workspace import Workspace


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--workspace``."""
    parser.add_argument(
        "--workspace", metavar="DIR", help="the folder with packyard.yaml (default: around here, else packyard's own)"
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """Declare ``NAME ...``, the packages."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="packages (default: all)")


def names(arguments: argparse.Namespace, workspace: Workspace) -> list[str]:
    """Return the packages that are asked for, each once."""
    return list(dict.fromkeys(arguments.names)) or workspace.package_names()


def find(arguments: argparse.Namespace) -> Workspace:
    """Return the workspace that the arguments name or imply."""
    if arguments.workspace:
        return workspace.read(Path(arguments.workspace))
    return workspace.find(Path.cwd()) or workspace.built_in()
