"""What is said of queues of which each flavor has a quota of its own."""

from __future__ import annotations

from typing import Any

import pytest

from packyard.running.doctor import queues
from packyard.running.doctor.facts import Facts
from running import made
from running.fault_set import QUEUE, asking
from running.patients import deployed, pod
from usecases import Object


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
        },
    )
    found = [str(each) for each in queues.active([item], facts) if each.severity != "passed"]
    said = "no flavor has what the pods of Job run ask for: 5 cpu, 4 cpu at most"
    assert found == ([f"LocalQueue team: can never admit the run, by ClusterQueue all: {said}"] if is_told else [])
