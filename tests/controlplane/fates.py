"""What becomes of a pod that has the annotation `ANNOTATION`: stages of kwok, which otherwise lets all pods do well.

A pod whose annotation changes goes on to its new fate, such as from ``run`` to ``fail``.
"""

import json
from collections.abc import Iterator, Mapping

from controlplane.api import Object

ANNOTATION = "packyard-tests/fate"
_OWN = f'.metadata.annotations["{ANNOTATION}"]'
_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_NOW = "{{ Now | Quote }}"
_STARTED = {"running": {"startedAt": _NOW}}


def _ended(code: int, reason: str) -> Object:
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": _NOW, "finishedAt": _NOW}}


def _waits(reason: str, message: str) -> Object:
    return {"waiting": {"reason": reason, "message": message}}


_CRASHED = {"restartCount": 3, "lastState": _ended(7, "Error")}
_NO_IMAGE = 'rpc error: code = NotFound desc = failed to resolve image "{{ .image }}": {{ .image }}: not found'
_LOW = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. "
#: Of each fate: what the status of the pod gets, and that of each of its containers.
FATES: Mapping[str, tuple[Object, Object]] = {
    "run": ({"phase": "Running"}, {"ready": True, "state": _STARTED}),  # for ever, in a Job as well
    "never-ready": ({"phase": "Running"}, {"state": _STARTED}),
    "complete": ({"phase": "Succeeded"}, {"state": _ended(0, "Completed")}),
    "fail": ({"phase": "Failed"}, {"state": _ended(7, "Error")}),
    "out-of-memory": ({"phase": "Failed"}, {"state": _ended(137, "OOMKilled")}),
    "evict": ({"phase": "Failed", "reason": "Evicted", "message": _LOW}, {"state": _ended(137, "Error")}),
    "restart": ({"phase": "Running"}, {"ready": True, "state": _STARTED, **_CRASHED}),
    "crash": (
        {"phase": "Running"},
        {"state": _waits("CrashLoopBackOff", "back-off 40s restarting failed container"), **_CRASHED},
    ),
    "unpullable": (
        {"phase": "Pending"},
        {"state": _waits("ImagePullBackOff", f"Back-off pulling image: ErrImagePull: {_NO_IMAGE}")},
    ),
}


def spare(stage: Object) -> Object:
    """Return a stage of kwok's own; it leaves pods with a fate alone, until they are deleted.

    One that Kueue holds has to fail before it is gone.
    """
    spec = stage["spec"]
    expressions = spec["selector"]["matchExpressions"]
    if "delete" in spec["next"]:
        expressions.append(_held("NotIn"))
    elif spec["resourceRef"]["kind"] == "Pod":
        expressions.append({"key": _OWN, "operator": "DoesNotExist"})
    return stage


def _held(operator: str) -> Object:
    return {"key": ".metadata.finalizers.[]", "operator": operator, "values": ["kueue.x-k8s.io/managed"]}


def stages() -> Iterator[Object]:
    """Yield a stage for each fate; one has come true where the status of the pod says so."""
    for name, (pod, container) in FATES.items():
        is_met = f'select( .message == "{name}" ) | .type'
        expressions = [
            {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
            {"key": ".spec.nodeName", "operator": "Exists"},
            {"key": _OWN, "operator": "In", "values": [name]},
            {"key": f".status.conditions.[] | {is_met}", "operator": "DoesNotExist"},
        ]
        yield _stage(f"pod-{name}", expressions, _template(name, pod, container))
    is_deleted = {"key": ".metadata.deletionTimestamp", "operator": "Exists"}
    yield _stage("pod-end", [is_deleted, _held("In")], "phase: Failed")  # as a kubelet says of it


def _stage(name: str, expressions: list[Object], status: str) -> Object:
    goes_on = {"key": ".status.phase", "operator": "NotIn", "values": ["Failed", "Succeeded"]}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [*expressions, goes_on]},
            "next": {"statusTemplate": status},
        },
    }


def _template(name: str, pod: Object, container: Object) -> str:
    """Return a status as Go's template, with the name of the fate as the message of a condition."""
    is_ready = "True" if container.get("ready") else "False"
    conditions = [
        {"type": each, "status": is_ready, "lastTransitionTime": _NOW, "message": name}
        for each in ("Ready", "ContainersReady")
    ]
    status = {"ready": False, "restartCount": 0, **container, "name": "{{ .name }}", "image": "{{ .image }}"}
    lines = [
        *(f"{key}: {_text(value)}" for key, value in {**pod, "startTime": _NOW, "conditions": conditions}.items()),
        "containerStatuses:",
        f"{{{{ range .spec.containers }}}}\n- {_text(status)}\n{{{{ end }}}}",
    ]
    return "\n".join(lines)


def _text(value: object) -> str:
    """Return JSON in which quotes belong to what the template puts in."""
    return json.dumps(value).replace(f'"{_NOW}"', _NOW)
