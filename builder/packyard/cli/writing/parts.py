"""List the bases and overlays that packages of the workspace can be made of, with what each needs and defines."""

from __future__ import annotations

import argparse

from packyard.cli import workspaces
from packyard.cli.rows import Rows
from packyard.writing.source import offered
from packyard.writing.source.workspace import OVERLAYS

ROWS = Rows(
    "part",
    "kind, name, folder, description, objects, defines, needs",
    columns="NAME, KIND, OBJECTS, WHAT IT IS=description, NEEDS, DEFINES",
)
_CELLS = {
    "NEEDS": lambda row: f"needs {', '.join(row['needs'])}" if row["needs"] else "",
    "DEFINES": lambda row: f"defines {', '.join(row['defines'])}" if row["defines"] else "",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    kinds = (offered.BASE, *OVERLAYS)
    parser.add_argument("--kind", choices=kinds, help="only parts of this kind")
    workspaces.add_argument(parser, carried=True)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each part."""
    parts = offered.find(workspaces.find(arguments, carried=True))
    parts = [each for each in parts if arguments.kind in (None, each.kind)]
    ROWS.show(parts, arguments.output, cells=_CELLS)
    return 0
