"""KRM functions: read a ResourceList on standard input, print the result on standard output.

  packyard fn apply-setters   set the fields of every setter that the function
                              config gives a value
  packyard fn create-setters  add a comment in kpt's spelling to every field
                              that has a value of the function config
  packyard fn list-setters    list the setters

kpt and kustomize run them:

  kpt fn eval DIR --exec "packyard fn apply-setters DIR" -- NAME=VALUE...
  kpt fn render DIR --allow-exec  with exec: packyard fn apply-setters in the
                                  Kptfile's pipeline

Setters are those of kpt-set comments; apply-setters takes those of the package's Krmfile, too. It is in DIR, the folder
that kpt was given; without DIR that is the one that kpt fn render names, or the working directory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import output, streams
from packyard.using.functions import function


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("function", metavar="FUNCTION", choices=tuple(function.FUNCTIONS))
    parser.add_argument("directory", metavar="DIR", nargs="?", type=Path, help="the folder that kpt was given")


def run(arguments: argparse.Namespace) -> int:
    """Print the whole result in one write: kpt deletes the package if it reads nothing."""
    outcome = function.run(arguments.function, output.read("a ResourceList"), arguments.directory)
    output.data(outcome.output)
    streams.flush()
    for result in outcome.results:
        if result.severity in ("error", "warning"):
            output.marked(result.severity, result.message)
    return 1 if outcome.failed else 0
