"""The first run of the MNIST package fits the only node of a laptop's cluster, with no value set.

The scheduler is the real one; the node is of kwok, has 2 CPUs and 4 GiB, and Kubernetes' own pods run on it.
"""

from __future__ import annotations

import secrets

import pytest

from catalogue.nightly.test_runs import add_node, condition
from catalogue.usecases import PACKAGES, Object, level, shipped
from controlplane.api import Api, wait
from packyard.core.kubernetes import requirements

NAME = "mnist-fp32-training-k8s"
#: What kind asks for its own pods on its node, the control plane among them: 950m CPUs and 290Mi.
_SYSTEM = {"cpu": "950m", "memory": "290Mi"}


def first_run() -> list[Object]:
    (package,) = [item for item in PACKAGES if item.name == NAME]
    (use_case,) = [item for item in package.use_cases if item.path == "first-run/none"]
    return shipped(package, use_case).parse()


@pytest.fixture
def laptop(cluster: Api) -> str:
    """A node of 2 CPUs and 4 GiB, with what a cluster runs for itself; no other has its label.

    Its taint keeps pods of other tests from it, which would take its room.
    """
    name = f"laptop-{secrets.token_hex(4)}"
    add_node(cluster, name, {"laptop": name}, [], [{"key": "laptop", "value": name, "effect": "NoSchedule"}])
    amounts = {"cpu": "2", "memory": "4Gi", "ephemeral-storage": "20Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    cluster.merge({**node, **status}, subresource="status").expect_done()
    namespace = cluster.create_namespace("privileged")
    wait(lambda: [] if cluster.list("v1", "ServiceAccount", namespace) else ["no service account"])
    container = {"name": "system", "image": "example.com/system:1", "resources": {"requests": _SYSTEM}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "system"}}
    cluster.create({**pod, "spec": {"nodeName": name, "containers": [container]}}, namespace).expect_done()
    return name


def start(api: Api, objects: list[Object], node: str) -> tuple[str, Object]:
    """Apply a run that this node alone may take, and return its namespace and its Job."""
    namespace = api.create_namespace(level(objects))
    (job,) = [item for item in objects if item["kind"] == "Job"]
    pod = job["spec"]["template"]["spec"]
    pod["nodeSelector"]["laptop"] = node
    pod["tolerations"] = [*pod.get("tolerations", []), {"key": "laptop", "value": node}]
    api.create_all(objects, namespace)
    return namespace, job


@pytest.mark.nightly
def test_a_first_run_needs_nothing_that_a_new_cluster_lacks() -> None:
    objects = first_run()
    assert level(objects) == "restricted"
    assert [str(item) for item in requirements.find(objects) if item.kind != "PodSecurity"] == []


def test_a_first_run_is_placed_on_a_node_of_two_cpus_and_four_gigabytes(cluster: Api, laptop: str) -> None:
    namespace, job = start(cluster, first_run(), laptop)
    wait(lambda: [] if condition(cluster.read(job, namespace).expect_done(), "Complete") else ["not complete"])
    (pod,) = cluster.list("v1", "Pod", namespace)
    assert pod["spec"]["nodeName"] == laptop
