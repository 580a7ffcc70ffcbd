"""Watching runs until they are over: drawn in place on a terminal, elsewhere the lines that are new."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from packyard.cli import output
from packyard.cli.running import clusters
from packyard.core.kubernetes.outcome import FAILED
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus

_PAUSE = 2.0  # seconds between two looks


def one(found: Kubectl, record: RunRecord) -> int:
    """Show a run until it is over, or somebody ends it; return the exit code."""
    try:
        if output.can_draw():
            seen = drawn(found, record, lambda seen: seen.is_over)
        else:
            (seen,) = lines(lambda: [status.read_one(found, record)])
    except KeyboardInterrupt:
        return 130
    output.note(f"run {seen.run} {seen.explained}")
    return int(seen.state == FAILED)


def drawn(found: Kubectl, record: RunRecord, is_over: Callable[[RunStatus], bool], *, stays: bool = True) -> RunStatus:
    """Draw a run until it is over, and return what was seen last; what was drawn last ``stays``."""
    from packyard.cli.running import drawing  # with rich, which is slow to import

    return drawing.OneRun(found, record).until(is_over, stays=stays)


def lines(look: Callable[[], Sequence[RunStatus]]) -> Sequence[RunStatus]:
    """Print the lines that are new until all is over."""
    before: set[tuple[str, str, str, str]] = set()
    while True:
        seen = clusters.patiently(look)
        rows = {(each.run, each.state, clusters.counted(each.roles), each.reason) for each in seen}
        for row in sorted(rows - before):
            output.line("  ".join(filter(None, row)))
        before = rows
        output.flush()
        if all(each.is_over for each in seen):
            return seen
        time.sleep(_PAUSE)
