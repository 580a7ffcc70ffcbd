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
    prose=1,
    wide=None,
    bare=True,
    when="--events",
)
_CELLS = {
    "": lambda row: "!" if row["type"] == "Warning" else "",
    "AGE": lambda row: age(row["when"]),
}


def show(arguments: argparse.Namespace) -> int:
    """Print events, and mark the warnings."""
    found = clusters.find(arguments)
    known = records.read_all(found, unfit=output.refusal)
    if arguments.run not in known:
        raise InputError(records.missing(found, arguments.run, known))
    listed = events.read(found, known, arguments.run)
    rows = [
        (each.when, each.count, "Warning" if each.is_warning else "Normal", each.reason, each.about, each.message)
        for each in listed
    ]
    if ROWS.show(rows, arguments.output, wide=arguments.wide, cells=_CELLS):
        _tell(found, arguments, listed)
    return 0


def _tell(found: Kubectl, arguments: argparse.Namespace, listed: Sequence[Event]) -> None:
    warnings = output.counted(sum(each.is_warning for each in listed), "warning")
    events = output.counted(len(listed), "event")
    output.note(f"{events}, {warnings}, marked with !" if listed else "no events are kept")
    output.note(f"next: {found.packyard('status', arguments.run)}")
