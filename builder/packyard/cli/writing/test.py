"""Build packages and try them: lint, kustomize, rendering, their own tests.

The tests of a package are packages/NAME/tests/*.yaml: values and options that are given, and fields or a refusal that
are expected. The exit code is 1 if a check failed. A check that needs a program that PATH has not is skipped. Each
use case is rendered alone and with each option that it has. Without a NAME what lint says of all together counts, too.
With --quiet a check that passed has no row.
"""

import os

from packyard.cli import declare, output, workspaces
from packyard.cli.rows import Rows
from packyard.writing.judging.questions import judge

ROWS = Rows("check", "package, check, where, state, details, misfits", columns="PACKAGE, CHECK, WHERE, RESULT=state")
EXAMPLE = "packyard test my-model --strict"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.switch("--server", "ask the API server of kubectl's current context, by a dry run")
    parser.switch("--strict", "exit with 1 where a check could not be made, too")
    workspaces.add_arguments(parser)


def run(arguments: declare.Arguments) -> int:
    """Try each package and print a row for each check, then why checks failed."""
    workspace = workspaces.find(arguments)
    names = workspaces.names(arguments, workspace)
    path, is_whole = os.environ.get("PATH", ""), not arguments.names
    verdicts = list(judge(workspace, names, is_whole=is_whole, path=path, is_server_asked=arguments.server))
    is_short = output.quiet and arguments.output == "text"
    ROWS.show([each for each in verdicts if each.state != "passed" or not is_short], arguments.output)
    workspaces.tell_warnings(len({warning for verdict in verdicts for warning in verdict.warnings}), arguments)
    output.note(*dict.fromkeys(text for verdict in verdicts for text in verdict.unchecked))
    misfits = dict.fromkeys((verdict.package, misfit) for verdict in verdicts for misfit in verdict.misfits)
    for package, misfit in misfits:
        cases = [verdict.where for verdict in verdicts if verdict.package == package and misfit in verdict.misfits]
        output.detail(f"{package}: option {misfit} ({', '.join(cases)})")
    for verdict in verdicts:
        if verdict.state == "failed":
            for detail in verdict.details:
                output.problem(" ".join(filter(None, (verdict.package, verdict.check, verdict.where))) + f": {detail}")
    for reason in dict.fromkeys(item for verdict in verdicts if verdict.state == "skipped" for item in verdict.details):
        output.note(f"not checked: {reason}")
    states = [verdict.state for verdict in verdicts]
    more = "; -v says which options do not fit, and why" if misfits and not output.verbose else ""
    output.note(", ".join(f"{states.count(state)} {state}" for state in ("passed", "failed", "skipped")) + more)
    return 1 if "failed" in states or (arguments.strict and "skipped" in states) else 0
