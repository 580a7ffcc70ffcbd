"""List each time that a run was deployed: when, by whom, which version of the package, and which values changed."""

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
from packyard.running.runs.record import RunRecord

ROWS = Rows(
    "record",
    "run, record, when, who, package, version, digest, useCase, values, options, asRecord?, "
    "changes (name, before, after)",
    columns="RECORD, WHEN, WHO, VERSION, CHANGED",
    prose=1,
    wide=None,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the records of a run, the newest last."""
    found = clusters.find(arguments)
    listed = records.read_run(found, arguments.run)
    rows = [_row(listed, *each) for each in _changes(listed)]
    if ROWS.show(rows, arguments.output, wide=arguments.wide, cells={"CHANGED": _told}):
        again = clusters.command(found, arguments, "rollback", arguments.run, str(listed[0].number))
        output.note(f"{again} deploys the first again")
    return 0


_Change = tuple[str, str | None, str | None]


def _changes(listed: Sequence[RunRecord]) -> Iterator[tuple[RunRecord, list[_Change]]]:
    """Yield each record with what was set otherwise than before; of the first, all that was set."""
    for number, each in enumerate(listed):
        yield each, list(records.changes(listed[number - 1] if number else _nothing(each), each))


def _nothing(first: RunRecord) -> RunRecord:
    return replace(first, values={}, options=())


def _told(row: Mapping[str, Any]) -> str:
    again = [f"as record {row['asRecord']}"] if row["asRecord"] else []
    return "; ".join([*again, *map(_words, row["changes"])])


def _words(change: _Change) -> str:
    name, before, after = change
    old, new = ("not set" if value is None else shown(value) for value in (before, after))
    return f"{name}: {new}" if before is None else f"{name}: {old} -> {new}"


def _row(listed: Sequence[RunRecord], each: RunRecord, changes: Sequence[_Change]) -> tuple[object, ...]:
    package = (each.package, each.version, each.digest, each.use_case)
    before = listed[: listed.index(each)]
    again = next((former.number for former in before[:-1] if former.applied == each.applied), None)
    return each.run, each.number, each.when, each.who, *package, each.values, each.options, again, changes
