"""`logs --events`: what happened to a run, to what was made of it and to its pods, the newest last."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.cli.running.ages import age
from packyard.core.errors import InputError
from packyard.running.runs import events
from packyard.running.runs import record as records
from packyard.running.runs.events import Event
from packyard.running.runs.kubectl import Kubectl

ROWS = Rows(
    "event",
    "when, count, type, reason, object, message",
    columns=", AGE, COUNT, REASON, OBJECT, MESSAGE",
    when="--events",
)
_CELLS = {
    "": lambda row: "!" if row["type"] == "Warning" else "",
    "AGE": lambda row: age(row["when"]),
}


def show(arguments: argparse.Namespace) -> int:
    """Print events, and mark the warnings."""
    client = clusters.find(arguments)
    by_run = records.read_all(client, unfit=output.refusal)
    if arguments.run not in by_run:
        raise InputError(records.missing(client, arguments.run, by_run))
    listed = events.read(client, by_run, arguments.run)
    rows = [
        (event.when, event.count, "Warning" if event.is_warning else "Normal", event.reason, event.about, event.message)
        for event in listed
    ]
    if ROWS.show(rows, arguments.output, cells=_CELLS):
        _tell(client, arguments, listed)
    return 0


def _tell(client: Kubectl, arguments: argparse.Namespace, listed: Sequence[Event]) -> None:
    warnings = output.counted(sum(each.is_warning for each in listed), "warning")
    events = output.counted(len(listed), "event")
    output.note(f"{events}, {warnings}, marked with !" if listed else "no events are kept")
    output.note(f"next: {client.packyard('status', arguments.run)}")
