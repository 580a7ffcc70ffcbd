"""Whether the API server would take the pods whole, by a dry run of one of each form: policies, webhooks and quotas.

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
from packyard.running.runs.apply import dropped
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
    """A set of pods, the pod that the server was to make, and what it said; None where it was not asked."""

    pod_set: PodSet
    pod: Object
    done: Done | None


def attempt(objects: Sequence[Object], kubectl: Kubectl) -> list[Attempt]:
    """Have the server try a pod of each form, all together; those of Argo get containers that only Argo knows."""
    sets = [(each, _pod(each)) for each in wanted.find(objects)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        forms = {json.dumps(pod) for each, pod in sets if not each.pod.is_argo}
        tried = {form: pool.submit(kubectl.call, *_TRY, data=form.encode()) for form in forms}
    done = {form: call.result() for form, call in tried.items()}
    return [Attempt(each, pod, done.get(json.dumps(pod))) for each, pod in sets]


def judge(attempts: Sequence[Attempt], kubectl: Kubectl) -> list[Finding]:
    """Return what the server refuses or drops, once for pods that are alike; nothing where one may not make pods."""
    return list(dict.fromkeys(finding for each in attempts if each.done for finding in _judge(each, kubectl)))


def admitted(attempts: Sequence[Attempt], kubectl: Kubectl) -> list[PodSet]:
    """Return the sets of pods as the server would have them, or as they are where it takes none or was not asked."""
    return [
        replace(each.pod_set, pod=pods.find(made)[0]) if (made := _made(each, kubectl)) else each.pod_set
        for each in attempts
    ]


def _made(each: Attempt, kubectl: Kubectl) -> Object:
    """Return the pod as the server would have it; nothing where it takes none."""
    objects = kubectl.objects(each.done.output) if each.done and not each.done.code else []
    return objects[0] if objects else {}


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


def _judge(each: Attempt, kubectl: Kubectl) -> Iterator[Finding]:
    who, message = each.pod_set.who, each.done.errors if each.done and each.done.code else ""
    if made := _made(each, kubectl):
        for path in dropped(each.pod["spec"], made.get("spec"), "spec"):
            why = "this version of Kubernetes does not know it, and the pods would run without"
            yield error(_CHECK, who, f"the API server drops {path} of its pods", why=why)
    elif message and not FORBIDDEN.search(message):
        reason = next(iter(split(message)), message)
        if _NO_DRY_RUN in message:
            yield unknown(_CHECK, who, f"the API server cannot say whether it takes its pods: {reason}")
        else:
            why = "the API server refuses its pods, which only events say"
            yield error(_CHECK, who, trouble.of_creation(reason), why=why)
