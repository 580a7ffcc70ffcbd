"""Print a use case's manifests, for `kubectl apply -f -`; refused while something that is required is not set."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from packyard.cluster.render import render
from packyard.files import journal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".")
    parser.add_argument(
        "--built-in", action="store_true", help="build it ourselves, though a kustomize or kubectl is here"
    )


def run(arguments: argparse.Namespace) -> int:
    """Render by the kustomize or kubectl on PATH, else by our own build."""
    directory = Path(arguments.directory)
    journal.finish(directory, [])
    path = "" if arguments.built_in else os.environ.get("PATH", "")
    sys.stdout.buffer.write(render(directory, path=path))
    return 0
