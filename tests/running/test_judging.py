"""What is said of a run whose objects and pods are these: cases that no control plane shows at will."""

from collections.abc import Sequence
from typing import Any

import pytest

from packyard.core.kubernetes.kinds import kind_of
from packyard.core.kubernetes.lenient import name_of
from packyard.running.runs import status
from packyard.running.runs.kubectl import Done
from packyard.running.runs.status import RunStatus
from running import made
from running.recordings import Answered

Object = dict[str, Any]


def pod(name: str, phase: str, *, index: int | None = None, code: int = 0, at: int = 0, created: int = 0) -> Object:
    """Return a pod of Job ``run``; one that failed did so ``at`` a second."""
    labels = {"job-name": "run", **({} if index is None else {"batch.kubernetes.io/job-completion-index": str(index)})}
    when = f"2026-01-01T00:00:{at:02}Z"
    ended = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": when}}
    is_ready = str(phase == "Running")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels, "creationTimestamp": f"2026-01-01T00:00:{created:02}Z"},
        "spec": {"nodeName": "n", "containers": [{"name": "training"}]},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": is_ready}],
            "containerStatuses": [{"name": "training", "state": ended if phase == "Failed" else {"running": {}}}],
        },
    }


def job(*conditions: str, **spec: Any) -> Object:
    ended = [{"type": condition, "status": "True", "message": "as the controller says"} for condition in conditions]
    return {**made.job("run", "run", **spec), "status": {"conditions": ended}}


def judged(item: Object, *pods: Object, queued: Sequence[Object] = ()) -> RunStatus:
    objects = {(*kind_of(each), name_of(each)): each for each in (item, *pods)}
    record = made.record("run", [item], "ns")
    (found,) = status.judge([record], {"run": objects}, made.around(queued=queued))
    return found


def test_a_job_in_a_queue_waits_for_what_kueue_says_or_for_its_checks() -> None:
    item = job(suspend=True)
    item["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    own = {"metadata": {"ownerReferences": [{"kind": "Job", "name": "run"}]}}
    check = {"name": "budget", "state": "Pending", "message": "nobody answers"}
    for said, reason in (
        ({"conditions": [{"type": "QuotaReserved", "status": "False", "message": "no quota"}]}, "no quota"),
        ({"admissionChecks": [check, {"name": "other", "state": "Ready"}]}, "admission check budget: nobody answers"),
    ):
        found = judged(item, queued=[{**own, "status": said}])
        assert found.reason == f"Job run waits in queue team: {reason}"


def test_of_workers_that_fail_the_first_is_named() -> None:
    workers = [pod("a", "Failed", index=0, code=1, at=9), pod("b", "Failed", index=1, code=137, at=5)]
    found = judged(job("Failed", completionMode="Indexed", completions=2, parallelism=2), *workers)
    assert (found.state, found.reason) == ("failed", "training 1: exit code 137 (signal 9)")


def test_a_controller_that_gives_up_is_quoted_where_no_pod_is_left() -> None:
    assert judged(job("Failed")).reason == "as the controller says"


def test_pods_that_were_deleted_after_a_good_end_are_done() -> None:
    found = judged(job("Complete", completions=3))
    assert (found.state, found.roles[0].done) == ("succeeded", 3)


def test_a_failed_pod_in_whose_place_another_runs_is_no_trouble() -> None:
    found = judged(job(), pod("a", "Failed", code=1), pod("b", "Running", created=1))
    assert (found.state, found.reason, found.roles[0].failed) == ("running", "", 1)
    assert [(each.name, each.index) for each in found.pods] == [("a", 0), ("b", 0)]


def test_tries_that_end_alike_are_counted_until_the_next_one_runs() -> None:
    found = judged(job(), pod("a", "Failed", code=1), pod("b", "Failed", code=1, created=1))
    assert (found.state, found.reason) == ("starting", "exit code 1 (2 times)")


def test_a_pod_that_is_being_deleted_counts_for_nothing() -> None:
    ending = pod("a", "Running")
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = judged(job(), ending)
    assert [each.state for each in found.pods] == ["ending"]
    assert not found.is_over


def test_what_a_container_left_stands_behind_how_many_failed_alike() -> None:
    workers = [pod(name, "Failed", index=at, code=1, at=at) for at, name in enumerate("ab")]
    for each in workers:
        each["status"]["containerStatuses"][0]["state"]["terminated"]["message"] = f"rank {each['metadata']['name']}\n"
    found = judged(job("Failed", completionMode="Indexed", completions=2, parallelism=2), *workers)
    assert found.reason == "training 0: exit code 1 (and 1 more like it): rank a"
    assert [each.reason for each in found.pods] == ["exit code 1: rank a", "exit code 1: rank b"]


def test_many_runs_take_as_many_calls_as_one() -> None:
    asked: list[str] = []

    def answer(words: Sequence[str], _: bytes) -> Done:
        asked.append(words[0])
        return Done(0, b'{"kind": "List", "items": []}', "")

    client = Answered(program="kubectl", flags=(), context="test", namespace="ns", by=answer)
    for number in (1, 20):
        names = [f"run-{each}" for each in range(number)]
        found = status.read(client, {name: [made.record(name, [job()], "ns")] for name in names})
        assert [each.state for each in found] == ["incomplete"] * number
    assert asked == ["get", "get"]


@pytest.mark.parametrize(
    "said",
    [
        'error: the server doesn\'t have a resource type "Thing"',
        'Error from server (NotFound): Unable to list "nobody.example/v1, Resource=things": '
        "the server could not find the requested resource",
    ],
)
def test_of_a_kind_that_is_served_no_longer_there_is_nothing(said: str) -> None:
    """As after an operator was taken away; kubectl may remember that its kinds were served."""

    def answer(words: Sequence[str], _: bytes) -> Done:
        return Done(1, b"", said) if "Thing" in words[1] else Done(0, b'{"kind": "List", "items": []}', "")

    client = Answered(program="kubectl", flags=(), context="test", namespace="ns", by=answer)
    thing = {"apiVersion": "nobody.example/v1", "kind": "Thing", "metadata": {"name": "run"}}
    (found,) = status.read(client, {"run": [made.record("run", [thing], "ns")]})
    assert (found.state, found.reason) == ("incomplete", "Thing run is missing")


UNTOUCHED = "nothing has taken up RayJob run yet; packyard doctor says which operators are there"


@pytest.mark.parametrize(
    ("said", "state", "reason"),
    [
        ({}, "starting", UNTOUCHED),
        ({"jobDeploymentStatus": "Retrying", "jobStatus": "FAILED"}, "starting", ""),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "failed", "job STOPPED"),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "succeeded", ""),
        ({"conditions": [{"type": "Ready", "status": "False", "message": "no image"}]},
         "starting", "RayJob run is not ready: no image")
    ]
)  # fmt: skip
def test_a_ray_job_ends_as_it_says_whatever_its_pods_do(said: Object, state: str, reason: str) -> None:
    item = {**made.job("run", "run"), "apiVersion": "ray.io/v1", "kind": "RayJob", "status": said}
    item["spec"] = {"rayClusterSpec": {"headGroupSpec": {"template": made.template("run")}}}
    assert (judged(item).state, judged(item).reason) == (state, reason)
    beside = judged(item, pod("head", "Running"))
    assert (beside.state, beside.is_over) == (state if beside.is_over else "running", state in ("failed", "succeeded"))


