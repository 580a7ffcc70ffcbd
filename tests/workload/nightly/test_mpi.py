"""Runs of an MPIJob with the real sshd, ssh and mpirun: how many processes start, what they see, and how a run ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
import yaml

from catalogue.usecases import shipped
from real import Kustomize
from workload import catalogue
from workload.controllers import of_kind
from workload.environment import Object
from workload.machine import Machine, wait_until
from workload.runs import run_mpi_job

NewMachine = Callable[[Sequence[Object]], Machine]

USE_CASE = catalogue.USE_CASES["resnet50v1-5-fp32-training-k8s/multi-node/user-allocated-pvc"]


def set_objects(slots: int = 2, **values: object) -> tuple[list[Object], Object]:
    """Return the objects of a use case, and their MPIJob with so many processes on each worker."""
    objects: list[Object] = json.loads(json.dumps(catalogue.set_objects(*USE_CASE, **values)))
    (job,) = of_kind(objects, "MPIJob")
    job["spec"]["slotsPerWorker"] = slots
    return objects, job


@pytest.mark.parametrize(("workers", "slots"), [(3, 1), (1, 3)])
def test_as_many_processes_start_as_the_hostfile_has_slots(workers: int, slots: int, mpi_machine: NewMachine) -> None:
    objects, job = set_objects(slots, WORKERS=workers)
    run = run_mpi_job(mpi_machine(objects), job)
    assert run.launcher.wait() == 0, run.log
    assert [len(worker.records()) for worker in run.workers] == [slots] * workers
    assert {record["mpi"]["size"] for record in run.ranks} == {workers * slots}


def test_the_option_environment_reaches_every_process(kustomize5: Kustomize, mpi_machine: NewMachine) -> None:
    """A key that no shell can export does no harm."""
    objects = catalogue.with_options(kustomize5, catalogue.set_directory(*USE_CASE), ["environment"])
    objects[-1]["data"] = {**catalogue.ENVIRONMENT, "not a variable": "1"}
    run = run_mpi_job(mpi_machine(objects), *of_kind(objects, "MPIJob"))
    assert run.launcher.wait() == 0, run.log
    assert len(run.ranks) == 2
    for record in run.ranks:
        assert record["environment"].items() >= catalogue.ENVIRONMENT.items()


def test_a_process_that_fails_ends_the_run_and_its_last_words_are_kept(mpi_machine: NewMachine) -> None:
    objects, job = set_objects()
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    launcher["args"] = ["sh", "-c", "echo last words >&2; exit 3"]
    machine = mpi_machine(objects)
    run = run_mpi_job(machine, job)
    assert run.launcher.wait() == 3, run.log
    assert "last words\n" in run.launcher.log
    assert "last words\n" in [file.read_text() for file in (machine.folder / "storage").rglob("rank.*")]


def test_a_killed_worker_ends_the_run(mpi_machine: NewMachine) -> None:
    """The launcher ends, rather than wait for ever."""
    objects, job = set_objects()
    machine = mpi_machine(objects)
    machine.hold = True
    run = run_mpi_job(machine, job)
    wait_until(lambda: run.launcher.log.count("record of") == 4, [run.launcher])
    run.workers[1].kill()
    # The launcher of Open MPI 5 says so, and yet may end with 0.
    assert run.launcher.wait() or "PRTE has lost communication" in run.launcher.log, run.log


@pytest.mark.nightly("workload")
def test_the_network_policy_beside_the_others_is_about_all_pods_of_the_run_and_lets_them_talk() -> None:
    policy = yaml.safe_load(shipped(*USE_CASE).files["network-policy.yaml"])
    (job,) = of_kind(shipped(*USE_CASE).parse(), "MPIJob")
    selector = policy["spec"]["podSelector"]
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": selector}]}]
    for replica in job["spec"]["mpiReplicaSpecs"].values():
        assert selector["matchLabels"].items() <= replica["template"]["metadata"]["labels"].items()
