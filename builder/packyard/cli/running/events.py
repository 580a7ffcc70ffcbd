"""`logs --events`: what happened to a run, to what was made of it and to its pods, the newest last."""

from __future__ import annotations

import argparse

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.cli.running.ages import age
from packyard.core.errors import InputError
from packyard.running.runs import events
from packyard.running.runs import record as records

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
    if ROWS.show(listed, arguments.output, cells=_CELLS):
        warnings = output.counted(sum(each.type == "Warning" for each in listed), "warning")
        count = output.counted(len(listed), "event")
        output.note(f"{count}, {warnings}, marked with !" if listed else "no events are kept")
        output.note(f"next: {client.packyard('status', arguments.run)}")
    return 0