def test_a_job_that_is_missing_may_have_ended() -> None:
    (found,) = status.judge([made.record("run", [job()], "ns")], {}, made.around())
    assert (found.state, found.reason.partition(";")[0]) == ("incomplete", "Job run is missing")
    assert "it may have ended" in found.reason


def test_a_kind_that_nobody_knows_ends_as_its_pods_do() -> None:
    item = {**made.job("run", "run"), "apiVersion": "ray.io/v1", "kind": "RayJob"}
    item["spec"] = {"rayClusterSpec": {"headGroupSpec": {"template": made.template("run")}}}
    for phases, state in (
        ((), "starting"),
        (("Running", "Succeeded"), "running"),
        (("Succeeded", "Succeeded"), "succeeded"),
        (("Failed", "Succeeded"), "failed"),
    ):
        found = judged(item, *(pod(str(number), phase) for number, phase in enumerate(phases)))
        assert (found.state, len(found.pods)) == (state, len(phases))


def replica_set(name: str, revision: str) -> Object:
    owners = [{"kind": "Deployment", "name": "run"}]
    metadata = {"name": name, "ownerReferences": owners, "annotations": {"deployment.kubernetes.io/revision": revision}}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata}


@pytest.mark.parametrize(
    ("observed", "revision", "state", "reason"),
    [
        (1, "1", "starting", "Deployment run is being updated: its controller has yet to look at the change"),
        (2, "2", "starting", "training 1: runs, and is not ready"),
        (2, "1", "failing", "training 0: image cannot be pulled: the registry does not have a"),
    ],
)
def test_pods_that_a_change_replaces_are_no_trouble(observed: int, revision: str, state: str, reason: str) -> None:
    """They stay until others are ready in their place."""
    item = made.lasting("Deployment", "run", "run")
    item["metadata"] |= {"generation": 2, "annotations": {"deployment.kubernetes.io/revision": revision}}
    item["status"] = {"observedGeneration": observed, "replicas": 3, "updatedReplicas": 1}
    stuck, late = pod("run-1-a", "Pending"), pod("run-2-a", "Running", created=1)
    waits = {"reason": "ImagePullBackOff", "message": "not found"}
    stuck["status"]["containerStatuses"][0] |= {"image": "a", "state": {"waiting": waits}}
    late["status"]["conditions"][0]["status"] = "False"
    for each, owner in ((stuck, "run-1"), (late, "run-2")):
        each["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": owner}]
    found = judged(item, stuck, late, replica_set("run-1", "1"), replica_set("run-2", "2"))
    assert (found.state, found.reason) == (state, reason)
