"""Roles: the pods of a workload that do the same, how many it wants, and which pod has which role and index.

    MPIJob        spec.mpiReplicaSpecs.Worker       role worker; a pod says so in labels of the operator
    JobSet        spec.replicatedJobs[0]            its ``name``; of a TrainJob, those of the JobSet that is made of it
    Job           the object itself                 what its name adds to that of the run, else what its pods are for
    Workflow      its pods alone                    the step that each is, for which there is no number beforehand
    LeaderWorkerSet   spec.leaderWorkerTemplate     leader, the first pod of each group, and worker

Controllers label pods with the name of their object. Those of Deployments do not; their pods have an owner.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import APPS, ARGO, BATCH, CORE, JOBSET, KUBEFLOW, LWS, TRAINER, Kind, kind_of, of
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, owners_of, text
from packyard.core.kubernetes.pods import Pod

#: The roles that speak for a run, the first that it has.
CHIEFS = ("launcher", "chief", "master", "leader")

_INDEX = "batch.kubernetes.io/job-completion-index"
_TRAINING = "training.kubeflow.org"
_JOBSET = ("jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name")
_OUTER = "jobset.sigs.k8s.io/job-index"
_GROUP = "leaderworkerset.sigs.k8s.io/group-index"
#: The labels of a kind's pods: with the name of the object, the role and the index.
_LABELS: Mapping[Kind, tuple[str, str, str]] = {
    (BATCH, "Job"): ("job-name", "", _INDEX),
    (KUBEFLOW, "MPIJob"): (f"{_TRAINING}/job-name", f"{_TRAINING}/job-role", f"{_TRAINING}/replica-index"),
    (JOBSET, "JobSet"): (*_JOBSET, _INDEX),
    (TRAINER, "TrainJob"): (*_JOBSET, _INDEX),
    (ARGO, "Workflow"): ("workflows.argoproj.io/workflow", "", ""),
    (LWS, "LeaderWorkerSet"): ("leaderworkerset.sigs.k8s.io/name", "", "leaderworkerset.sigs.k8s.io/worker-index"),
}
_SET_INDEX = "apps.kubernetes.io/pod-index"
#: Kinds that have a mapping for each role.
_SEVERAL = frozenset(((KUBEFLOW, "MPIJob"), (JOBSET, "JobSet")))
#: Kinds of which pods are made, and that are of one role.
_SINGLE = frozenset((*of(APPS, "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), (BATCH, "Job"), (CORE, "Pod")))
#: Kinds that only others make pods of, or that make them at times.
_TEMPLATES = frozenset(
    (
        (CORE, "PodTemplate"),
        *of(BATCH, "CronJob"),
        *of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"),
        *of(ARGO, "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"),
    )
)
_MADE: Mapping[Kind, tuple[tuple[str, str], ...]] = {
    (APPS, "Deployment"): (("apps/v1", "ReplicaSet"),),
    (LWS, "LeaderWorkerSet"): (("apps/v1", "StatefulSet"),),
    (JOBSET, "JobSet"): (("batch/v1", "Job"),),
    (KUBEFLOW, "MPIJob"): (("batch/v1", "Job"),),
    (TRAINER, "TrainJob"): (("jobset.x-k8s.io/v1alpha2", "JobSet"), ("batch/v1", "Job")),
}
_STEP = "workflows.argoproj.io/node-name"
_TRY = re.compile(r"[(\[].*?[)\]]")


@dataclass(frozen=True, slots=True)
class Role:
    """How many pods are wanted: ``wanted`` in all, ``at_once`` side by side, ``per_job`` in each Job or group."""

    name: str
    wanted: int
    at_once: int
    per_job: int = 0


def is_workload(kind: Kind) -> bool:
    """Say whether pods are made of objects of a kind."""
    return kind in _LABELS or kind in _SINGLE


def is_unknown(item: Object) -> bool:
    """Say whether an object has pods, and is of a kind that nothing else is known of here."""
    kind = kind_of(item)
    return not is_workload(kind) and kind not in _TEMPLATES and bool(pods.find(item))


def made_of(kind: Kind) -> tuple[tuple[str, str], ...]:
    """Return apiVersion and kind of the objects between a workload and its pods."""
    return _MADE.get(kind, ())


def find(item: Object, run: str) -> list[Role]:
    """Return the roles of a workload, in the order in which it has them; those of a Workflow are not known."""
    kind, own_pods = kind_of(item), pods.find(item)
    if kind == (LWS, "LeaderWorkerSet"):
        return _group(mapping(item.get("spec")))
    if kind in _SINGLE:
        name = own_name(item, run)
        return [Role(name, *count(pod)) for pod in own_pods[:1]] or [Role(name, 1, 1)]
    return [Role(pod.role, *count(pod)) for pod in own_pods] if kind in _SEVERAL else []


def own_name(item: Object, run: str) -> str:
    """Return what a workload of one role is called among those of a run."""
    name = name_of(item)
    if name != run:
        return name.removeprefix(f"{run}-")
    own_pods = pods.find(item)
    labels = labels_of(mapping(own_pods[0].template)) if own_pods else {}
    containers = mappings(own_pods[0].spec.get("containers")) if own_pods else []
    label = text(labels.get("app.kubernetes.io/component")) or text(containers[0].get("name") if containers else "")
    return label or kind_of(item)[1].lower()


def of_pod(pod: Object, item: Object, roles: Sequence[Role]) -> tuple[str, int | None] | None:
    """Return the role and the index of a pod in a workload with these roles; None if it is a pod of another one."""
    kind, name = kind_of(item), name_of(item)
    labels = labels_of(pod)
    if kind == (CORE, "Pod"):
        return (roles[0].name, None) if name_of(pod) == name else None
    if kind[0] == APPS:
        owners = [text(owner.get("name")) for owner in owners_of(pod)]
        if kind == (APPS, "Deployment"):  # by a ReplicaSet of its name and a hash
            owners = [owner.rpartition("-")[0] for owner in owners]
        return (roles[0].name, number(labels.get(_SET_INDEX))) if name in owners else None
    of_object, of_role, of_index = _LABELS.get(kind, ("", "", ""))
    if not of_object or labels.get(of_object) != name:
        return None
    if kind == (ARGO, "Workflow"):
        return _step(pod), None
    role = text(labels.get(of_role)) if of_role else roles[0].name
    index = number(labels.get(of_index))
    if kind == (LWS, "LeaderWorkerSet") and index:  # the first of a group leads it
        role, index = roles[1].name, index - 1
    per_job = next((candidate.per_job for candidate in roles if candidate.name == role), 0)
    outer = number(labels.get(_OUTER) or labels.get(_GROUP)) or 0
    return role, outer * per_job + (index or 0) if per_job else index


def count(pod: Pod[Object]) -> tuple[int, int, int]:
    """Return how many of a pod are wanted, how many at once, and in each Job: each mapping above it says its part.

    spec: {replicas: 4}                                               4, 4, 0
    replicas: 2, template: {spec: {completions: 3, parallelism: 1}}   6, 2, 3
    """
    times, wanted, at_once, per_job = 1, 1, 1, 0
    for _, above in pod.chain:
        replicas, parallelism, completions, size = (
            number(above.get(field)) for field in ("replicas", "parallelism", "completions", "size")
        )
        times *= 1 if replicas is None else replicas
        if (parallelism, completions) != (None, None):
            at_once = 1 if parallelism is None else parallelism
            wanted = per_job = at_once if completions is None else completions
        if size and pod.role == "worker" and "workerTemplate" in above:  # which leaders may be made of as well
            wanted = at_once = size - ("leaderTemplate" in above)
    return wanted * times, min(at_once, wanted) * times, per_job if times > 1 else 0


def _group(spec: Object) -> list[Role]:
    groups, size = number(spec.get("replicas")), number(mapping(spec.get("leaderWorkerTemplate")).get("size"))
    times = 1 if groups is None else groups
    return [Role(name, times * item, times * item, item) for name, item in (("leader", 1), ("worker", (size or 1) - 1))]


def _step(pod: Object) -> str:
    """Return the step of a Workflow that a pod is: ``run.train(1)`` is a second try of ``train``."""
    annotations = mapping(mapping(pod.get("metadata")).get("annotations"))
    return _TRY.sub("", text(annotations.get(_STEP))).rpartition(".")[2] or "step"


def number(value: object) -> int | None:
    """Return a count or an index: of an object a number, of a label its digits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
