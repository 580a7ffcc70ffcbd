"""How objects end, by a table of kinds: where their status says so, and by which words.

Job           status.conditions[type=Complete], Failed
Workflow      status.phase: Succeeded, Failed, Error
Deployment    no end; it fails where it makes no progress
RayJob        status.jobDeploymentStatus: Complete or Failed, by status.jobStatus: SUCCEEDED
"""

from collections.abc import Mapping

from packyard.core.kubernetes import kinds
from packyard.core.kubernetes.kinds import APPS, ARGO, BATCH, CORE, ENDLESS, JOBSET, KUBEFLOW, RAY, TRAINER, Kind, of
from packyard.core.kubernetes.lenient import Object, condition, mapping, mappings, text

SUCCEEDED, FAILED = "succeeded", "failed"

#: Conditions that say of a kind that it is over, well or badly.
_CONDITIONS: Mapping[Kind, tuple[str, str]] = {
    (BATCH, "Job"): ("Complete", "Failed"),
    (JOBSET, "JobSet"): ("Completed", "Failed"),
    (TRAINER, "TrainJob"): ("Complete", "Failed"),
    (KUBEFLOW, "MPIJob"): ("Succeeded", "Failed"),
}
#: Phases that say of a kind that it is over, badly; ``Succeeded`` is well.
_PHASES: Mapping[Kind, tuple[str, ...]] = {(ARGO, "Workflow"): ("Failed", "Error"), (CORE, "Pod"): ("Failed",)}
_STUCK = ("Progressing", "ProgressDeadlineExceeded")
_RAY_JOB = (RAY, "RayJob")
#: The fields of a status that count the pods of a workload, and those of them that are as it says now.
_UPDATED: Mapping[Kind, tuple[str, str]] = {
    **dict.fromkeys(of(APPS, "Deployment", "StatefulSet"), ("replicas", "updatedReplicas")),
    (APPS, "DaemonSet"): ("desiredNumberScheduled", "updatedNumberScheduled"),
}


def of_object(item: Object) -> tuple[str, str]:
    """Return how a workload ended, `SUCCEEDED`, `FAILED` or an empty text, and why, in its controller's words."""
    kind, status = kinds.kind_of(item), mapping(item.get("status"))
    if kind == _RAY_JOB:
        return _of_ray_job(status)
    if kind in _PHASES:
        phase = text(status.get("phase"))
        ended = SUCCEEDED if phase == "Succeeded" else FAILED if phase in _PHASES[kind] else ""
        return ended, text(status.get("message")) if ended == FAILED else ""
    good, bad = _CONDITIONS.get(kind, ("", ""))
    for entry in mappings(status.get("conditions")):
        why = text(entry.get("message")) or text(entry.get("reason"))
        if kind in ENDLESS and (entry.get("type"), entry.get("reason")) == _STUCK and not is_unseen(item):
            return FAILED, why
        if entry.get("status") == "True" and entry.get("type") in (good, bad):
            return (SUCCEEDED, "") if entry.get("type") == good else (FAILED, why)
    return "", ""


def _of_ray_job(status: Object) -> tuple[str, str]:
    """Return how a RayJob ended; its pods go on, or are gone, whatever became of it."""
    if status.get("jobDeploymentStatus") not in ("Complete", "Failed"):
        return "", ""
    if status.get("jobStatus") == "SUCCEEDED":
        return SUCCEEDED, ""
    return FAILED, text(status.get("message")) or text(status.get("reason")) or f"job {text(status.get('jobStatus'))}"


def unready(item: Object) -> str:
    """Return what a controller says of an object that is not ready."""
    ready = condition(item, "Ready")
    return (text(ready.get("message")) or text(ready.get("reason"))) if ready.get("status") == "False" else ""


def is_suspended(item: Object) -> bool:
    """Say whether a workload waits for somebody to let it go on, such as a queue."""
    spec = mapping(item.get("spec"))
    return spec.get("suspend") is True or mapping(spec.get("runPolicy")).get("suspend") is True


def is_unseen(item: Object) -> bool:
    """Say whether a controller of Kubernetes has yet to look at the last change of a workload."""
    if kinds.kind_of(item) not in _UPDATED:
        return False
    observed = mapping(item.get("status")).get("observedGeneration")
    generation = mapping(item.get("metadata")).get("generation")
    return isinstance(observed, int) and isinstance(generation, int) and observed < generation


def updating(item: Object) -> str:
    """Return how far a controller of Kubernetes is with the last change of a workload; empty where it has done it.

    It is what ``kubectl rollout status`` waits for: until then pods as they were before may run, and be ready.
    """
    kind, status = kinds.kind_of(item), mapping(item.get("status"))
    if kind not in _UPDATED:
        return ""
    if is_unseen(item):
        return "its controller has yet to look at the change"
    of_all, of_new = _UPDATED[kind]
    counts = status.get(of_all), status.get(of_new, 0)
    if isinstance(counts[0], int) and isinstance(counts[1], int) and counts[1] < counts[0]:
        return f"{counts[1]} of {counts[0]} pods are as they are to be"
    return ""


def is_untouched(item: Object) -> bool:
    """Say whether no controller has said anything of a workload of a kind that is not Kubernetes' own."""
    return kinds.kind_of(item)[0] not in (CORE, APPS, BATCH) and not mapping(item.get("status"))
