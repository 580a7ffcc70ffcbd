"""The controllers of LeaderWorkerSets and PyTorchJobs, and Kueue, which acts on nothing but what names a queue."""

from __future__ import annotations

import secrets

import pytest

from controlplane import fates
from controlplane.api import Api, Object, wait

#: As the level of Pod Security that is named ``restricted`` wants it.
CONTAINER = {
    "image": "registry.example/x",
    "resources": {"requests": {"cpu": "1"}},
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}
QUEUE = {"kueue.x-k8s.io/queue-name": "team"}


def template(name: str = "main", **more: object) -> Object:
    """Return a pod template with one container."""
    return {"spec": {"containers": [{**CONTAINER, "name": name}], **more}}


def leader_worker_set() -> Object:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve"},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 2, "leaderTemplate": template(), "workerTemplate": template()},
        },
    }


def pytorch_job(name: str = "pytorch", container: str = "pytorch") -> Object:
    replica = {"replicas": 1, "restartPolicy": "Never", "template": template(container)}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": {"Master": replica, "Worker": replica}},
    }


def job(name: str) -> Object:
    spec = {"template": template(restartPolicy="Never")}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def job_set_spec(step: str = "") -> Object:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": step} if step else {}
    inner = {"metadata": {"labels": labels}, "spec": job("")["spec"]}
    return {"replicatedJobs": [{"name": "node", "template": inner}]}


def job_set(name: str) -> Object:
    version = "jobset.x-k8s.io/v1alpha2"
    return {"apiVersion": version, "kind": "JobSet", "metadata": {"name": name}, "spec": job_set_spec()}


def train_job(name: str) -> Object:
    reference = {"kind": "TrainingRuntime", "name": "runtime"}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {"runtimeRef": reference, "trainer": {"numNodes": 1}},
    }


RUNTIME = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "runtime"},
    "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": job_set_spec("trainer")}},
}


def conditions(api: Api, item: Object, namespace: str) -> list[str]:
    """Return the conditions that hold of an object."""
    status = api.read(item, namespace).expect_done().get("status", {})
    return [each["type"] for each in status.get("conditions", ()) if each["status"] == "True"]


def await_condition(api: Api, item: Object, namespace: str, *names: str) -> None:
    def left() -> list[str]:
        found = conditions(api, item, namespace)
        return [] if {*names} & {*found} else [f"{item['metadata']['name']}: {found}"]

    wait(left)


def pods(api: Api, namespace: str) -> dict[str, Object]:
    return {pod["metadata"]["name"]: pod for pod in api.list("v1", "Pod", namespace)}


def variables(pod: Object) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in pod["spec"]["containers"][0]["env"]}


def test_a_leader_worker_set_makes_groups_whose_members_know_their_leader(cluster: Api) -> None:
    namespace = cluster.create_namespace("restricted")
    cluster.create(leader_worker_set(), namespace).expect_done()
    await_condition(cluster, leader_worker_set(), namespace, "Available")
    found = pods(cluster, namespace)
    assert sorted(found) == ["serve-0", "serve-0-1", "serve-1", "serve-1-1"]
    for name, pod in found.items():
        group = "-".join(name.split("-")[:2])
        assert variables(pod)["LWS_LEADER_ADDRESS"] == f"{group}.serve.{namespace}"
        assert variables(pod)["LWS_GROUP_SIZE"] == "2"


