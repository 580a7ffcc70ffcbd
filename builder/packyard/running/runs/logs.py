"""What pods print, as bytes: one kubectl for each of them, and never more than `MOST` at once.

Lines come with the time at which they were printed, which is taken off here. So a log that breaks off goes on behind
the last line that came, without a line twice and without a gap.
"""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from packyard.core.errors import PackyardError
from packyard.running.runs.kubectl import Kubectl

#: Programs at once.
MOST = 32
_AHEAD = 8
_LONGEST = 64 * 1024  # bytes that are handed on at once
_WAITING = 1000  # lines that are read and not yet taken


@dataclass(frozen=True, slots=True)
class Log:
    """The log of one container of one pod, or of the container before its last restart."""

    pod: str
    container: str
    is_previous: bool = False


def read(
    kubectl: Kubectl, logs: Sequence[Log], flags: Sequence[str], refused: Callable[[PackyardError], None]
) -> Iterator[tuple[Log, bytes]]:
    """Yield lines, log by log; the next ones are opened beforehand. A log that cannot be read is ``refused``."""
    with ExitStack() as stack:
        left, opened = deque(logs), deque[tuple[Log, "subprocess.Popen[bytes]"]]()
        while left or opened:
            while left and len(opened) < _AHEAD:
                opened.append((left[0], stack.enter_context(_open(kubectl, left.popleft(), flags))))
                stack.callback(opened[-1][1].kill)
            log, process = opened.popleft()
            yield from ((log, line) for line in _lines(process))
            stderr = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
            if process.wait():
                refused(kubectl.refusal(stderr))


@dataclass(slots=True)
class Following:
    """Logs that are read side by side as they grow. Close it in the end."""

    kubectl: Kubectl
    _lines: Queue[tuple[Log, bytes, bytes | None]] = field(default_factory=lambda: Queue(_WAITING))
    _open: dict[Log, subprocess.Popen[bytes]] = field(default_factory=dict)
    _last: dict[Log, bytes] = field(default_factory=dict)
    _ending: set[Log] = field(default_factory=set)

    def follow(self, log: Log, flags: Sequence[str], *, goes_on: bool) -> None:
        """Begin with a log, as ``flags`` of kubectl say, or go on with it behind the last line that came.

        Unless its container ``goes_on`` there is nothing to wait for at its end.
        """
        last = self._last.get(log, b"")
        since = [f"--since-time={last.decode()}"] if last else flags
        process = _open(self.kubectl, log, [f"--follow={str(goes_on).lower()}", "--timestamps", *since])
        self._open[log] = process
        if not goes_on:
            self._ending.add(log)
        Thread(target=self._read, args=(log, process, last), daemon=True).start()

    def __contains__(self, log: Log) -> bool:
        return log in self._open

    def __len__(self) -> int:
        return len(self._open)

    @property
    def is_ending(self) -> bool:
        """Whether a log is open that ends by itself, however late its lines come."""
        return bool(self._ending)

    def lines(self, seconds: float, *, until_end: bool = False) -> Iterator[tuple[Log, bytes]]:
        """Yield lines as they come, for so long, or until a log ends."""
        end = monotonic() + seconds
        while True:
            try:
                log, time, text = self._lines.get(timeout=max(end - monotonic(), 0))
            except Empty:
                return
            if text is not None:
                self._last[log] = time
                yield log, text
                continue
            self._end(log)
            if until_end:
                return

    def close(self) -> None:
        """End all programs."""
        for process in self._open.values():
            process.kill()
        for process in self._open.values():
            process.communicate()

    def _read(self, log: Log, process: subprocess.Popen[bytes], last: bytes) -> None:
        """Hand on what a program prints behind a time; a long line comes in parts, of which the first has the time."""
        time, begins = b"", True
        for part in _lines(process):
            text = part
            if begins:
                time, _, text = part.partition(b" ")
            begins = part.endswith(b"\n")
            if time > last:
                self._lines.put((log, time, text))
        self._lines.put((log, time, None))

    def _end(self, log: Log) -> None:
        process = self._open.pop(log)
        self._ending.discard(log)
        stderr = process.communicate()[1].decode("utf-8", "replace")
        if process.returncode > 0 and "(Forbidden)" in stderr:
            raise self.kubectl.refusal(stderr)


def _open(kubectl: Kubectl, log: Log, flags: Sequence[str]) -> subprocess.Popen[bytes]:
    previous = ("--previous",) if log.is_previous else ()
    return kubectl.start("logs", log.pod, f"--container={log.container}", *previous, *flags)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    if output := process.stdout:
        with suppress(ValueError, OSError):  # closed meanwhile
            yield from iter(lambda: output.readline(_LONGEST), b"")
