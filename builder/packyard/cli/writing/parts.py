"""List the bases and overlays that packages of the workspace can be made of, with what each needs and defines."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from packyard.cli import arguments as shared
from packyard.cli import output, workspaces
from packyard.writing.source import offered
from packyard.writing.source.offered import Offered
from packyard.writing.source.workspace import OVERLAYS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    kinds = (offered.BASE, *OVERLAYS)
    parser.add_argument("--kind", choices=kinds, help="only parts of this kind")
    shared.add_output(parser)
    shared.add_wide(parser)
    workspaces.add_argument(parser, carried=True)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each part."""
    found = offered.find(workspaces.find(arguments, carried=True))
    found = [each for each in found if arguments.kind in (None, each.kind)]
    if arguments.output == "json":
        output.json_result([asdict(each) for each in found])
        return 0
    rows = [_row(each) for each in found]
    output.table(("NAME", "KIND", "OBJECTS", "WHAT IT IS", "NEEDS", "DEFINES"), rows, wide=arguments.wide, prose=3)
    return 0


def _row(part: Offered) -> tuple[str, ...]:
    needs = f"needs {', '.join(part.needs)}" if part.needs else ""
    defines = f"defines {', '.join(part.defines)}" if part.defines else ""
    return part.name, part.kind, ", ".join(part.objects), part.description, needs, defines