def test_the_group_of_a_restarted_worker_begins_again_and_no_other(cluster: Api) -> None:
    namespace = cluster.create_namespace("restricted")
    cluster.create(leader_worker_set(), namespace).expect_done()
    await_condition(cluster, leader_worker_set(), namespace, "Available")
    before = {(name, pod["metadata"]["uid"]) for name, pod in pods(cluster, namespace).items()}
    # A worker that is deleted may be gone before LWS looks at it, and then its group stays.
    metadata = {"name": "serve-0-1", "annotations": {fates.ANNOTATION: "restart"}}
    cluster.merge({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, namespace).expect_done()

    def left() -> list[str]:
        now = {(name, pod["metadata"]["uid"]) for name, pod in pods(cluster, namespace).items()}
        kept = sorted(name for name, _ in before & now)
        return [] if len(now) == 4 and kept == ["serve-1", "serve-1-1"] else [str(now)]

    wait(left)


def test_a_pytorch_job_runs_to_its_end_and_its_pods_know_their_master(cluster: Api) -> None:
    namespace = cluster.create_namespace("baseline")
    cluster.create(pytorch_job(), namespace).expect_done()
    await_condition(cluster, pytorch_job(), namespace, "Succeeded")
    found = pods(cluster, namespace)
    assert sorted(found) == ["pytorch-master-0", "pytorch-worker-0"]
    assert {name: variables(pod)["RANK"] for name, pod in found.items()} == {
        "pytorch-master-0": "0",
        "pytorch-worker-0": "1",
    }
    worker = variables(found["pytorch-worker-0"])
    assert (worker["MASTER_ADDR"], worker["WORLD_SIZE"]) == ("pytorch-master-0", "2")


def test_the_level_restricted_refuses_a_worker_for_the_container_that_the_training_operator_adds(cluster: Api) -> None:
    namespace = cluster.create_namespace("restricted")
    cluster.create(pytorch_job(), namespace).expect_done()

    def left() -> list[str]:
        messages = [event["message"] for event in cluster.list("v1", "Event", namespace)]
        refused = 'pytorch-worker-0" is forbidden: violates PodSecurity "restricted:latest"'
        return [] if any(refused in each and "init-pytorch" in each for each in messages) else messages or ["no event"]

    wait(left)


def test_the_webhook_refuses_a_pytorch_job_without_a_container_named_pytorch(cluster: Api) -> None:
    namespace = cluster.create_namespace("baseline")
    refusal = cluster.create(pytorch_job(container="main"), namespace).refusal
    assert "must have at least one container with name pytorch" in refusal


class Queues:
    """A namespace with a queue that has the processors for one pod, or for so many."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.namespace = api.create_namespace("baseline")
        self.name = f"queue-{secrets.token_hex(4)}"

    def create(self, kind: str, name: str, spec: Object) -> None:
        item = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}
        self.api.create(item, self.namespace).expect_done()

    def open(self, cpus: int = 1) -> None:
        flavor = {"name": self.name, "resources": [{"name": "cpu", "nominalQuota": str(cpus)}]}
        group = {"coveredResources": ["cpu"], "flavors": [flavor]}
        self.create("ResourceFlavor", self.name, {})
        self.create("ClusterQueue", self.name, {"namespaceSelector": {}, "resourceGroups": [group]})
        self.create("LocalQueue", "team", {"clusterQueue": self.name})

    def submit(self, item: Object) -> None:
        queued = {**item, "metadata": {**item["metadata"], "labels": QUEUE}}
        self.api.create_all([queued], self.namespace)

    def workloads(self) -> list[Object]:
        return self.api.list("kueue.x-k8s.io/v1beta2", "Workload", self.namespace)


@pytest.mark.parametrize(
    ("item", "end"),
    [(job("one"), "Complete"), (job_set("one"), "Completed"), (train_job("one"), "Complete")],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_a_run_with_a_queue_waits_until_the_queue_admits_it(cluster: Api, item: Object, end: str) -> None:
    queues = Queues(cluster)
    cluster.create(RUNTIME, queues.namespace).expect_done()
    queues.submit(item)
    wait(lambda: [] if queues.workloads() else ["no Workload"])
    assert cluster.read(item, queues.namespace).expect_done()["spec"]["suspend"] is True
    assert pods(cluster, queues.namespace) == {}
    queues.open()
    await_condition(cluster, item, queues.namespace, end)
    (workload,) = queues.workloads()
    await_condition(cluster, workload, queues.namespace, "Finished")


def test_each_group_of_a_leader_worker_set_waits_until_the_queue_admits_it(cluster: Api) -> None:
    queues = Queues(cluster)
    queues.submit(leader_worker_set())
    wait(lambda: [] if len(queues.workloads()) == 2 and len(pods(cluster, queues.namespace)) == 4 else ["too few"])
    assert all(pod["spec"]["schedulingGates"] for pod in pods(cluster, queues.namespace).values())
    queues.open(cpus=2)  # for one group of the two

    def left() -> list[str]:
        gated = [name for name, pod in pods(cluster, queues.namespace).items() if pod["spec"].get("schedulingGates")]
        return [] if len(gated) == 2 and len({name.split("-")[1] for name in gated}) == 1 else gated

    wait(left)
    (workload,) = [item for item in queues.workloads() if "Admitted" not in conditions(cluster, item, queues.namespace)]

    def judged() -> list[str]:  # after the other group was let go
        status = cluster.read(workload, queues.namespace).expect_done()["status"]
        (said,) = [each["message"] for each in status["conditions"] if each["type"] == "QuotaReserved"]
        return [] if "insufficient unused quota for cpu" in said else [said]

    wait(judged)


def test_a_queue_runs_as_much_at_a_time_as_its_quota_allows(cluster: Api) -> None:
    queues = Queues(cluster)
    queues.open()
    queues.submit(pytorch_job("two"))  # asks for twice the quota

    def left() -> list[str]:
        found = [
            each["message"] for item in queues.workloads() for each in item.get("status", {}).get("conditions", ())
        ]
        return [] if any("insufficient quota for cpu" in each for each in found) else found or ["no Workload"]

    wait(left)
    assert pods(cluster, queues.namespace) == {}
    queues.submit(job("one"))
    await_condition(cluster, job("one"), queues.namespace, "Complete")


def test_kueue_leaves_a_job_without_a_queue_alone(cluster: Api) -> None:
    queues = Queues(cluster)
    queues.open()
    cluster.create(job("own"), queues.namespace).expect_done()
    await_condition(cluster, job("own"), queues.namespace, "Complete")
    assert queues.workloads() == []
