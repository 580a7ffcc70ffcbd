"""How many pods a run has at once, which is what quotas have to have room for, and what each of them asks for.

Containers run side by side, init containers one after the other before them, but those that restart always stay. What
has a limit and no request asks for its limit. Amounts are those of ``quantity``, in 10^-9.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from packyard.core.kubernetes import pods, quantity
from packyard.core.kubernetes.kinds import TRAINER, kind_of
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, name_of, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.doctor.facts import Facts
from packyard.running.runs import roles
from packyard.running.runs import run as runs

#: For each resource an amount: ``+`` adds them up, ``|`` takes the largest of each.
Amounts = Counter[str]

_BYTES = ("memory", "storage", "hugepages-")
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


def own_pods(objects: Sequence[Object], facts: Facts) -> list[Object]:
    """Return the pods of the run that is there already, which the same objects do not have a second time."""
    name = runs.name_of(objects, "")
    return [item for item in facts.objects.get("Pod", ()) if labels_of(item).get(runs.LABEL) == name]


def _count(pod: Pod[Object], nodes: object) -> int:
    """Return how many of a pod there are at once; a TrainJob may say how many ``nodes`` its runtime trains on.

    Of an Argo template there is one at a time.
    """
    if nodes is not None and any(labels_of(above).get(_STEP) == "trainer" for _, above in pod.chain):
        return roles.number(nodes) or 1
    return 1 if pod.is_argo else roles.count(pod)[1]


def amounts(value: object) -> Amounts:
    """Return the amounts of a mapping of quantities; what is no quantity is left out."""
    parsed = {str(name): quantity.parse(str(amount)) for name, amount in mapping(value).items()}
    return Counter({name: amount for name, amount in parsed.items() if amount is not None})


def requests(pod: Pod[Object]) -> Amounts:
    """Return what a pod asks for in all."""
    return whole(pod, "limits", "requests") + amounts(pod.get("overhead"))


def whole(pod: Pod[Object], *fields: str) -> Amounts:
    """Return what containers need together, of these fields of their resources, of which the last counts."""
    running, starting = Amounts(), [Amounts()]
    for path, container in pod.container_places:
        resources = mapping(container.get("resources"))
        own = Amounts({name: amount for field in fields for name, amount in amounts(resources.get(field)).items()})
        if path[-2] != "initContainers" or container.get("restartPolicy") == "Always":
            running += own
        else:
            starting.append(running + own)  # beside those that were started before and stay
    return reduce(or_, starting, running)


def number(name: str, amount: int) -> str:
    """Return an amount of a resource as a number: ``2.5``, ``64Gi``."""
    if not any(part in name for part in _BYTES):
        return f"{amount / 10**9:.6g}"
    unit, size = ("Gi", 2**30) if amount >= 10**9 * 2**30 else ("Mi", 2**20)
    return f"{amount / 10**9 / size:.6g}{unit}"
