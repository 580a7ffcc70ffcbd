"""KRM functions: read a ResourceList on standard input, print the result on standard output.

  packyard fn apply-setters   set the fields of every setter that the function
                              config gives a value
  packyard fn create-setters  add a comment in kpt's spelling to every field
                              that has a value of the function config
  packyard fn list-setters    list the setters

kpt and kustomize run them:

  kpt fn eval DIR --exec "packyard fn apply-setters" -- NAME=VALUE...
  kpt fn render DIR --allow-exec  with exec: packyard fn apply-setters in the
                                  Kptfile's pipeline

Setters are those of kpt-set comments; packyard set DIR sets those of a Krmfile.
"""

from packyard.cli import declare, output, streams
from packyard.using.functions import function


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("function", metavar="FUNCTION", choices=tuple(function.FUNCTIONS))


def run(arguments: declare.Arguments) -> int:
    """Print the whole result in one write: kpt deletes the package if it reads nothing."""
    outcome = function.run(arguments.function, output.read("a ResourceList"))
    output.data(outcome.output)
    streams.flush()
    for result in outcome.results:
        if result.severity in ("error", "warning"):
            output.marked(result.severity, result.message)
    return 1 if outcome.failed else 0
