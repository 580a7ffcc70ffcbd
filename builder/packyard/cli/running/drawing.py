"""Watches runs on a terminal: what is seen is drawn in place, several times a second, until all is over.

The cluster is asked in a thread, every other second, so that times go on and a new size of the terminal is met at once.
A server that does not answer is asked again, as elsewhere; the last line says so. What was drawn last stays.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

from packyard.cli import output
from packyard.cli.running import clusters, frames
from packyard.cli.running.frames import Size
from packyard.core.errors import UnavailableError
from packyard.running.runs import progress, status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.progress import Progress
from packyard.running.runs.record import RunRecord
from packyard.running.runs.status import RunStatus

T = TypeVar("T")
_TICK, _PAUSE = 0.25, 2.0  # seconds between two frames, and between two looks
_SOON = 5.0  # seconds until the speed of a program is told


@dataclass(slots=True)
class _Looks(Generic[T]):
    """Looks, one after the other, in a thread; ``trouble`` says why the last one failed."""

    look: Callable[[], T]
    pool: ThreadPoolExecutor
    seen: T | None = None
    trouble: str = ""
    failures: int = 0
    due: float = 0
    running: Future[T] | None = None

    def go_on(self) -> bool:
        """Wait for a tick; say whether a look has come."""
        if self.running is None and monotonic() >= self.due:
            self.running = self.pool.submit(self.look)
        wait([self.running] if self.running else [], timeout=_TICK)
        if self.running is None or not self.running.done():
            return False
        looked, self.running, self.due = self.running, None, monotonic() + _PAUSE
        try:
            self.seen, self.trouble, self.failures = looked.result(), "", 0
        except UnavailableError as error:
            if self.failures == len(clusters.PAUSES):
                raise
            self.due = monotonic() + clusters.PAUSES[self.failures]
            self.trouble, self.failures = str(error), self.failures + 1
        return not self.trouble


def until(
    look: Callable[[], T], frame: Callable[[T, Size], list[str]], is_over: Callable[[T], bool], *, stays: bool = True
) -> T:
    """Draw what is looked at until it is over, and return what was seen last; the last frame ``stays`` behind."""
    lines: list[str] = []
    try:
        with output.screen() as draw, ThreadPoolExecutor(1) as pool:
            looks = _Looks(look, pool)
            while True:
                has_come = looks.go_on()
                columns, rows = output.size()
                if looks.seen is not None:
                    lines = frame(looks.seen, Size(columns, rows - bool(looks.trouble)))
                again = frames.cut(f"asking again: {looks.trouble}", Size(columns, 1))
                draw([*lines, again] if looks.trouble else lines)
                if has_come and looks.seen is not None and is_over(looks.seen):
                    return looks.seen
    finally:
        for line in lines if stays else ():
            output.drawn(line)


@dataclass(slots=True)
class OneRun:
    """A run that is watched, with how far its program is and how quick."""

    kubectl: Kubectl
    record: RunRecord
    steps: list[Progress] = field(default_factory=list)
    first: tuple[float, Progress] | None = None
    left: float = 0

    def look(self) -> RunStatus:
        """Return what it does, and note how far it is."""
        run_status = status.read_one(self.kubectl, self.record)
        self.steps = progress.read(self.kubectl, run_status)
        self._measure(self.steps[-1] if self.steps else None)
        return run_status

    def frame(self, run_status: RunStatus, size: Size) -> list[str]:
        """Return what is drawn."""
        return frames.of_run(run_status, self.steps, self.left, size)

    def until(self, is_over: Callable[[RunStatus], bool], *, stays: bool) -> RunStatus:
        """Draw it until it is over."""
        return until(self.look, self.frame, is_over, stays=stays)

    def _measure(self, last: Progress | None) -> None:
        """Tell how long the rest takes, by the speed since this was first seen."""
        now, before = monotonic(), self.first
        if last is None or before is None or (last.unit, last.total) != (before[1].unit, before[1].total):
            self.first, self.left = (now, last) if last else None, 0
            return
        took, came = now - before[0], last.done - before[1].done
        self.left = (last.total - last.done) * took / came if took > _SOON and came > 0 and last.total else 0
