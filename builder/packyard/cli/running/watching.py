"""Watching runs until they are over: drawn in place on a terminal, elsewhere the lines that are new."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from packyard.cli import output
from packyard.cli.running import clusters
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.kubernetes.outcome import FAILED
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus

_PAUSE = 2.0  # seconds between two looks


def one(client: Kubectl, record: RunRecord) -> int:
    """Show a run until it is over, or somebody ends it; return the exit code."""
    try:
        if output.can_draw():
            run_status = drawn(client, record, lambda run_status: run_status.is_over)
        else:
            (run_status,) = lines(lambda: [status.read_one(client, record)])
    except KeyboardInterrupt:
        return INTERRUPTED
    output.note(f"run {run_status.run} {run_status.explained}")
    return int(run_status.state == FAILED)


def drawn(client: Kubectl, record: RunRecord, is_over: Callable[[RunStatus], bool], *, stays: bool = True) -> RunStatus:
    """Draw a run until it is over, and return what was seen last; what was drawn last ``stays``."""
    from packyard.cli.running import drawing  # with rich, which is slow to import

    return drawing.OneRun(client, record).until(is_over, stays=stays)


def lines(look: Callable[[], Sequence[RunStatus]]) -> Sequence[RunStatus]:
    """Print the lines that are new until all is over."""
    before: set[tuple[str, str, str, str]] = set()
    while True:
        statuses = clusters.patiently(look)
        rows = {(each.run, each.state, clusters.counted(each.roles), each.reason) for each in statuses}
        for row in sorted(rows - before):
            output.line("  ".join(filter(None, row)))
        before = rows
        output.flush()
        if all(each.is_over for each in statuses):
            return statuses
        time.sleep(_PAUSE)
