"""How many pods a run has at once, which is what quotas have to have room for, and which it has already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import ARGO, BATCH, JOBSET, TRAINER, of
from packyard.core.kubernetes.lenient import Object, kind_of, labels_of, mapping, mappings, name_of, text
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
    return [each for item in objects for each in _find(item, objects)]


def moments(sets: Sequence[PodSet]) -> list[list[PodSet]]:
    """Return the pods that run at once: all that are no step, with each step in turn."""
    lasting = [each for each in sets if not each.is_step]
    return [[*lasting, each] for each in sets if each.is_step] or ([lasting] if lasting else [])


def there(objects: Sequence[Object], facts: Facts) -> list[Object]:
    """Return the pods of the run that is there already, which the same objects do not have a second time."""
    name = runs.name_of(objects, "")
    known_pods = ((mapping(item.get("metadata")), item) for item in facts.objects.get("Pod", ()))
    return [
        item
        for metadata, item in known_pods
        if metadata.get("namespace") == facts.namespace and mapping(metadata.get("labels")).get(runs.LABEL) == name
    ]


def _find(item: Object, objects: Sequence[Object]) -> Iterator[PodSet]:
    sized = _sized(item, objects)
    of_item, counts = pods.find(item), [role.at_once for role in roles.find(sized, "")]
    if len(of_item) == 1:  # leaders of a LeaderWorkerSet may be made as its workers are
        counts = [sum(counts)] if counts else []
    for pod, count in zip_longest(of_item, counts, fillvalue=1):
        if isinstance(pod, Pod):
            is_step = kind_of(item)[0] == ARGO
            yield PodSet(f"{text(item.get('kind'))} {name_of(item)}", pod, count, is_step)


def _sized(item: Object, objects: Sequence[Object]) -> Object:
    """Return an object as one whose roles are known, with the same pods: a TrainingRuntime as the JobSet made of it."""
    kind, spec = kind_of(item), mapping(item.get("spec"))
    if kind == (BATCH, "CronJob"):
        return {**item, "kind": "Job", "spec": mapping(spec.get("jobTemplate")).get("spec")}
    if kind not in of(TRAINER, "TrainingRuntime", "ClusterTrainingRuntime"):
        return item
    jobs = mapping(mapping(spec.get("template")).get("spec")).get("replicatedJobs")
    trained = (mapping(each.get("spec")) for each in objects if kind_of(each) == (TRAINER, "TrainJob"))
    users = (each for each in trained if mapping(each.get("runtimeRef")).get("name") == name_of(item))
    nodes = mapping(mapping(next(users, None)).get("trainer")).get("numNodes")
    return {
        "apiVersion": f"{JOBSET}/v1alpha2",
        "kind": "JobSet",
        "metadata": item.get("metadata"),
        "spec": {"replicatedJobs": [_trained(each, nodes) for each in mappings(jobs)]},
    }


def _trained(job: Object, nodes: object) -> Object:
    """Return a job of a runtime with as many pods as a TrainJob says."""
    template = mapping(job.get("template"))
    if nodes is None or labels_of(template).get(_STEP) != "trainer":
        return job
    sized = {**mapping(template.get("spec")), "parallelism": nodes, "completions": nodes}
    return {**job, "template": {**template, "spec": sized}}
