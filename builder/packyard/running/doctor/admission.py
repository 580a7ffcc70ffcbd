"""Whether the API server would take the pods whole, by a dry run of one of each form: policies, webhooks and quotas."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from packyard.core.kubernetes.lenient import Object, mapping
from packyard.running.doctor import demand
from packyard.running.doctor.demand import PodSet
from packyard.running.doctor.finding import Finding, error, unknown
from packyard.running.runs import trouble
from packyard.running.runs.kubectl import FORBIDDEN, Done, Kubectl, split

_CHECK = "admission"
_TRY = ("create", "--dry-run=server", "--validate=ignore", "--output=json", "--filename=-")
#: Calls of kubectl at once.
_AT_ONCE = 4
_NO_DRY_RUN = "does not support dry run"
#: What comes with the run, or is made for each pod, and is not there yet.
_LATER = ("serviceAccountName", "serviceAccount", "resourceClaims", "priority")


def judge(objects: Sequence[Object], kubectl: Kubectl) -> list[Finding]:
    """Have the server try a pod of each form, all together; return what it refuses or drops, once for pods alike.

    Those of Argo get containers that only Argo knows, and are not tried. Nothing is said where one may not make pods.
    """
    tried = [(pods.who, _pod(pods)) for pods in demand.find(objects) if not pods.pod.is_argo]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        forms = {json.dumps(pod) for _, pod in tried}
        calls = {form: pool.submit(kubectl.call, *_TRY, data=form.encode()) for form in forms}
    answers = ((who, pod, calls[json.dumps(pod)].result()) for who, pod in tried)
    return list(dict.fromkeys(finding for who, pod, answer in answers for finding in _judge(who, pod, answer, kubectl)))


def _pod(pod_set: PodSet) -> Object:
    metadata = mapping(mapping(pod_set.pod.template).get("metadata"))
    marks = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    spec = {field: value for field, value in pod_set.pod.spec.items() if field not in _LATER}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**marks, "generateName": "packyard-"},
        "spec": {**spec, "automountServiceAccountToken": False},
    }


def _judge(who: str, pod: Object, answer: Done, kubectl: Kubectl) -> Iterator[Finding]:
    if not answer.code:
        (admitted,) = kubectl.objects(answer.output)
        if paths := ", ".join(dropped(pod["spec"], admitted.get("spec"), "spec")):
            why = "this Kubernetes does not know it, or has it switched off, and the pods would run without"
            yield error(_CHECK, who, f"the API server drops {paths} of its pods", why=why)
    elif not FORBIDDEN.search(answer.errors):
        reason = next(iter(split(answer.errors)), answer.errors)
        if _NO_DRY_RUN in answer.errors:
            yield unknown(_CHECK, who, f"the API server cannot say whether it takes its pods: {reason}")
        else:
            why = "the API server refuses its pods, which only events say"
            yield error(_CHECK, who, trouble.of_creation(reason), why=why)


def dropped(sent: Any, answer: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of what was sent and is not in the answer: ``spec.volumes[model].image``, or a whole mount.

    A server leaves out without a word what it does not know. Values may be written otherwise, what is empty may be left
    out, and items of a list may stand elsewhere.
    """
    if answer is None and not isinstance(sent, list):
        yield path
    elif isinstance(sent, Mapping):
        for key, value in sent.items():
            if value:
                yield from dropped(value, mapping(answer).get(key), f"{path}.{key}".removeprefix("."))
    elif isinstance(sent, list):
        items = answer if isinstance(answer, list) else []
        for number, item in enumerate(sent):
            name, place = mapping(item).get("name"), f"{path}[{mapping(item).get('name') or number}]"
            rest = items if number < len(items) else []
            alike = [candidate for candidate in items if mapping(candidate).get("name") == name] if name else rest
            absent = {"name": name} if name and len(item) == 2 else None  # of one more field its path says more
            yield from min(([*dropped(item, candidate, place)] for candidate in alike or [absent]), key=len)
