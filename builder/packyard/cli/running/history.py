"""List each time that a run was deployed: when, by whom, which version of the package, and which values changed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from packyard.cli import arguments as shared
from packyard.cli import output
from packyard.cli.running import clusters
from packyard.core.errors import shown
from packyard.running.runs import record as records
from packyard.running.runs.record import RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_arguments(parser)
    shared.add_wide(parser)
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the records of a run, the newest last."""
    found = clusters.find(arguments)
    listed = records.read_run(found, arguments.run)
    if arguments.output == "json":
        output.json_result([_document(each, changes) for each, changes in _changes(listed)])
        return 0
    rows = [
        (str(each.number), each.when, each.who, each.version, "; ".join(map(_words, changes)))
        for each, changes in _changes(listed)
    ]
    output.table(("RECORD", "WHEN", "WHO", "VERSION", "CHANGED"), rows, wide=arguments.wide, prose=1)
    again = clusters.command(found, arguments, "redeploy", arguments.run, f"--to={listed[0].number}")
    output.note(f"{again} deploys the first again")
    return 0


_Change = tuple[str, str | None, str | None]


def _changes(listed: Sequence[RunRecord]) -> Iterator[tuple[RunRecord, list[_Change]]]:
    """Yield each record with what was set otherwise than before; of the first, all that was set."""
    for number, each in enumerate(listed):
        yield each, list(records.changes(listed[number - 1] if number else _nothing(each), each))


def _nothing(first: RunRecord) -> RunRecord:
    return replace(first, values={}, options=())


def _words(change: _Change) -> str:
    name, before, after = change
    old, new = ("not set" if value is None else shown(value) for value in (before, after))
    return f"{name}: {new}" if before is None else f"{name}: {old} -> {new}"


def _document(each: RunRecord, changes: Sequence[_Change]) -> dict[str, object]:
    return {
        "run": each.run,
        "record": each.number,
        "when": each.when,
        "who": each.who,
        "package": each.package,
        "version": each.version,
        "digest": each.digest,
        "useCase": each.use_case,
        "values": dict(each.values),
        "options": list(each.options),
        "changes": [{"name": name, "before": before, "after": after} for name, before, after in changes],
    }
