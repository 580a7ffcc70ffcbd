"""The pods of the MNIST package as processes with TensorFlow itself: they learn, agree, and go on when one is lost.

``make test-tensorflow`` installs TensorFlow in an environment of its own and names its Python in PACKYARD_TENSORFLOW.
No other run of the tests has it. Pods have a network with each other alone: what they would download is not there.
"""

import os
import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from catalogue.usecases import PACKAGES, shipped
from workload import catalogue, controllers
from workload.environment import Object
from workload.machine import Machine, NewMachine, Pod, wait_until

PYTHON = os.environ.get("PACKYARD_TENSORFLOW", "")

(PACKAGE,) = [item for item in PACKAGES if item.name == "mnist-fp32-training-k8s"]
USE_CASES = {item.path: item for item in PACKAGE.use_cases}
MULTI_NODE = "multi-node/user-allocated-pvc"
CLUSTERS = [MULTI_NODE, "multi-node-job-set/user-allocated-pvc", "multi-node-train-job/user-allocated-pvc"]

pytestmark = pytest.mark.skipif(not PYTHON, reason="run by make test-tensorflow")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow alone takes seconds to start, and half a minute to notice some losses."""
    monkeypatch.setattr("workload.machine.PATIENCE", 600.0)


class Run:
    """The pods of a use case, on a node of their own or on that of an earlier run."""

    def __init__(self, cluster: Machine, objects: list[Object]) -> None:
        self.cluster = cluster
        self.objects = objects
        cluster.objects += objects
        cluster.replace("python3", Path(PYTHON))
        added, workloads = controllers.pods_of(objects)
        cluster.objects += added
        self.pods = [cluster.start(pod) for pods in workloads for pod in pods]

    @property
    def results(self) -> Path:
        """Where the storage of the first pod has the results of all runs."""
        return self.pods[0].volumes["storage"] / "nobody-here" / "mnist-fp32-training"

    def start_again(self) -> list[Pod]:
        """Put another pod in the place of each, as an Indexed Job does with one that failed, and a JobSet with all."""
        return [self.cluster.start(pod.described) for pod in self.pods]


def set_objects(path: str, **values: object) -> list[Object]:
    return catalogue.set_objects(PACKAGE, USE_CASES[path], **values)


def store_digits(cluster: Machine, objects: Sequence[Object], count: int) -> None:
    """Put digits where the storage has its data: the first of those that a first run makes."""
    data = next(item["data"] for item in shipped(PACKAGE, USE_CASES["first-run/none"]).parse() if programs(item))
    (volume,) = {str(storage): storage for storage in storages(objects)}.values()
    folder = cluster.storage(volume) / "datasets"
    folder.mkdir(exist_ok=True)
    script = data["make_digits.py"].replace("COUNT = 6000", f"COUNT = {count}")
    subprocess.run([PYTHON, "-c", script, folder / "mnist.npz"], check=True)


def programs(item: Object) -> bool:
    return item["kind"] == "ConfigMap" and "make_digits.py" in item["data"]


def storages(value: object) -> list[Object]:
    """Return each volume that the pods of some objects have for their storage."""
    if isinstance(value, dict):
        found = [each for each in value.get("volumes", []) if each["name"] == "storage"]
        return found + storages(list(value.values()))
    return [storage for item in value for storage in storages(item)] if isinstance(value, list) else []


def losses(pod: Pod) -> list[str]:
    return re.findall(r"\bloss:? ([0-9.]+)", pod.log)


def test_a_first_run_learns_within_its_limits_with_nothing_set_and_no_network(new_machine: NewMachine) -> None:
    objects = shipped(PACKAGE, USE_CASES["first-run/none"]).parse()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(new_machine([]), objects)
    (pod,) = run.pods
    assert pod.wait() == 0, pod.log
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert float(re.findall(r"accuracy: ([0-9.]+)", pod.log)[-1]) > 0.9
    assert [path.name for path in pod.volumes["storage"].rglob("*.keras")] == ["mnist.keras"]
    assert used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime < 120  # seconds of CPU
    assert pod.described["spec"]["containers"][0]["resources"]["requests"]["memory"] == "1Gi"
    assert used.ru_maxrss < 2**20  # KiB: what it requests


@pytest.mark.parametrize("program", ["keras_mnist.py", "custom_training_mnist.py"])
def test_workers_agree_and_the_first_keeps_the_model(program: str, new_machine: NewMachine) -> None:
    objects = set_objects(MULTI_NODE, MODEL_SCRIPT=program, TRAIN_EPOCHS=2, BATCH_SIZE=8)
    cluster = new_machine([])
    store_digits(cluster, objects, 600)
    run = Run(cluster, objects)
    assert [pod.wait() for pod in run.pods] == [0, 0], "".join(pod.log for pod in run.pods)
    first, second = map(losses, run.pods)
    assert first == second
    assert len(first) == 2
    assert (run.results / "multi-node/output/model/mnist.keras").stat().st_size > 0


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("path", CLUSTERS)
def test_a_lost_worker_ends_the_other_and_both_go_on_from_the_last_checkpoint(
    path: str, lost: int, new_machine: NewMachine
) -> None:
    program = {} if path != MULTI_NODE or lost else {"MODEL_SCRIPT": "custom_training_mnist.py"}
    objects = set_objects(path, TRAIN_EPOCHS=6, BATCH_SIZE=8, **program)
    cluster = new_machine([])
    store_digits(cluster, objects, 3000)
    run = Run(cluster, objects)
    wait_until(lambda: all(len(losses(pod)) > 1 for pod in run.pods), run.pods, seconds=300)
    run.pods[lost].kill()
    assert run.pods[1 - lost].wait() != 0
    again = run.start_again()
    assert [pod.wait() for pod in again] == [0, 0], "".join(pod.log for pod in again)
    assert 0 < len(losses(again[0])) < 6
