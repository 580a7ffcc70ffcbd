"""The pod that results are copied from: as the run's own pods are the user, their image and their volume, no more.

It mounts the one volume, to be read alone, has no token and no rights, and sleeps until it is deleted. A Job makes it,
which ends it after `LONGEST` and is then deleted by the cluster: whoever is killed leaves nothing for long.
"""

from __future__ import annotations

from dataclasses import dataclass

from packyard.core.errors import ConflictError, InputError, Problem
from packyard.core.kubernetes import trouble
from packyard.core.kubernetes.lenient import Object, is_ending, labels_of, mapping, mappings, name_of, text
from packyard.running.runs import beside
from packyard.running.runs import look as looking
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.results import Place
from packyard.running.runs.run import LABEL

#: Seconds that a pod lives at most.
LONGEST = 6 * 3600
CONTAINER = _PURPOSE = "results"
_ONE_POD, _ONE_NODE = "ReadWriteOncePod", "ReadWriteOnce"
#: Who a pod is: it has to be allowed to read what the run wrote.
_IDENTITY = ("fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot", "runAsUser", "seLinuxOptions")
_OF_POD = ("hostUsers", "imagePullSecrets", "os", "runtimeClassName", "tolerations")
_CONFINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
_RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}
_REFUSED = "FailedCreate"


def make(place: Place, run: str, word: str, *, image: str = "", node: str = "") -> Object:
    """Make the Job for a place that a volume holds; on a ``node``, where only that may mount it.

    ``word`` tells it from others of the run.
    """
    assert place.pod
    name = beside.name(run, _PURPOSE, word)
    labels = beside.labels(name, _PURPOSE)
    template = {
        "metadata": _metadata(place, labels),
        "spec": _pod(place, image or text(place.container.get("image")), node),
    }
    return beside.job(name, labels, template, LONGEST)


def _metadata(place: Place, labels: dict[str, str]) -> Object:
    """Return the annotations of the run's pods, such as that which keeps a sidecar away."""
    assert place.pod
    metadata = mapping((place.pod.template or {}).get("metadata")) or mapping(place.pod.get("podMetadata"))
    return {"annotations": mapping(metadata.get("annotations")), "labels": labels}


