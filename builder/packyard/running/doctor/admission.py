"""Whether the API server would take the pods, by a dry run of one of each form: policies, webhooks and quotas.

What it admits is what a scheduler will see: webhooks and admission plug-ins add tolerations, for example.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.running.doctor import wanted
from packyard.running.doctor.finding import Finding, error, unknown
from packyard.running.doctor.wanted import PodSet
from packyard.running.runs import trouble
from packyard.running.runs.kubectl import FORBIDDEN, Done, Kubectl, split

_CHECK = "admission"
_TRY = ("create", "--dry-run=server", "--validate=ignore", "--output=json", "--filename=-")
#: Calls of kubectl at once.
_AT_ONCE = 4
_NO_DRY_RUN = "does not support dry run"
#: What comes with the run, or is made for each pod, and is not there yet.
_LATER = ("serviceAccountName", "serviceAccount", "resourceClaims", "priority")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A set of pods, and what the server said as it was to make one of them; None where it was not asked."""

    pod_set: PodSet
    done: Done | None


def attempt(objects: Sequence[Object], kubectl: Kubectl) -> list[Attempt]:
    """Have the server try a pod of each form, all together; those of Argo get containers that only Argo knows."""
    sets = [(each, "" if each.pod.is_argo else json.dumps(_pod(each))) for each in wanted.find(objects)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        forms = {form for _, form in sets if form}
        tried = {form: pool.submit(kubectl.call, *_TRY, data=form.encode()) for form in forms}
    return [Attempt(each, tried[form].result() if form else None) for each, form in sets]


def refused(attempts: Sequence[Attempt]) -> list[Finding]:
    """Return what the server refuses, once for pods that are alike; nothing where the user may not make pods."""
    refusals = ((each.pod_set, each.done.errors) for each in attempts if each.done and each.done.code)
    return list(dict.fromkeys(finding for pod_set, said in refusals for finding in _refused(pod_set, said)))


def admitted(attempts: Sequence[Attempt], kubectl: Kubectl) -> list[PodSet]:
    """Return the sets of pods as the server would have them, or as they are where it takes none or was not asked."""
    return [_seen(each, kubectl) for each in attempts]


def _seen(each: Attempt, kubectl: Kubectl) -> PodSet:
    objects = kubectl.objects(each.done.output) if each.done and not each.done.code else []
    return replace(each.pod_set, pod=pods.find(objects[0])[0]) if objects else each.pod_set


def _pod(pod_set: PodSet) -> Object:
    metadata = mapping(mapping(pod_set.pod.template).get("metadata"))
    kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    spec = {field: value for field, value in pod_set.pod.spec.items() if field not in _LATER}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "generateName": "packyard-"},
        "spec": {**spec, "automountServiceAccountToken": False},
    }


def _refused(pod_set: PodSet, message: str) -> Iterator[Finding]:
    if FORBIDDEN.search(message):
        return
    reason = next(iter(split(message)), message)
    if _NO_DRY_RUN in message:
        yield unknown(_CHECK, pod_set.who, f"the API server cannot say whether it takes its pods: {reason}")
    else:
        why = "the API server refuses its pods, which only events say"
        yield error(_CHECK, pod_set.who, trouble.of_creation(reason), why=why)
