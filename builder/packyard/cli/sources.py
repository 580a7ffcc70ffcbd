"""Which sources a command line means: the workspace around the working directory, else the catalogue carried along."""

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


def find(arguments: argparse.Namespace) -> Workspace:
    """Return the workspace that the arguments name or imply."""
    if arguments.workspace:
        return workspace.read(Path(arguments.workspace))
    return workspace.find(Path.cwd()) or workspace.built_in()
