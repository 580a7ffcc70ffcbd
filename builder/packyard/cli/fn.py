"""KRM functions: a ResourceList on standard input, the same with its fields set on standard output.

  packyard fn apply-setters    give setters the values of the configuration, in every field that a comment tags
  packyard fn create-setters   put a comment behind every field that shows a value of the configuration
  packyard fn list-setters     say what setters there are

kpt and kustomize start them:

  kpt fn eval DIR --exec "packyard fn apply-setters" -- NAME=VALUE...
  kpt fn render DIR --allow-exec       with exec: packyard fn apply-setters in the Kptfile's pipeline
"""

from __future__ import annotations

import argparse

from packyard.cli import output, streams
from packyard.setters.kpt import function


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("function", metavar="FUNCTION", choices=tuple(function.FUNCTIONS))


def run(arguments: argparse.Namespace) -> int:
    """Answer in one write, once all is decided: nothing at all would make kpt delete the package."""
    outcome = function.run(arguments.function, output.read("a ResourceList"))
    output.data(outcome.output)
    streams.flush()
    for result in outcome.results:
        if result.severity in ("error", "warning"):
            output.warning(f"{result.severity}: {result.message}")
    return 1 if outcome.failed else 0
