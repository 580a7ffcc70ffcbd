"""What runs are doing, in words and numbers.

The records say what should be there, the objects what is wanted of it, the pods what has become of that. Events are
read only where all of these leave open why something does not run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.kubernetes.kinds import RUN_ONCE, kind_of
from packyard.core.kubernetes.lenient import Object, condition, finalizers, is_ending, name_of, text
from packyard.running.runs import look, outcome, outputs, trouble, waiting, workloads
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.look import Key, Objects
from packyard.running.runs.outcome import FAILED, SUCCEEDED
from packyard.running.runs.record import RunRecord
from packyard.running.runs.roles import CHIEFS
from packyard.running.runs.run import Reference
from packyard.running.runs.waiting import Surroundings
from packyard.running.runs.workloads import PodStatus, Workload

STARTING, RUNNING, INCOMPLETE, FAILING = "starting", "running", "incomplete", "failing"
#: All states.
STATES = (STARTING, RUNNING, FAILING, SUCCEEDED, FAILED, INCOMPLETE)

_LONGEST = 300  # characters of a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleStatus:
    """How many pods of a role are ``wanted``, and what became of them; ``done`` are those that ended well."""

    name: str
    wanted: int
    ready: int
    done: int
    failed: int
    restarts: int

    def __str__(self) -> str:  # launcher 1/1; worker 3/4 (1 failed)
        counts = ((self.failed, "failed"), (self.restarts, "restarts"))
        more = ", ".join(f"{number} {what}" for number, what in counts if number)
        return f"{self.name} {self.ready + self.done}/{self.wanted}" + (f" ({more})" if more else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """A run: ``state`` is one of `STATES`; ``reason`` says why where it is not well.

    One that is failing goes on trying, in vain: somebody has to help.

    ``missing`` are objects that its record names and that are not there.
    """

    record: RunRecord
    state: str
    reason: str
    roles: Sequence[RoleStatus]
    pods: Sequence[PodStatus]
    missing: Sequence[Reference]

    @property
    def run(self) -> str:
        """Its name."""
        return self.record.run

    @property
    def results(self) -> list[str]:
        """The places that it writes its results to."""
        return list(map(str, outputs.places(self.record.read_objects())))

    @property
    def phrase(self) -> str:
        """The state, for behind the name of the run: ``is running``, ``has failed``."""
        return f"has {self.state}" if self.state in (SUCCEEDED, FAILED) else f"is {self.state}"

    @property
    def explained(self) -> str:
        """The state, and why: ``has failed: worker 1: exit code 7``."""
        return f"{self.phrase}: {self.reason}" if self.reason else self.phrase

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens by itself."""
        return self.state in (SUCCEEDED, FAILED) or (
            self.state == INCOMPLETE and not any(pod.state in ("waiting", "running", "ready") for pod in self.pods)
        )


def read(kubectl: Kubectl, records: Mapping[str, Sequence[RunRecord]]) -> list[RunStatus]:
    """Return what runs do, in the order of their records, of which the last counts.

    This takes at most four calls of kubectl more than there are kinds that the cluster does not serve: one, and one
    for each of what only waits without saying why.
    """
    last = {run: of_run[-1] for run, of_run in records.items()}
    if not last:
        return []
    return judge(last.values(), look.look(kubectl, last), Surroundings(kubectl))


def read_one(kubectl: Kubectl, record: RunRecord) -> RunStatus:
    """Return what the run of a record does."""
    return read(kubectl, {record.run: [record]})[0]


