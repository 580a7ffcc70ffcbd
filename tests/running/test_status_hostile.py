"""What a cluster says may be anything: whatever stands in an object, a run has a state, and its reason is short."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packyard.core.kubernetes.lenient import kind_of, name_of
from packyard.running.runs import status
from packyard.running.runs.look import key_of
from packyard.running.runs.run import Reference
from running import made
from sample import tries

_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["True", "Failed", "1", "run"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


ENDED = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"}}
CONTAINER = {
    "name": "a",
    "image": "i",
    "restartCount": 1,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}, **ENDED},
    "lastState": ENDED,
}
UNREADY = {"type": "Ready", "status": "False"}
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available: x."}


def pod(name: str, labels: dict[str, str], *conditions: dict[str, str]) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "run-1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels, "annotations": {}, "ownerReferences": [owner]},
        "spec": {"nodeName": "n", "containers": [{"name": "a", "resources": {"limits": {"memory": "1Gi"}}}]},
        "status": {
            "phase": "Running",
            "reason": "Evicted",
            "conditions": [*conditions],
            "containerStatuses": [CONTAINER],
        },
    }


def condition(name: str) -> dict[str, Any]:
    return {"conditions": [{"type": name, "status": "True", "message": "m"}], "restarts": 1, "phase": "Running"}


OF_JOB_SET = {
    "jobset.sigs.k8s.io/jobset-name": "run",
    "jobset.sigs.k8s.io/replicatedjob-name": "w",
    "jobset.sigs.k8s.io/job-index": "0",
}
OBJECTS = [
    {**made.job_set("run", ("w", "run")), "status": condition("Failed")},
    {**made.lasting("Deployment", "run", "run"), "status": condition("ReplicaFailure")},
    {**made.workflow("run", {"step": "run"}), "status": condition("Completed")},
    pod("p", OF_JOB_SET, UNREADY),
    pod("q", {"workflows.argoproj.io/workflow": "run"}, UNSCHEDULED),
    pod("r", {}, UNREADY),
]
JOB = {"kind": "Job", "name": "run-w-0"}
EVENTS = [{"reason": "FailedCreate", "involvedObject": JOB, "message": "m", "lastTimestamp": "t"}]


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, member in members for place in places(member, (*path, step)))]


@pytest.mark.nightly
@settings(max_examples=tries(300))
@given(st.data())
def test_anything_in_any_field_gives_a_state(data: st.DataObject) -> None:
    world = copy.deepcopy([OBJECTS, EVENTS])
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from([place for place in places(world) if len(place) > 2]))
        holder: Any = world
        for step in way:
            holder = holder[step]
        holder[last] = data.draw(_ANYTHING)
    objects = {(*kind_of(item), name_of(item)): item for item in world[0]}
    record = made.record("run", OBJECTS[:3], "ns")
    (found,) = status.judge([record], {"run": objects}, made.around(*world[1]))
    assert found.state in ("starting", "running", "failing", "succeeded", "failed", "incomplete")
    assert len(found.reason) <= 300
    assert "\n" not in found.reason
    assert {each.name for each in status.choose(found)} <= {each.name for each in found.pods}


def test_the_places_of_the_world_are_found() -> None:
    assert len([place for place in places([OBJECTS, EVENTS]) if len(place) > 2]) > 100
    assert key_of(Reference("batch/v1", "Job", "", "a")) == ("batch", "Job", "a")
