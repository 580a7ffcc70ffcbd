"""How workloads end, and how far a change of one is, by what they say of themselves."""

from typing import Any

import pytest

from packyard.core.kubernetes import kinds
from packyard.core.kubernetes.kinds import kind_of
from packyard.running.runs import outcome

Object = dict[str, Any]


def test_a_deployment_fails_only_where_it_makes_no_progress() -> None:
    stuck = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "too slow"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "run"}, "spec": {}}
    assert outcome.of_object({**deployment, "status": {"conditions": [stuck]}}) == ("failed", "too slow")
    assert outcome.of_object({**deployment, "status": {"conditions": [{**stuck, "reason": "x"}]}}) == ("", "")
    changed = {**deployment, "metadata": {"generation": 2}, "status": {"observedGeneration": 1, "conditions": [stuck]}}
    assert outcome.of_object(changed) == ("", "")  # that is of what it was before
    assert kind_of(deployment) in kinds.ENDLESS


@pytest.mark.parametrize(
    ("kind", "status", "far"),
    [
        ("Deployment", {"observedGeneration": 1}, "its controller has yet to look at the change"),
        ("Deployment", {"observedGeneration": 2, "replicas": 3}, "0 of 3 pods are as they are to be"),
        ("Deployment", {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2}, ""),
        ("Deployment", {}, ""),
        ("StatefulSet", {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 1}, "1 of 2 pods"),
        ("DaemonSet", {"observedGeneration": 2, "desiredNumberScheduled": 2}, "0 of 2 pods"),
    ],
)
def test_how_far_the_change_of_a_workload_is(kind: str, status: Object, far: str) -> None:
    item = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"generation": 2}, "spec": {}, "status": status}
    assert outcome.updating(item).startswith(far)
    assert bool(outcome.updating(item)) is bool(far)
