"""How many pods a run has at once, which is what quotas have to have room for, and which it has already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import TRAINER
from packyard.core.kubernetes.lenient import Object, kind_of, labels_of, mapping, name_of, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.doctor.facts import Facts
from packyard.running.runs import roles
from packyard.running.runs import run as runs

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


@dataclass(frozen=True, slots=True)
class PodSet:
    """So many pods alike, of an object. Those of a ``step`` run after those of others, and beside all that is none."""

    who: str
    pod: Pod[Object]
    count: int
    is_step: bool = False


def find(objects: Sequence[Object]) -> list[PodSet]:
    """Return the pods of objects, with their numbers at the largest moment."""
    trained = [mapping(item.get("spec")) for item in objects if kind_of(item) == (TRAINER, "TrainJob")]
    nodes = {
        text(mapping(job.get("runtimeRef")).get("name")): mapping(job.get("trainer")).get("numNodes") for job in trained
    }
    return [
        PodSet(f"{text(item.get('kind'))} {name_of(item)}", pod, _count(pod, nodes.get(name_of(item))), pod.is_argo)
        for item in objects
        for pod in pods.find(item)
    ]


def moments(sets: Sequence[PodSet]) -> list[list[PodSet]]:
    """Return the pods that run at once: all that are no step, with each step in turn."""
    lasting = [pods for pods in sets if not pods.is_step]
    return [[*lasting, pods] for pods in sets if pods.is_step] or ([lasting] if lasting else [])


def there(objects: Sequence[Object], facts: Facts) -> list[Object]:
    """Return the pods of the run that is there already, which the same objects do not have a second time."""
    name = runs.name_of(objects, "")
    known_pods = ((mapping(item.get("metadata")), item) for item in facts.objects.get("Pod", ()))
    return [
        item
        for metadata, item in known_pods
        if metadata.get("namespace") == facts.namespace and mapping(metadata.get("labels")).get(runs.LABEL) == name
    ]


def _count(pod: Pod[Object], nodes: object) -> int:
    """Return how many of a pod there are at once; a TrainJob may say how many ``nodes`` its runtime trains on.

    Of an Argo template there is one at a time.
    """
    if nodes is not None and any(labels_of(above).get(_STEP) == "trainer" for _, above in pod.chain):
        return roles.number(nodes) or 1
    return 1 if pod.is_argo else roles.count(pod)[1]
