"""The script of ``packyard doctor --probe`` in the pods that probes have, as their users: sound, and with faults."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import real
from catalogue.pods import as_pods
from catalogue.usecases import USE_CASES
from packyard.running import probe as probes
from packyard.running.runs.record import RunRecord
from packyard.running.runs.rendered import Rendered
from packyard.writing.source.package import Package, UseCase
from sample import some
from workload import catalogue, controllers, zoo
from workload.controllers import of_kind
from workload.environment import Object
from workload.machine import Machine
from workload.nightly.test_use_cases import cases

NewMachine = Callable[[Sequence[Object]], Machine]

ALONE = catalogue.USE_CASES["resnet50v1-5-fp32-training-k8s/single-node/user-allocated-pvc"]


@pytest.fixture(params=["dash", "busybox"])
def shell(request: pytest.FixtureRequest) -> list[str]:
    found = str(real.program(request.param))
    return [found, "sh"] if request.param == "busybox" else [found]


@pytest.mark.usefixtures("open_mpi")
@cases(some(USE_CASES, lambda case: (case[1].base,)))
def test_finds_nothing_wrong_where_the_run_itself_does_well(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    objects = catalogue.set_objects(package, use_case)
    machine = sound(new_machine, objects)
    # A pipeline makes the model that its servers wait for.
    assert [each for each in probe(machine, objects) if "MODEL_BASE_PATH" not in each] == []


def test_names_each_fault_of_images_data_and_results(shell: list[str], new_machine: NewMachine) -> None:
    objects = catalogue.set_objects(*ALONE)
    machine = sound(new_machine, objects)
    machine.applies_fs_group = False
    variables = next(item["data"] for item in of_kind(objects, "ConfigMap") if "HOME" in item["data"])
    (storage,) = machine.folder.glob("storage/*")
    storage.chmod(0o777)
    shutil.rmtree(storage / "nobody-here", ignore_errors=True)
    data = storage / Path(variables["DATASET_DIR"]).relative_to("/data")
    assert probe(machine, objects, shell) == []
    ((_, pod),) = as_pods(objects)
    pod["spec"]["containers"][0]["command"][0] = "python3.99"
    (storage / "nobody-here").touch()
    data.chmod(0o700)
    found = probe(machine, objects, shell)
    shutil.rmtree(data)
    found += probe(machine, objects, shell)
    (storage / "nobody-here").unlink()
    subprocess.run([real.program("mount"), "-t", "tmpfs", "-o", "mode=777,ro", "tmpfs", storage], check=True)
    try:
        found += probe(machine, objects, shell)
    finally:
        subprocess.run([real.program("umount"), storage], check=True)
    data_dir, output_dir = (f"{name} {variables[name]}" for name in ("DATASET_DIR", "OUTPUT_DIR"))
    assert {*found} >= {
        "error: python3.99: is not there",
        f"error: {data_dir}: Permission denied",
        f"error: {output_dir}: Read-only file system",
    }
    reasons = {each.partition(": ")[2] for each in found}
    assert any(f"{data_dir}: no such file".lower() in each.lower() for each in reasons)
    assert reasons & {f"{output_dir}: {said}" for said in ("Directory nonexistent", "nonexistent directory")}


def sound(new_machine: NewMachine, objects: list[Object]) -> Machine:
    """Return a machine whose images and storage have all that the pods of some objects need."""
    machine = new_machine(objects)
    zoo.furnish(machine)
    pods = [pod for _, pod in as_pods(objects)]
    zoo.store_inputs(machine, pods)
    machine.image.install(pods, objects)
    return machine


def probe(machine: Machine, objects: list[Object], shell: list[str] | None = None) -> list[str]:
    """Run the pods of a probe, and return what they found."""
    draft = RunRecord(run="", number=1, when="")
    made = probes.make(Rendered(objects=objects, draft=draft), "abcde", seconds=60)
    machine.objects += made.jobs
    found = []
    for job in made.jobs:
        for container in job["spec"]["template"]["spec"]["containers"]:
            container["command"][:1] = shell or container["command"][:1]
        (pod,) = controllers.job(job)
        running = machine.start(pod)
        assert running.wait() == 0, running.log
        for each in running.containers:
            checks = made.checks[job["metadata"]["name"], each.spec["name"]]
            found += probes.read(checks, {"message": each.log}, each.spec["image"])
    return list(dict.fromkeys(f"{each.severity}: {each}" for each in found if each.severity != "passed"))
