"""Deploy a run as an earlier record has it, from any machine: no local files are needed. This makes a new record.

packyard rollback RUN             as it was deployed before the last time
packyard rollback RUN RECORD      as it was deployed then; packyard history RUN lists the records
packyard rollback RUN LAST        the last record: what is missing on the cluster is completed

Secrets stay as they are on the cluster, for their data are not recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from packyard.cli.running import clusters, rollout
from packyard.core.errors import InputError, Problem
from packyard.running.runs import deploy
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord

ROWS = rollout.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    help = "its number in packyard history (default: the one before the last)"
    parser.add_argument("record", metavar="RECORD", nargs="?", type=clusters.count, help=help)
    clusters.add_arguments(parser)
    rollout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Deploy the objects of a record."""
    rollout.check(arguments)
    client = clusters.find(arguments)
    before = records.read_run(client, arguments.run)
    record = _chosen(client, arguments, before)
    again = client.packyard("rollback", arguments.run, str(record.number), *rollout.typed(arguments))
    return rollout.run(client, arguments, partial(deploy.plan_again, client, before, record), again=again)


def _chosen(client: Kubectl, arguments: argparse.Namespace, before: Sequence[RunRecord]) -> RunRecord:
    """Return the record that is asked for: by its number, or the one before the last."""
    run, number = arguments.run, arguments.record
    if number is None and len(before) == 1:
        complete = client.packyard("rollback", run, str(before[0].number), *rollout.typed(arguments))
        raise InputError(Problem(f"run {run} was deployed once: nothing is before", hint=f"{complete} completes it"))
    for record in before[-2:-1] if number is None else before:
        if number in (None, record.number):
            return record
    hint = f"{client.packyard('history', run)} lists them"
    raise InputError(Problem(f"run {run} has no record {number}", hint=hint))
