"""Workloads of each kind whose pods have a fate, and runs of them, as `deploy` makes them."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from controlplane import fates
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object, Reference

WHEN = "2026-01-01T00:00:00Z"
#: What the strictest level of Pod Security wants of containers and of pods.
CONFINED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
IDENTITY = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}


def template(fate: str, **container: Any) -> Object:
    """Return a template of pods, that the strictest level of Pod Security admits."""
    own = {"name": "training", "image": "registry.example/training:1", "securityContext": CONFINED, **container}
    spec = {"restartPolicy": "Never", "securityContext": IDENTITY, "containers": [own]}
    return {"metadata": {"annotations": {fates.ANNOTATION: fate}}, "spec": spec}


def job(name: str, fate: str, container: Object | None = None, **spec: Any) -> Object:
    inside = {"backoffLimit": 0, "template": template(fate, **container or {}), **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": inside}


def pod(name: str, fate: str) -> Object:
    made = template(fate)
    made["metadata"]["name"] = name
    return {"apiVersion": "v1", "kind": "Pod", **made}


def lasting(kind: str, name: str, fate: str, **spec: Any) -> Object:
    """Return a Deployment or a StatefulSet of two pods."""
    made = template(fate)
    made["metadata"]["labels"] = labels = {"app.kubernetes.io/instance": name}
    made["spec"]["restartPolicy"] = "Always"
    inside = {"replicas": 2, "selector": {"matchLabels": labels}, "template": made, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": inside}


def mpi_job(name: str, fate: str, of_workers: str = "run") -> Object:
    roles = {"Launcher": {"template": template(fate)}, "Worker": {"replicas": 2, "template": template(of_workers)}}
    spec = {"runPolicy": {"backoffLimit": 0}, "mpiReplicaSpecs": roles}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name}, "spec": spec}


def job_set(name: str, *fates_of: tuple[str, str]) -> Object:
    """Return a JobSet of a role for each name and fate; of each role there are two Jobs with two pods."""
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimit": 0}
    made = [
        {"name": role, "replicas": 2, "template": {"spec": {**spec, "template": template(fate)}}}
        for role, fate in fates_of
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": made},
    }


def leader_worker_set(name: str) -> Object:
    """Return a LeaderWorkerSet of two groups with two workers each."""
    made = {role: template("run") for role in ("leader", "worker")}
    for each in made.values():
        each["spec"]["restartPolicy"] = "Always"
    inside = {"size": 3, **{f"{role}Template": each for role, each in made.items()}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": 2, "leaderWorkerTemplate": inside},
    }


def fated(name: str, fate: str) -> Object:
    """Return the change that gives a pod another fate."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {fates.ANNOTATION: fate}}}


def put(kubectl: Kubectl, objects: Mapping[str, Sequence[Object]]) -> None:
    """Record runs and apply their objects, all in two calls."""
    labelled = {run: runs.labelled(items, run, kubectl.namespace) for run, items in objects.items()}
    made = [record(run, items, kubectl.namespace).of(items).to_object() for run, items in labelled.items()]
    trusting = ("--validate=false", "--filename=-")  # what to validate by is large, and slow to fetch
    kubectl.run("create", *trusting, data=listed(made))
    kubectl.run("apply", "--server-side", *trusting, data=listed(item for items in labelled.values() for item in items))


def record(run: str, objects: Sequence[Object], namespace: str) -> RunRecord:
    """Return the first record of a run."""
    about = {"package": "mnist", "version": "1.0.0", "use_case": "quickstart/mlops/first-run", "who": "ann"}
    own = tuple(Reference.of(item, namespace) for item in objects)
    return RunRecord(run=run, number=1, when=WHEN, objects=own, **about)


def around(queued: Sequence[Object] = ()) -> Any:
    """Return what is around runs: what waits in queues, no warning and no claim."""
    return SimpleNamespace(warnings=(), queued=queued, claims=())
