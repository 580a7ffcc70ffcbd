"""What pods print: one call of kubectl for all that are meant, and more for those that are made later.

kubectl logs --selector=packyard/run=mnist --prefix --max-log-requests=8 --tail=-1 --follow
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from selectors import EVENT_READ, DefaultSelector
from time import monotonic

from packyard.core.kubernetes.lenient import labels_of
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus

_LONGEST = 64 * 1024  # bytes that are read at once
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
    for name, value in sorted(set.intersection(*({*labels_of(each.item).items()} for each in pods))):
        left = [each for each in others if labels_of(each.item).get(name) == value]
        if len(left) < len(others):
            chosen[name], others = value, left
    return chosen


@dataclass(slots=True)
class _Log:
    """A call that is read, for pods by their names with their restarts; it ``ends`` where none of them runs."""

    process: subprocess.Popen[bytes]
    pods: Mapping[str, int]
    ends: bool
    last: float
    rest: bytes = b""


@dataclass(slots=True)
class Following:
    """Logs that are read as they grow, of one container of each pod. Close it in the end."""

    kubectl: Kubectl
    container: str
    flags: Sequence[str]
    begun: dict[str, int] = field(default_factory=dict)
    _lost: dict[str, float] = field(default_factory=dict)
    _pipes: DefaultSelector = field(default_factory=DefaultSelector)

    @property
    def open(self) -> Sequence[_Log]:
        """The logs that have not ended."""
        return [key.data for key in self._pipes.get_map().values()]

    def look(self, run_status: RunStatus, pods: Sequence[PodStatus]) -> None:
        """Begin with pods that have started since, and go on with those whose log broke off."""
        opened = {name for log in self.open for name in log.pods}
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
        ends = not any(each.running for each in pods)
        process = self.kubectl.start(*call, f"--follow={str(not ends).lower()}")
        restarts = {each.name: each.restarts for each in pods}
        self.begun |= restarts
        assert process.stdout
        self._pipes.register(process.stdout, EVENT_READ, _Log(process, restarts, ends, monotonic()))

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Yield lines as they come, for so long."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            for key, _ in self._pipes.select(left):
                log, data = key.data, os.read(key.fd, _LONGEST)
                log.last = monotonic() if data else log.last
                *whole, log.rest = (log.rest + data).split(b"\n")
                yield from (line + b"\n" for line in whole)
                if not data:
                    self._pipes.unregister(key.fileobj)
                    yield from filter(None, [log.rest])
                    self._end(log)

    def close(self) -> None:
        """End all programs."""
        for log in self.open:
            log.process.kill()
            log.process.communicate()
        self._pipes.close()

    def _end(self, log: _Log) -> None:
        self._lost |= dict.fromkeys(log.pods, log.last)
        stderr = log.process.communicate()[1].decode("utf-8", "replace")
        if log.process.returncode > 0 and "(Forbidden)" in stderr:
            raise self.kubectl.refusal(stderr)
