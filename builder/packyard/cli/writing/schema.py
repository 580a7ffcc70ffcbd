"""Print the JSON Schema of a file that authors write, for editors and for checks without packyard.

packyard schema package >package.schema.json        package.yaml
packyard schema workspace                           packyard.yaml
packyard schema pods                                pods.yaml, a patch of pods
packyard schema krmfile                             a Krmfile
packyard schema test                                packages/NAME/tests/*.yaml

An editor with a YAML language server takes it from the file's first line:
# yaml-language-server: $schema=../../package.schema.json
"""

from __future__ import annotations

import argparse

from packyard.cli import output
from packyard.core.errors import UsageError, suggest
from packyard.writing.source import schemas


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help=" or ".join(schemas.NAMES))


def run(arguments: argparse.Namespace) -> int:
    """Print a schema."""
    if arguments.name not in schemas.NAMES:
        hint = suggest(arguments.name, schemas.NAMES) or f"there are {', '.join(schemas.NAMES)}"
        raise UsageError(f"packyard schema: no schema {arguments.name!r} ({hint})")
    output.data(schemas.read(arguments.name))
    return 0
