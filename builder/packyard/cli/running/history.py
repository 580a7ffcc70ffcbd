"""List each time that a run was deployed: when, by whom, which version of the package, and what changed.

The last has the state of the run as it is now, those before are superseded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import shown
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus

ROWS = Rows(
    "record",
    "run, record, state, when, who, package, version, digest, useCase, values, options, action, source?, asRecord?, "
    "changes (name, before, after)",
    columns="RECORD, STATE, WHEN, WHO, VERSION, CHANGED",
    prose=1,
    wide=None,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the records of a run, the newest last."""
    client = clusters.find(arguments)
    listed = records.read_run(client, arguments.run)
    now = status.read_one(client, listed[-1])
    rows = [_row(listed, *each, now) for each in _changes(listed)]
    if ROWS.show(rows, arguments.output, wide=arguments.wide, cells={"CHANGED": _told}):
        again = client.packyard("rollback", arguments.run, str(listed[0].number))
        output.note(f"{again} deploys the first again")
    return 0


_Change = tuple[str, str | None, str | None]


def _changes(listed: Sequence[RunRecord]) -> Iterator[tuple[RunRecord, list[_Change]]]:
    """Yield each record with what was set otherwise than before; of the first, all that was set."""
    for number, record in enumerate(listed):
        yield record, list(records.changes(listed[number - 1] if number else _nothing(record), record))


def _nothing(first: RunRecord) -> RunRecord:
    return replace(first, values={}, options=())


def _told(row: Mapping[str, Any]) -> str:
    again = [f"rolled back to record {row['source']}"] if row["source"] else []
    if row["asRecord"] and not again:
        again = [f"as record {row['asRecord']}"]
    return "; ".join([*again, *map(_words, row["changes"])])


def _words(change: _Change) -> str:
    name, before, after = change
    old, new = ("not set" if value is None else shown(value) for value in (before, after))
    return f"{name}: {new}" if before is None else f"{name}: {old} -> {new}"


def _row(
    listed: Sequence[RunRecord], record: RunRecord, changes: Sequence[_Change], now: RunStatus
) -> tuple[object, ...]:
    state = now.state if record is listed[-1] else "superseded"
    package = (record.package, record.version, record.digest, record.use_case)
    before = listed[: listed.index(record)]
    again = next((former.number for former in before[:-1] if former.applied == record.applied), None)
    deployed = (record.values, record.options, record.action, record.source or None, again)
    return record.run, record.number, state, record.when, record.who, *package, *deployed, changes
