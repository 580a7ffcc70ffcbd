"""Print what happened to a run: to its objects, to what was made of them and to its pods, the newest last.

Kubernetes keeps events for an hour.
"""

from __future__ import annotations

import argparse

from packyard.cli import arguments as shared
from packyard.cli import output
from packyard.cli.running import clusters
from packyard.cli.running.ages import age
from packyard.core.errors import InputError
from packyard.running.runs import events
from packyard.running.runs import record as records

_COLUMNS = ("", "AGE", "COUNT", "REASON", "OBJECT", "MESSAGE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_arguments(parser)
    shared.add_wide(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print events, and mark the warnings."""
    found = clusters.find(arguments)
    known = records.read_all(found, unfit=output.refusal)
    if arguments.run not in known:
        raise InputError(records.missing(found, arguments.run, known))
    listed = events.read(found, known, arguments.run)
    if arguments.output == "json":
        output.json_result(
            [
                {
                    "when": each.when,
                    "count": each.count,
                    "type": "Warning" if each.is_warning else "Normal",
                    "reason": each.reason,
                    "object": each.about,
                    "message": each.message,
                }
                for each in listed
            ]
        )
        return 0
    rows = [
        ("!" if each.is_warning else "", age(each.when), str(each.count), each.reason, each.about, each.message)
        for each in listed
    ]
    if rows:
        output.table(_COLUMNS, rows, wide=arguments.wide, prose=1)
    warnings = output.counted(sum(each.is_warning for each in listed), "warning")
    output.note(f"{output.counted(len(listed), 'event')}, {warnings}, marked with !" if rows else "no events are kept")
    output.note(f"next: {clusters.command(found, arguments, 'status', arguments.run)}")
    return 0
