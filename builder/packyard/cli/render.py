"""Print a use case's manifests, for `kubectl apply -f -`; refused while a required value is not set."""

from __future__ import annotations

import argparse
import os

from packyard.cli import arguments as shared
from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.files.tree import Tree
from packyard.render.render import render
from packyard.yaml.node import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser)
    shared.add_output(parser, "yaml", "json")
    parser.add_argument(
        "--built-in", action="store_true", help="use packyard's own builder even if kustomize or kubectl is on PATH"
    )


def run(arguments: argparse.Namespace) -> int:
    """Render with kustomize or kubectl from PATH, otherwise with packyard's own builder."""
    directory = directories.only(arguments.words, "render")
    state.tell_pending(Tree(directory))
    path = "" if arguments.built_in else os.environ.get("PATH", "")
    rendered = render(directory, path=path)
    if arguments.output == "json":
        from packyard.render import objects

        output.json_result([item.root for item in objects.parse(Source("", rendered.decode()))])
        return 0
    output.data(rendered)
    return 0
