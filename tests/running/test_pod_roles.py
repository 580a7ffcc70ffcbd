"""Roles of workloads, and the pods that belong to them, as controllers label them."""

from typing import Any

from packyard.running.runs import roles, workloads
from packyard.running.runs.roles import Role
from running import made

Object = dict[str, Any]
PODS = {"template": {"spec": {"containers": [{"name": "a"}]}}}


def item(kind: str, api_version: str, **spec: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "run"}, "spec": spec}


def pod(labels: dict[str, str]) -> Object:
    return {"metadata": {"name": "p", "labels": labels}}


def test_pods_of_the_jobs_of_a_role_are_counted_through() -> None:
    job = {"template": {"spec": {"completions": 2, "parallelism": 2, **PODS}}, "name": "worker", "replicas": 3}
    job_set = item("JobSet", "jobset.x-k8s.io/v1alpha2", replicatedJobs=[job])
    known = roles.find(job_set, "run")
    assert known == [Role("worker", 6, 6, 2)]
    own = "jobset.sigs.k8s.io"
    labels = {f"{own}/jobset-name": "run", f"{own}/replicatedjob-name": "worker", f"{own}/job-index": "2"}
    index = {"batch.kubernetes.io/job-completion-index": "1"}
    assert roles.of_pod(pod({**labels, **index}), job_set, known) == ("worker", 5)


def test_workers_of_a_leader_are_counted_through_all_groups() -> None:
    servers = item("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", replicas=2, leaderWorkerTemplate={"size": 4})
    known = roles.find(servers, "run")
    assert known == [Role("leader", 2, 2, 1), Role("worker", 6, 6, 3)]
    own = "leaderworkerset.sigs.k8s.io"
    labels = {f"{own}/name": "run", f"{own}/group-index": "1", f"{own}/worker-index": "0"}
    assert roles.of_pod(pod(labels), servers, known) == ("leader", 1)
    assert roles.of_pod(pod({**labels, f"{own}/worker-index": "2"}), servers, known) == ("worker", 4)
    assert roles.of_pod(pod({**labels, f"{own}/name": "other"}), servers, known) is None


def test_a_pod_of_a_deployment_has_its_replica_set_for_owner() -> None:
    deployment = item("Deployment", "apps/v1", replicas=0, **PODS)
    known = roles.find(deployment, "other")
    assert known == [Role("run", 0, 0)]
    owned = {"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "run-6d4c75cb58"}]}}
    other = {"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "run-more-6d4c75cb58"}]}}
    assert [roles.of_pod(each, deployment, known) for each in (owned, other)] == [("run", None), None]


def test_tries_of_a_step_are_one_role_and_count_but_for_those_that_failed() -> None:
    workflow = item("Workflow", "argoproj.io/v1alpha1")
    objects = {("argoproj.io", "Workflow", "run"): workflow}
    tries = {"run[0].train(1)": "Running", "run[0].train": "Failed", "run.train(0)": "Succeeded"}
    for number, (node, phase) in enumerate(tries.items()):
        step = pod({"workflows.argoproj.io/workflow": "run"})
        step["metadata"] |= {"name": str(number), "annotations": {"workflows.argoproj.io/node-name": node}}
        objects["", "Pod", str(number)] = {**step, "status": {"phase": phase}}
    (workload,) = workloads.find(made.record("run", [workflow], "ml"), objects)
    assert workload.roles == [Role("train", 2, 2)]
    assert [each.state for each in workload.pods] == ["running", "failed", "done"]
