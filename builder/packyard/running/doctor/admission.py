"""Whether the API server would take the pods, by a dry run of one of each form: policies, webhooks and quotas.

What it admits is what a scheduler will see: webhooks and admission plug-ins add tolerations, for example.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from packyard.core.kubernetes import pods, trouble
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.running.doctor import wanted
from packyard.running.doctor.finding import Finding, error, unknown
from packyard.running.doctor.wanted import PodSet
from packyard.running.runs.kubectl import FORBIDDEN, Done, Kubectl, split

_CHECK = "admission"
_TRY = ("create", "--dry-run=server", "--validate=ignore", "--output=json", "--filename=-")
_NO_NAMESPACE = "(NotFound): namespaces "
_NO_DRY_RUN = "does not support dry run"
#: What comes with the run, or is made for each pod, and is not there yet.
_LATER = ("serviceAccountName", "serviceAccount", "resourceClaims", "priority")


def admitted(objects: Sequence[Object], kubectl: Kubectl) -> tuple[list[Finding], list[PodSet]]:
    """Return what the server refuses, and the sets of pods as it would have them.

    Pods that Argo makes stay as they are: they get containers that only Argo knows. So do those of a namespace that is
    not there yet, and all where the user may not create pods.
    """
    found, seen = list[Finding](), list[PodSet]()
    tried: dict[str, Done] = {}
    for each in wanted.find(objects):
        alike = "" if each.pod.is_argo else json.dumps(each.pod.spec, sort_keys=True)
        if alike and alike not in tried:
            tried[alike] = kubectl.call(*_TRY, data=json.dumps(_pod(each)).encode())
            found += _refused(each, tried[alike].said) if tried[alike].code else ()
        done = tried.get(alike)
        made = kubectl.objects(done.output) if done and not done.code else []
        seen.append(replace(each, pod=pods.find(made[0])[0]) if made else each)
    return found, seen


def _pod(each: PodSet) -> Object:
    metadata = mapping(mapping(each.pod.template).get("metadata"))
    kept = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    spec = {field: value for field, value in each.pod.spec.items() if field not in _LATER}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "generateName": "packyard-"},
        "spec": {**spec, "automountServiceAccountToken": False},
    }


def _refused(each: PodSet, said: str) -> Iterator[Finding]:
    if FORBIDDEN.search(said) or _NO_NAMESPACE in said:
        return
    reason = next(iter(split(said)), said)
    if _NO_DRY_RUN in said:
        yield unknown(_CHECK, each.who, f"the API server cannot say whether it takes its pods: {reason}")
    else:
        why = "the API server refuses its pods, which only events say"
        yield error(_CHECK, each.who, trouble.of_creation(reason), why=why)
