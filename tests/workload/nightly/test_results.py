"""A run whose program fails and reports success, as the model zoo's launcher does, has failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from catalogue.usecases import PACKAGES
from workload import catalogue, deploy, zoo
from workload.cluster import Cluster
from workload.objects import Object

NewCluster = Callable[[list[Object]], Cluster]
LAUNCHED = {
    f"{item.name}/{each.path}": (item, each)
    for item in PACKAGES
    for each in item.use_cases
    if "launch-benchmark" in each.programs and each.storage == "user-mounted-nfs"
}
RFCN = next(
    (item, each)
    for item in PACKAGES
    for each in item.use_cases
    if (item.name[:4], each.base) == ("rfcn", "preprocess-and-test")
)
FAILS = b"print('Traceback (most recent call last): no memory')\n"


@pytest.mark.parametrize("name", LAUNCHED)
def test_a_launcher_whose_program_failed_fails(name: str, new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*LAUNCHED[name], MODEL_SCRIPT="failing")
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    zoo.store_data(cluster, objects)
    model_dir = next(item["data"]["MODEL_DIR"] for item in deploy.of_kind(objects, "ConfigMap"))
    cluster.put(f"{model_dir}/benchmarks/failing", FAILS)
    (job,) = deploy.of_kind(objects, "Job")
    (pod,) = deploy.run_pods(cluster, job)
    assert pod.wait() == 1
    assert "Traceback" in pod.log
    assert "the program failed, read above why" in pod.log


def test_an_accuracy_that_was_not_measured_fails(new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*RFCN)
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    zoo.store_data(cluster, objects)
    cluster.put("/workspace/rfcn-fp32-inference/quickstart/fp32_accuracy.sh", b"echo no memory\n")
    cluster.put(zoo.PREPROCESSING, b"true\n")
    (workflow,) = deploy.of_kind(objects, "Workflow")
    pods = deploy.run_workflow(cluster, workflow)
    assert [pod.wait() for pod in pods][-1] == 1
    assert "no new log with an Average Precision" in pods[-1].log