def judge(records: Iterable[RunRecord], objects: Objects, around: Surroundings) -> list[RunStatus]:
    """Return what runs do, by their objects, and by what is ``around`` them where these do not explain it."""
    own = ((record, objects.get(record.run, {})) for record in records)
    return [_Run(record, of_run, workloads.find(record, of_run), around).status() for record, of_run in own]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run as it was found."""

    record: RunRecord
    objects: Mapping[Key, Object]
    workloads: Sequence[Workload]
    around: Surroundings

    def status(self) -> RunStatus:
        """Return what the run does."""
        missing = [item for item in self.record.objects if look.key_of(item) not in self.objects]
        state = self._state(missing)
        reasons = () if state == SUCCEEDED else self._reasons(missing)
        return RunStatus(
            record=self.record,
            state=state,
            reason=_shortened(next(filter(None, reasons), "")),
            roles=list(self._roles()),
            pods=[self._explained(pod) for workload in self.workloads for pod in workload.pods],
            missing=missing,
        )

    def _explained(self, pod: PodStatus) -> PodStatus:
        words = (_reason(pod, self.around), trouble.last_words(pod.item))
        return replace(pod, reason=_shortened(": ".join(filter(None, words))))

    def _roles(self) -> Iterator[RoleStatus]:
        for workload in self.workloads:
            for role in workload.roles:
                pods = workload.of(role)
                yield RoleStatus(
                    name=role.name,
                    wanted=role.wanted,
                    ready=workload.ready(role),
                    done=workload.done(role),
                    failed=sum(pod.phase == "Failed" for pod in pods),
                    restarts=workload.restarts + sum(pod.restarts for pod in pods),
                )

    def _state(self, missing: Sequence[Reference]) -> str:
        ended = [workload.ended for workload in self.workloads]
        if FAILED in ended:
            return FAILED
        if missing:
            return INCOMPLETE
        if all(ended):
            return SUCCEEDED
        if any(trouble.is_failing(pod.item) for workload in self.workloads for pod in workload.troubled):
            return FAILING
        return STARTING if any(workload.is_starting for workload in self.workloads) else RUNNING

    def _reasons(self, missing: Sequence[Reference]) -> Iterator[str]:
        """Yield what is wrong, the worst first."""
        for workload in self.workloads:
            if workload.ended == FAILED:
                yield self._of_pods(workload)
                yield from (outcome.of_object(item)[1] for item in workload.items)
        for item in (item for workload in self.workloads for item in workload.items if is_ending(item)):
            holders = ", ".join(finalizers(item))
            yield f"{_named(item)} is being deleted" + (f", and held by its finalizer {holders}" if holders else "")
        if missing:
            names = ", ".join(map(str, missing))
            once = any(reference.group_kind in RUN_ONCE for reference in missing)
            ended = "; it may have ended, and been deleted by its ttlSecondsAfterFinished" if once else ""
            yield f"{names} {'is' if len(missing) == 1 else 'are'} missing{ended}"
        for workload in self.workloads:
            for item in filter(outcome.is_suspended, workload.items):
                if waiting.queue_of(item):
                    yield f"{_named(item)} {waiting.in_queue(item, self.around)}"
                yield f"{_named(item)} is suspended until somebody, such as a queue, resumes it"
            yield self._of_pods(workload)
            if any(workload.lacking(role) > 0 for role in workload.roles):
                yield _of_creation(workload, self.around)
            if updating := outcome.updating(workload.item):
                yield f"{_named(workload.item)} is being updated: {updating}"
            for item in workload.foreign:
                if unready := outcome.unready(item):
                    yield f"{_named(item)} is not ready: {unready}"
            for item in workload.items:
                if not workload.pods and outcome.is_untouched(item):
                    hint = "packyard doctor says which operators are there"
                    yield f"nothing has taken up {_named(item)} yet; {hint}"

    def _of_pods(self, workload: Workload) -> str:
        """Return what is wrong with the first pod in trouble, and with how many others the same is."""
        troubles = [(pod, text) for pod in workload.troubled if (text := _reason(pod, self.around))]
        if not troubles:
            return ""
        first, why = troubles[0]
        more = sum(text == why and pod.role == first.role for pod, text in troubles) - 1
        words = _shortened(trouble.last_words(first.item))
        left = f": {words}" if words else ""
        roles = {role.name: role for workload in self.workloads for role in workload.roles}
        if roles[first.role].wanted > 1:
            return f"{first.role} {first.index}: {why}" + (f" (and {more} more like it)" if more else "") + left
        tried = f" ({more + 1} times)" if more else ""
        return f"{first.role}: {why}{tried}{left}" if len(roles) > 1 else f"{why}{tried}{left}"


def _reason(pod: PodStatus, around: Surroundings) -> str:
    """Return what is wrong with a pod: as it says itself, or where it says little, as claims or its last warning do."""
    own = trouble.of_pod(pod.item)
    if waiting.is_gated(pod.item):
        return waiting.in_queue(pod.item, around)
    if waiting.is_unplaced(pod.item) and (reason := waiting.for_volumes(pod.item, around)):
        return reason
    if pod.is_active and not pod.is_ready and (not own or pod.phase == "Running"):
        warned = look.warned(around.warnings, trouble.EXPLAINING, {("Pod", pod.name)}.__contains__)
        if warned:
            return f"{own}: {warned}" if own else warned
    return own


def _of_creation(workload: Workload, around: Surroundings) -> str:
    """Return why pods are not made: a condition of their owner, or the last warning about it or what it makes."""
    failure, name = condition(workload.item, "ReplicaFailure"), name_of(workload.item)
    refusal = text(failure.get("message")) if failure.get("status") == "True" else ""
    message = refusal or look.warned(
        around.warnings, trouble.REFUSING, lambda about: f"{about[1]}-".startswith(f"{name}-")
    )
    return trouble.of_creation(message) if message else ""


def _named(item: Object) -> str:
    return f"{kind_of(item)[1]} {name_of(item)}"


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"


def choose(run_status: RunStatus, role: str = "", index: int | None = None) -> list[PodStatus]:
    """Return the pods of a role, or the one with an index; without a role those of its `CHIEFS`, or all.

    Of pods that took each other's place this is the newest. There may be none, where they are not made yet.
    """
    names = list(dict.fromkeys([*(role.name for role in run_status.roles), *(pod.role for pod in run_status.pods)]))
    if role and role not in names:
        hint = suggest(role, names) or (f"its roles: {', '.join(names)}" if names else "it has no pods yet")
        raise InputError(Problem(f"run {run_status.run} has no role {role!r}", hint=hint))
    wanted = role or next((name for name in CHIEFS if name in names), "")
    newest: dict[tuple[str, int], PodStatus] = {}
    for pod in sorted(run_status.pods, key=lambda pod_status: pod_status.created):
        if wanted in ("", pod.role):
            newest[pod.role, pod.index] = pod
    fitting = [pod for pod in run_status.pods if pod is newest.get((pod.role, pod.index))]
    if index is None or not fitting:
        return fitting
    chosen = [pod for pod in fitting if pod.index == index]
    if not chosen:
        last = max(pod.index for pod in fitting)
        problem = f"run {run_status.run} has no pod {index}" + (f" of role {wanted}" if wanted else "")
        raise InputError(Problem(problem, hint=f"they are counted from 0 to {last}"))
    return chosen


def container(pod: PodStatus, name: str) -> str:
    """Return the container of this name, or without one that which counts."""
    if name and name not in pod.containers:
        hint = suggest(name, pod.containers) or f"its containers: {', '.join(pod.containers)}"
        raise InputError(Problem(f"pod {pod.name} has no container {name!r}", hint=hint))
    return name or next(iter(pod.containers), "")
