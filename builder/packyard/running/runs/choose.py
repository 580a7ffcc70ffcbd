"""Which pods of a run somebody means, who names a role and an index, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.kubernetes.roles import CHIEFS
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.status import RunStatus

#: States of pods whose containers have begun.
STARTED = ("running", "ready", "done", "failed", "ending")


def pods(status: RunStatus, role: str = "", index: int | None = None) -> list[PodStatus]:
    """Return the pods of a role, or the one with an index; without a role those of its `CHIEFS`, or all.

    Of pods that took each other's place this is the newest. There may be none, where they are not made yet.
    """
    names = list(dict.fromkeys([*(each.name for each in status.roles), *(each.role for each in status.pods)]))
    if role and role not in names:
        hint = suggest(role, names) or (f"its roles: {', '.join(names)}" if names else "it has no pods yet")
        raise InputError(Problem(f"run {status.run} has no role {role!r}", hint=hint))
    wanted = role or next((name for name in CHIEFS if name in names), "")
    newest: dict[tuple[str, int], PodStatus] = {}
    for each in sorted(status.pods, key=lambda each: each.created):
        if wanted in ("", each.role):
            newest[each.role, each.index] = each
    fitting = [each for each in status.pods if each is newest.get((each.role, each.index))]
    if index is None or not fitting:
        return fitting
    chosen = [each for each in fitting if each.index == index]
    if not chosen:
        last = max(each.index for each in fitting)
        problem = f"run {status.run} has no pod {index}" + (f" of role {wanted}" if wanted else "")
        raise InputError(Problem(problem, hint=f"they are counted from 0 to {last}"))
    return chosen


def before(status: RunStatus, pod: PodStatus) -> PodStatus | None:
    """Return the pod in whose place a pod is."""
    earlier = [
        each
        for each in status.pods
        if (each.role, each.index) == (pod.role, pod.index) and each.created <= pod.created and each is not pod
    ]
    return max(earlier, key=lambda each: each.created, default=None)


def container(pod: PodStatus, name: str) -> str:
    """Return the container of this name, or without one that which counts."""
    if name and name not in pod.containers:
        hint = suggest(name, pod.containers) or f"its containers: {', '.join(pod.containers)}"
        raise InputError(Problem(f"pod {pod.name} has no container {name!r}", hint=hint))
    return name or next(iter(pod.containers), "")


def title(pod: PodStatus, among: Sequence[PodStatus]) -> str:
    """Return what a pod is called in its run: its role, and its index where the role has several."""
    several = sum(each.role == pod.role for each in among) > 1 or pod.index
    role = pod.role or pod.name
    return f"{role} {pod.index}" if several else role
