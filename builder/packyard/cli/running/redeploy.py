"""Deploy a run again as it was recorded, from any machine: no local files are needed.

packyard redeploy RUN                      as it was deployed last: what is missing is completed
packyard redeploy RUN --to 1               as it was deployed first; this makes a new record

Secrets stay as they are on the cluster, for their data are not recorded.
"""

from __future__ import annotations

import argparse

from packyard.cli.running import clusters, rollout
from packyard.core.errors import InputError, Problem
from packyard.running.runs import deploy
from packyard.running.runs import record as records

ROWS = rollout.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    parser.add_argument("--to", metavar="N", type=clusters.count, help="a record, as packyard history lists them")
    clusters.add_arguments(parser)
    rollout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Deploy the objects of a record."""
    found = clusters.find(arguments)
    before = records.read_run(found, arguments.run)
    record = next((each for each in before if each.number == (arguments.to or before[-1].number)), None)
    if record is None:
        hint = f"packyard history {arguments.run} -n {found.namespace} lists them"
        raise InputError(Problem(f"run {arguments.run} has no record {arguments.to}", hint=hint))
    to = [f"--to={record.number}"] if arguments.to else []
    again = clusters.command(found, arguments, "redeploy", arguments.run, *to)
    remove = clusters.command(found, arguments, "undeploy", arguments.run)
    another = f"delete it first: {remove}; or deploy another one beside it, from its directory, by RUN_NAME=WORD"
    with rollout.untouched():
        who, when = found.who(), rollout.now()
        made = deploy.plan_again(found, before, record, who=who, when=when, force=arguments.force, hint=another)
    return rollout.run(found, arguments, made, again=again, another=another)
