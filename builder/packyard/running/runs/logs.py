"""What pods print: kubectl prints it, by one call for all that are meant, and by more for those that are made later.

kubectl logs --selector=packyard/run=mnist --prefix --max-log-requests=8 --tail=-1 --follow
"""

import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus

_AGAIN = "--since=60s"  # what is read twice where a log broke off: kubectl may take that long to notice


def words(run_status: RunStatus, pods: Sequence[PodStatus], container: str, *, prefix: bool = False) -> list[str]:
    """Return the words of the call for one pod, or for all of a run."""
    of = [f"--container={container}"] if container else []
    if len(pods) == 1:
        return ["logs", pods[0].name, *["--prefix"] * prefix, *of]
    return ["logs", f"--selector={LABEL}={run_status.run}", "--prefix", f"--max-log-requests={len(pods)}", *of]


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
        """Begin with pods that have started since, or again, and go on with those whose log broke off meanwhile."""
        followed = {name for _, names in self._calls for name in names}
        self._calls = [call for call in self._calls if not self._is_over(call[0])]
        left = [pod for pod in pods if pod.has_started and pod.name not in followed]
        new = [pod for pod in left if self.begun.get(pod.name) != pod.restarts or pod.running]
        # A call for all pods fails where it cannot read one of them.
        is_whole = not self.begun and len(new) == len(run_status.pods)
        for group in [new] if is_whole else [[pod] for pod in new]:
            again = [_AGAIN] if self.begun.get(group[0].name) == group[0].restarts else self.flags
            call = words(run_status, group, self.container, prefix=len(pods) > 1)
            process = self.kubectl.start(*call, *again, *["--follow"] * self.follows)
            self.begun |= {pod.name: pod.restarts for pod in group}
            self._calls.append((process, [pod.name for pod in group]))

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
