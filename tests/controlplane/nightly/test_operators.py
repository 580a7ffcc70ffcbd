"""Kueue, by which runs wait that name a queue."""

from __future__ import annotations

import secrets

import pytest

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
