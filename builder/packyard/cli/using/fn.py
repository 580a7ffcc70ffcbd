"""KRM functions: read a ResourceList on standard input, print the result on standard output.

  packyard fn apply-setters    set every field whose comment names a setter, by the values of the function config
  packyard fn create-setters   add a comment to every field that has a value of the function config
  packyard fn list-setters     list the setters

kpt and kustomize run them:

  kpt fn eval DIR --exec "packyard fn apply-setters" -- NAME=VALUE...
  kpt fn render DIR --allow-exec       with exec: packyard fn apply-setters in the Kptfile's pipeline
"""

from __future__ import annotations

import argparse

from packyard.cli import output, streams
from packyard.using.setters.kpt import function


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("function", metavar="FUNCTION", choices=tuple(function.FUNCTIONS))


def run(arguments: argparse.Namespace) -> int:
    """Print the whole result in one write: kpt deletes the package if it reads nothing."""
    outcome = function.run(arguments.function, output.read("a ResourceList"))
    output.data(outcome.output)
    streams.flush()
    for result in outcome.results:
        if result.severity in ("error", "warning"):
            output.marked(result.severity, result.message)
    return 1 if outcome.failed else 0
