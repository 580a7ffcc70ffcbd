"""What is said of queues of which each flavor has a quota of its own."""

from __future__ import annotations

from typing import Any

import pytest

from catalogue.usecases import Object
from packyard.running.doctor import queues
from packyard.running.doctor.facts import Facts
from running import made
from running.patients import deployed, pod
from running.setups import QUEUE, asking


def queued(item: Object, **annotations: str) -> Object:
    return {**item, "metadata": {"name": "run", "labels": QUEUE, "annotations": annotations}}


def job(count: int, **annotations: str) -> Object:
    sized: Any = made.job("run", "run", {"resources": asking()}, parallelism=count, completions=count)
    return queued(sized, **annotations)


@pytest.mark.parametrize(
    ("item", "is_told"),
    [
        (job(5), True),
        (job(4), False),
        (job(5, **{"kueue.x-k8s.io/job-min-parallelism": "2"}), False),
        (queued(deployed("run", pod(main_resources=asking()), 5)), False),
    ],
    ids=["more than a flavor has", "as much as one has", "fewer may start", "pod by pod"],
)
def test_all_pods_of_a_set_come_from_one_flavor(item: Object, is_told: bool) -> None:
    said = "no flavor has what the pods of Job run ask for: 5 cpu, 4 cpu at most"
    assert refused(item) == ([f"LocalQueue team: can never admit the run, by ClusterQueue all: {said}"] * is_told)


def refused(item: Object, **flavors: Object) -> list[str]:
    """Return what is said of an object in a queue of two flavors."""
    quotas = [{"name": "cpu", "nominalQuota": "4"}, {"name": "memory", "nominalQuota": "64Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": n, "resources": quotas} for n in ("a", "b")]}
    facts = Facts(
        namespace="ml",
        groups={"kueue.x-k8s.io": ["v1beta2"]},
        objects={
            "LocalQueue": [{"metadata": {"name": "team"}, "spec": {"clusterQueue": "all"}}],
            "ClusterQueue": [
                {"metadata": {"name": "all"}, "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}
            ],
            "ResourceFlavor": [{"metadata": {"name": name}, "spec": spec} for name, spec in flavors.items()],
        },
    )
    return [str(each) for each in queues.active([item], facts) if each.severity != "passed"]


TAINT = {"key": "rented", "effect": "NoSchedule"}
TOLERATION = {"key": "rented", "operator": "Exists"}


@pytest.mark.parametrize(
    ("spec", "flavors", "said"),
    [
        ({}, {"a": {"nodeTaints": [TAINT]}, "b": {"nodeTaints": [TAINT]}}, "a has the taint rented:NoSchedule, b has"),
        ({}, {"a": {"nodeTaints": [TAINT]}, "b": {}}, ""),
        ({}, {"a": {"nodeTaints": [TAINT]}}, ""),  # of b nothing is known
        ({"tolerations": [TOLERATION]}, {key: {"nodeTaints": [TAINT]} for key in "ab"}, ""),
        ({}, {key: {"nodeTaints": [TAINT], "tolerations": [TOLERATION]} for key in "ab"}, ""),
        (
            {"nodeSelector": {"pool": "c"}},
            {"a": {"nodeLabels": {"pool": "a"}}, "b": {}},
            "a lacks the label pool=c, b lacks",
        ),
        ({"nodeSelector": {"pool": "a"}}, {"a": {"nodeLabels": {"pool": "a"}}, "b": {}}, ""),
        ({"nodeSelector": {"disk": "fast"}}, {"a": {"nodeLabels": {"pool": "a"}}, "b": {}}, ""),
    ],
)
def test_pods_that_no_flavor_takes(spec: Object, flavors: dict[str, Object], said: str) -> None:
    item = queued(deployed("run", pod(**spec)))
    found = refused(item, **flavors)
    assert len(found) == bool(said)
    assert all(f"no flavor takes the pods of Deployment run: {said}" in each for each in found)
