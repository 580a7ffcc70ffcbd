"""What pods print: kubectl prints it, by one call for all that are meant, and by more for those that are made later.

kubectl logs --selector=packyard/run=mnist --prefix --max-log-requests=8 --tail=-1 --follow
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from packyard.core.kubernetes.lenient import labels_of
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus

_AGAIN = "--since=60s"  # what is read twice where a log broke off: kubectl may take that long to notice


def groups(pods: Sequence[PodStatus], chosen: Sequence[PodStatus]) -> list[list[PodStatus]]:
    """Return pods by the calls that read them: one for all that are chosen, which fails where it cannot read one."""
    return [[*pods]] if pods and len(pods) == len(chosen) else [[pod] for pod in pods]


def words(run_status: RunStatus, pods: Sequence[PodStatus], container: str, *, prefix: bool = False) -> list[str]:
    """Return the words of the call for these pods: by name, or by the labels that they alone have."""
    of = [f"--container={container}"] if container else []
    if len(pods) == 1:
        return ["logs", pods[0].name, *(["--prefix"] if prefix else []), *of]
    selector = ",".join(f"{name}={value}" for name, value in _alike(run_status, pods).items())
    return ["logs", f"--selector={selector}", "--prefix", f"--max-log-requests={len(run_status.pods)}", *of]


def _alike(run_status: RunStatus, pods: Sequence[PodStatus]) -> Mapping[str, str]:
    """Return as few labels as can be that all these pods have and, but for those that they replaced, no others."""
    chosen, places = {LABEL: run_status.run}, {(pod.role, pod.index) for pod in pods}
    others = [pod for pod in run_status.pods if (pod.role, pod.index) not in places]
    for name, value in sorted(set.intersection(*({*labels_of(pod.item).items()} for pod in pods))):
        left = [pod for pod in others if labels_of(pod.item).get(name) == value]
        if len(left) < len(others):
            chosen[name], others = value, left
    return chosen


@dataclass(slots=True)
class Reading:
    """Logs of one container of each pod, which kubectl prints; where it ``follows`` them, as they grow. Close it.

    ``begun`` has the pods that were read, with their restarts then; it ``is_unread`` where nobody reads along any more.
    """

    kubectl: Kubectl
    container: str
    flags: Sequence[str]
    follows: bool
    begun: dict[str, int] = field(default_factory=dict)
    is_unread: bool = False
    _calls: list[tuple[subprocess.Popen[bytes], Sequence[str]]] = field(default_factory=list)

    def look(self, run_status: RunStatus, pods: Sequence[PodStatus]) -> None:
        """Begin with pods that have started since, and go on with those whose log broke off before the last look."""
        followed = {name for _, names in self._calls for name in names}
        self._calls = [call for call in self._calls if not self._is_over(call[0])]
        new = [pod for pod in pods if pod.has_started and pod.name not in followed and self._goes_on(pod)]
        for group in groups(new, pods if not self.begun else ()):
            again = [_AGAIN] if self.begun.get(group[0].name) == group[0].restarts else self.flags
            call = words(run_status, group, self.container, prefix=len(pods) > 1)
            process = self.kubectl.start(*call, *again, *["--follow"] * self.follows)
            self.begun |= {pod.name: pod.restarts for pod in group}
            self._calls.append((process, [pod.name for pod in group]))

    def _goes_on(self, pod: PodStatus) -> bool:
        """Say whether there is more to read of a pod: it was not read before, was started again, or still runs."""
        return self.begun.get(pod.name) != pod.restarts or bool(pod.running)

    def _is_over(self, process: subprocess.Popen[bytes]) -> bool:
        """Say whether a call has ended; raise for one that failed and is not made again, or may not be made."""
        if process.poll() is None:
            return False
        stderr = process.communicate()[1].decode("utf-8", "replace")
        if process.returncode > 0 and (not self.follows or "(Forbidden)" in stderr):
            raise self.kubectl.refusal(stderr)
        self.is_unread |= process.returncode == -signal.SIGPIPE
        return True

    def finish(self, seconds: float) -> None:
        """Let calls end: those that follow have some seconds, as nothing comes any more from a node that is lost."""
        for process, _ in self._calls:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds if self.follows else None)
        self._calls = [call for call in self._calls if not self._is_over(call[0])]

    def close(self) -> None:
        """End all calls."""
        for process, _ in self._calls:
            with process:
                process.kill()
