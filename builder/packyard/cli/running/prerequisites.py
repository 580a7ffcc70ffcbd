"""List what packages need installed on a cluster, how it is installed, and whether the cluster here has it.

packyard prerequisites
    for all packages of the catalogue
packyard prerequisites mnist-fp32-training-k8s
    for one, or for those in the folder DIR, with their options
packyard prerequisites --offline -o json
    without asking a cluster

What one namespace has to have, such as claims, is for packyard doctor, but for Secrets that authors name. The exit code
is 1 if something is missing, too old or not alive. Where no cluster is reached, a warning says so, and the list has no
states; the cluster of --context or --kubeconfig has to be reached.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, folders
from packyard.core.errors import PackyardError
from packyard.running.doctor import prerequisites
from packyard.running.doctor.finding import Finding
from packyard.running.doctor.prerequisites import Prerequisite

ROWS = Rows(
    "what is to be installed",
    "name, requirements, packages, needs, oldest, newest, tested, install, link, state, message",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    folders.add_arguments(parser)
    declare.switch(parser, "--offline", "ask no cluster")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each, with the commands that install it."""
    needed = prerequisites.find(folders.use_cases(arguments.packages, arguments.channel))
    states = _examine(arguments, needed)
    rows = [_row(*each) for each in zip(needed, states, strict=True)]
    if ROWS.show(rows, arguments.output) and needed:
        cells = [_cells(*each) for each in zip(needed, states, strict=True)]
        output.table(("NAME", "TESTED", "STATE", "NEEDED BY"), cells)
        _tell_commands([item for item, state in zip(needed, states, strict=True) if not _is_there(state)])
    if not needed:
        output.note("nothing has to be installed for these packages")
    elif not arguments.offline:
        output.note("packyard doctor DIR looks for what a namespace has to have for one use case")
    return int(any(each is not None and each.severity == "error" for each in states))


def _examine(arguments: argparse.Namespace, needed: Sequence[Prerequisite]) -> Sequence[Finding | None]:
    """Return what a cluster says of each; None for all where none is asked, or that of kubeconfig is not reached."""
    if needed and not arguments.offline:
        try:
            return prerequisites.examine(clusters.find(arguments), needed)
        except PackyardError as error:
            if arguments.context or arguments.kubeconfig:
                raise
            output.warning(str(error))
            output.note("so no state is known; --offline does not ask")
    return [None] * len(needed)


def _is_there(state: Finding | None) -> bool:
    return state is not None and (state.severity == "passed" or (state.severity == "warning" and not state.fix))


def _cells(item: Prerequisite, state: Finding | None) -> tuple[str, ...]:
    shown = "not asked" if state is None else state.message or "installed"
    return item.name, item.operator.tested if item.operator else "", shown, ", ".join(item.packages)


def _tell_commands(missing: Sequence[Prerequisite]) -> None:
    """Print the commands as lines of a shell, in full."""
    for item in missing:
        output.line()
        name = f"{item.name} {item.operator.needs}".rstrip() if item.operator else item.name
        output.line(f"# {name}: {item.description}" if item.description else f"# {name}")
        for command in item.install:
            output.line(command)


def _row(item: Prerequisite, state: Finding | None) -> tuple[object, ...]:
    operator = item.operator
    versions = (operator.needs, operator.oldest, operator.newest, operator.tested) if operator else ("",) * 4
    offered = (*versions, item.install, operator.link if operator else "")
    examined = (state.severity, state.message or state.about) if state else ("", "")
    return item.name, item.requirements, item.packages, *offered, *examined