def _pod(place: Place, image: str, node: str) -> Object:
    assert place.pod
    whole, own = (mapping(each.get("securityContext")) for each in (place.pod, place.container))
    identity = {key: value for key in _IDENTITY if (value := own.get(key, whole.get(key))) is not None}
    if groups := whole.get("supplementalGroups"):
        identity["supplementalGroups"] = groups
    kept = {key: value for key in _OF_POD if (value := place.pod.get(key)) is not None}
    selector = {
        key: value for key, value in mapping(place.pod.get("nodeSelector")).items() if key.startswith("kubernetes.io/")
    }
    mounted = {key: value for key, value in place.mount.items() if key != "mountPropagation"}
    return {
        **kept,
        **({"nodeSelector": selector} if selector else {}),
        **({"affinity": _on(node)} if node else {}),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "securityContext": {**identity, "seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [dict(place.volume)],
        "containers": [
            {
                "name": CONTAINER,
                "image": image,
                "command": ["/bin/sh", "-c", f"sleep {LONGEST}"],
                "resources": _RESOURCES,
                "securityContext": _CONFINED,
                "volumeMounts": [{**mounted, "readOnly": True}],
            }
        ],
    }


def _on(node: str) -> Object:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a place can be read alone: on a ``node``, or by a ``pod`` of the run; anywhere, where both are empty."""

    node: str = ""
    pod: str = ""


def bound(kubectl: Kubectl, place: Place, run: str) -> Bound:
    """Return where a place can be read now.

    Raises `InputError` or `ConflictError` for what no pod can mount now.
    """
    if place.claim:
        return _of_claim(kubectl, place, run)
    of_run = kubectl.read("get", "pods", f"--selector={LABEL}={run}")
    if place.is_fleeting:
        inside = next((each for each in of_run if mapping(each.get("status")).get("phase") == "Running"), None)
        if not inside:
            problem = f"{place.path} is on a volume that is deleted with each pod, and no pod of {run} runs"
            raise InputError(Problem(problem, hint="packyard show PACKAGE lists use cases whose storage stays"))
        return Bound(pod=name_of(inside))
    if place.volume.get("hostPath"):
        nodes = [node for each in of_run if (node := _node(each))]
        if not nodes:
            problem = f"{place.path} is on the node of each pod, and no pod is left that says on which"
            raise InputError(Problem(problem, hint="look there yourself: kubectl debug node/NODE --image=busybox -it"))
        return Bound(node=nodes[0])
    return Bound()


def _of_claim(kubectl: Kubectl, place: Place, run: str) -> Bound:
    claims = kubectl.read("get", "persistentvolumeclaims", place.claim, "--ignore-not-found")
    if not claims:
        problem = f"claim {place.claim} is not there any more, and what was on it went with it"
        hint = f"{kubectl.by_hand('get', 'persistentvolumes')} shows volumes that were kept"
        raise InputError(Problem(problem, hint=hint))
    modes = mapping(claims[0].get("spec")).get("accessModes") or []
    if not {_ONE_POD, _ONE_NODE}.issuperset(modes):
        return Bound()
    users = [each for each in kubectl.read("get", "pods") if _uses(each, place.claim)]
    if _ONE_POD in modes and users:
        if labels_of(users[0]).get(LABEL) == run and mapping(users[0].get("status")).get("phase") == "Running":
            return Bound(pod=name_of(users[0]))
        problem = f"claim {place.claim} is for one pod alone, and pod {name_of(users[0])} has it"
        raise ConflictError(Problem(problem, hint="try again when that has ended"))
    return Bound(node=next((node for each in users if (node := _node(each))), ""))


def _node(pod: Object) -> str:
    return text(mapping(pod.get("spec")).get("nodeName"))


def _uses(pod: Object, claim: str) -> bool:
    volumes = (mapping(each.get("persistentVolumeClaim")) for each in mappings(mapping(pod.get("spec")).get("volumes")))
    is_over = mapping(pod.get("status")).get("phase") in ("Succeeded", "Failed")
    return not is_over and any(each.get("claimName") == claim for each in volumes)


def delete(kubectl: Kubectl, copier: Object) -> None:
    """Delete the Job, and with it its pod."""
    hint = kubectl.by_hand("delete", "job", name_of(copier))
    beside.delete(kubectl, [copier], left=Problem("the pod that copies could not be deleted", hint=hint))


@dataclass(frozen=True, slots=True)
class Started:
    """What has become of a copier: the ``pod`` that runs, what is waited for, or why it will not run."""

    pod: str = ""
    waiting: str = ""
    refused: str = ""


def look(kubectl: Kubectl, copier: Object) -> Started:
    """Return whether the pod runs."""
    name = name_of(copier)
    pods = [each for each in kubectl.read("get", "pods", f"--selector={LABEL}={name}") if not is_ending(each)]
    if not pods:
        if refused := looking.warned(looking.warnings(kubectl), {("Job", name)}, {_REFUSED}):
            return Started(refused=trouble.of_creation(refused))
        return Started(waiting="it is not made yet")
    phase, reason = mapping(pods[0].get("status")).get("phase"), trouble.of_pod(pods[0])
    if phase == "Running":
        return Started(name_of(pods[0]))
    if phase in ("Succeeded", "Failed") or trouble.is_failing(pods[0]):
        return Started(refused=reason or "it has ended")
    return Started(
        waiting=reason
        or looking.warned(looking.warnings(kubectl), {("Pod", name_of(pods[0]))}, trouble.EXPLAINING)
        or "its image is pulled"
    )
