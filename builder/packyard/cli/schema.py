"""Print the JSON Schema of a file that authors write, for editors and for checks without packyard.

packyard schema package >package.schema.json        package.yaml
packyard schema workspace                           packyard.yaml
packyard schema krmfile                             a Krmfile

An editor with a YAML language server takes it from the file's first line:
# yaml-language-server: $schema=../../package.schema.json
"""

from __future__ import annotations

import argparse

from packyard.cli import output
from packyard.source import schemas


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", choices=schemas.NAMES, help="which file")


def run(arguments: argparse.Namespace) -> int:
    """Print a schema."""
    output.data(schemas.read(arguments.file))
    return 0
