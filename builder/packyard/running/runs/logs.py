"""What pods print: one call of kubectl for all that are meant, and more for those that are made later.

kubectl logs --selector=packyard/run=mnist --prefix --max-log-requests=8 --tail=-1 --follow
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from packyard.running.runs.status import PodStatus, RunStatus

_LONGEST = 64 * 1024  # bytes that are handed on at once
_WAITING = 1000  # lines that are read and not yet taken
_AGAIN = 10  # seconds that are read twice where a log broke off: kubectl takes some to ask again


def words(run_status: RunStatus, pods: Sequence[PodStatus], container: str) -> list[str]:
    """Return the words of the call for these pods: by name, or by the labels that they alone have."""
    of = [f"--container={container}"] if container else []
    if len(pods) == 1:
        return ["logs", pods[0].name, *of]
    selector = ",".join(f"{name}={value}" for name, value in _alike(run_status, pods).items())
    return ["logs", f"--selector={selector}", "--prefix", f"--max-log-requests={len(run_status.pods)}", *of]


def _alike(run_status: RunStatus, pods: Sequence[PodStatus]) -> Mapping[str, str]:
    """Return as few labels as can be that all these pods have and, but for those that they replaced, no others."""
    chosen, places = {LABEL: run_status.run}, {(each.role, each.index) for each in pods}
    others = [each for each in run_status.pods if (each.role, each.index) not in places]
    for name, value in sorted(set.intersection(*({*each.labels.items()} for each in pods))):
        left = [each for each in others if each.labels.get(name) == value]
        if len(left) < len(others):
            chosen[name], others = value, left
    return chosen


@dataclass(slots=True)
class _Open:
    """A call whose lines are read, for pods by their names with their restarts; it ``ends`` where none of them runs."""

    process: subprocess.Popen[bytes]
    pods: Mapping[str, int]
    last: float
    ends: bool


@dataclass(slots=True)
class Following:
    """Logs that are read as they grow, of one container of each pod. Close it in the end."""

    kubectl: Kubectl
    container: str
    flags: Sequence[str]
    begun: dict[str, int] = field(default_factory=dict)
    _open: dict[int, _Open] = field(default_factory=dict)
    _lost: dict[str, float] = field(default_factory=dict)
    _lines: Queue[tuple[int, bytes | None]] = field(default_factory=lambda: Queue(_WAITING))

    def look(self, run_status: RunStatus, pods: Sequence[PodStatus]) -> None:
        """Begin with pods that have started since, and go on with those whose log broke off."""
        opened = {name for each in self._open.values() for name in each.pods}
        new = [each for each in pods if each.has_started and each.name not in opened and self._goes_on(each)]
        groups = [new] if new and len(new) == len(pods) and not self.begun else [[each] for each in new]
        for group in groups:
            prefix = ["--prefix"] if len(group) == 1 < len(pods) else []
            self._follow([*words(run_status, group, self.container), *prefix, *self._since(group[0])], group)

    def _goes_on(self, pod: PodStatus) -> bool:
        """Say whether there is more to read of a pod: it was not read before, was started again, or still runs."""
        return self.begun.get(pod.name) != pod.restarts or bool(pod.running)

    def _since(self, pod: PodStatus) -> Sequence[str]:
        """Return the flags of a call; one that broke off goes on some seconds before its last line: none is lost."""
        is_same = self.begun.get(pod.name) == pod.restarts and pod.name in self._lost
        return [f"--since={int(monotonic() - self._lost[pod.name]) + _AGAIN}s"] if is_same else self.flags

    def _follow(self, call: Sequence[str], pods: Sequence[PodStatus]) -> None:
        is_running = any(each.running for each in pods)
        process = self.kubectl.start(*call, f"--follow={str(is_running).lower()}")
        restarts = {each.name: each.restarts for each in pods}
        self.begun |= restarts
        self._open[process.pid] = _Open(process, restarts, monotonic(), ends=not is_running)
        Thread(target=self._read, args=(process,), daemon=True).start()

    @property
    def is_ending(self) -> bool:
        """Whether a log is open that ends by itself, however late its lines come."""
        return any(each.ends for each in self._open.values())

    @property
    def is_open(self) -> bool:
        """Whether any log is open."""
        return bool(self._open)

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Yield lines as they come, for so long, or until a log ends."""
        end = monotonic() + seconds
        while True:
            try:
                pid, line = self._lines.get(timeout=max(end - monotonic(), 0))
            except Empty:
                return
            if line is None:
                self._end(self._open.pop(pid))
                return
            self._open[pid].last = monotonic()
            yield line

    def close(self) -> None:
        """End all programs."""
        for each in self._open.values():
            each.process.kill()
        for each in self._open.values():
            each.process.communicate()

    def _end(self, ended: _Open) -> None:
        self._lost |= dict.fromkeys(ended.pods, ended.last)
        stderr = ended.process.communicate()[1].decode("utf-8", "replace")
        if ended.process.returncode > 0 and "(Forbidden)" in stderr:
            raise self.kubectl.refusal(stderr)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        stream = process.stdout
        assert stream
        with suppress(ValueError, OSError):  # closed meanwhile
            for line in iter(lambda: stream.readline(_LONGEST), b""):
                self._lines.put((process.pid, line))
        self._lines.put((process.pid, None))
