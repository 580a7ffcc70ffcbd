"""Pipelines of the catalogue run as processes, a step after the other, and programs that only seem to succeed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, controllers, zoo
from workload.controllers import of_kind
from workload.environment import Object
from workload.machine import Machine, Pod
from workload.nightly.test_use_cases import READ_ONLY, cases, has_the_environment
from workload.runs import run_workflow

NewMachine = Callable[[Sequence[Object]], Machine]

WIDE_DEEP = "wide-deep-large-ds-fp32-training-k8s/pipeline/"
RFCN = "rfcn-fp32-inference-k8s/"

each_storage = pytest.mark.parametrize("storage", ["user-allocated-pvc", "user-mounted-nfs"])


def named(ended: Sequence[tuple[Pod, int]]) -> list[tuple[str, int]]:
    return [(pod.name, code) for pod, code in ended]


def furnished(new_machine: NewMachine, objects: list[Object]) -> Machine:
    """Return a machine whose images have the zoo, and whose storage the input data."""
    machine = new_machine(objects)
    zoo.furnish(machine)
    zoo.store_inputs(machine, [pod for item in of_kind(objects, "Workflow") for pod, _ in controllers.steps(item)])
    return machine


@each_storage
def test_trains_until_the_accuracy_is_reached_and_then_serves_the_last_model(
    storage: str, new_machine: NewMachine
) -> None:
    values = {"TARGET_ACCURACY": 0.83, "REPLICAS": 2}
    objects = catalogue.set_objects(*catalogue.USE_CASES[WIDE_DEEP + storage], **values)
    machine = furnished(new_machine, objects)
    ended = run_workflow(machine, *of_kind(objects, "Workflow"))
    assert named(ended) == [("train", 1), ("train", 1), ("train", 0), ("publish", 0)]
    for pod, _ in ended[:3]:
        has_the_environment(pod, machine)
    (served,) = machine.folder.glob("storage/**/served")
    assert {file.relative_to(served).as_posix(): file.read_text() for file in served.rglob("*") if file.is_file()} == {
        "1700000003/saved_model.pb": "3\n",
        "1700000003/variables/variables.index": "3\n",
    }
    described = controllers.pods_of(objects)[1][0]
    machine.image.install(described, objects)
    servers = [machine.start(pod) for pod in described]
    machine.wait_ready(*servers)
    assert len(servers) == 2
    for server in servers:
        (record,) = server.records()
        path = record["environment"]["MODEL_BASE_PATH"]
        assert record["argv"][1:3] == ["--port=8500", "--rest_api_port=8501"]
        assert record["argv"][-1] == f"--model_base_path={path}"
        assert (server.here(path), record["writable"][path]) == (served, READ_ONLY)


def test_publishes_nothing_where_no_try_reaches_the_accuracy(new_machine: NewMachine) -> None:
    values = {"TARGET_ACCURACY": 0.9, "RETRY_LIMIT": 1}
    objects = catalogue.set_objects(*catalogue.USE_CASES[f"{WIDE_DEEP}user-mounted-nfs"], **values)
    machine = furnished(new_machine, objects)
    assert named(run_workflow(machine, *of_kind(objects, "Workflow"))) == [("train", 1), ("train", 1)]
    assert [*machine.folder.glob("storage/**/saved_model.pb")]
    assert not [*machine.folder.glob("storage/**/served")]


def test_measures_the_accuracy_on_the_records_that_are_made_of_the_images_as_often_as_it_is_run(
    new_machine: NewMachine,
) -> None:
    objects = catalogue.set_objects(*catalogue.USE_CASES[f"{RFCN}pipeline/user-allocated-pvc"])
    machine = furnished(new_machine, objects)
    for _ in range(2):
        ended = run_workflow(machine, *of_kind(objects, "Workflow"))
        assert named(ended) == [("preprocess", 0), ("test", 0)], "".join(pod.log for pod, _ in ended)
        assert "graph\n1.jpg\n2.jpg\ncode\n" in ended[1][0].log
    machine.put("/workspace/rfcn-fp32-inference/quickstart/fp32_accuracy.sh", b"echo no memory\n")
    last, code = run_workflow(machine, *of_kind(objects, "Workflow"))[-1]
    assert (code, "no new log with an Average Precision" in last.log) == (1, True)


@cases(
    (item, each)
    for item in PACKAGES
    for each in item.use_cases
    if "launch-benchmark" in each.programs and each.storage == "user-mounted-nfs"
)
def test_a_launcher_that_hides_the_failure_of_its_program_fails(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    objects = catalogue.set_objects(package, use_case, MODEL_SCRIPT="failing")
    machine = furnished(new_machine, objects)
    ((described,),) = controllers.pods_of(objects)[1]
    zoo.store_inputs(machine, [described])
    model_dir = next(item["data"]["MODEL_DIR"] for item in of_kind(objects, "ConfigMap"))
    machine.put(f"{model_dir}/benchmarks/failing", b"print('Traceback (most recent call last): no memory')\n")
    pod = machine.start(described)
    assert pod.wait() == 1
    assert "the program failed, read above why" in pod.log


CLAIM = "resnet50v1-5-fp32-training-k8s/{}/user-allocated-pvc"


def test_a_run_can_write_to_a_claim_that_ignores_groups_once_own_storage_gave_it_a_directory(
    new_machine: NewMachine,
) -> None:
    objects = {
        name: catalogue.set_objects(*catalogue.USE_CASES[CLAIM.format(name)]) for name in ("single-node", "own-storage")
    }
    machine = new_machine([item for each in objects.values() for item in each])
    machine.applies_fs_group = False
    (training,), (giving,) = (controllers.pods_of(item)[1][0] for item in objects.values())
    machine.image.install([training], machine.objects)
    with pytest.raises(AssertionError, match=r"init container create-output-dir failed:\n.*Permission denied"):
        machine.start(training)
    (storage,) = machine.folder.glob("storage/*")
    (storage / "nobody-here/old").mkdir(parents=True)
    for described in (giving, giving, training):
        pod = machine.start(described)
        assert pod.wait() == 0, pod.log
    made, old = (storage / "nobody-here").stat(), (storage / "nobody-here/old").stat()
    assert (made.st_uid, made.st_gid, made.st_mode & 0o7777) == (0, catalogue.FS_GROUP, 0o2775)
    assert (old.st_uid, old.st_gid) == (0, 0)
