"""Runs of an MPIJob with the real sshd, ssh and mpirun: how many processes start, what they see, and how a run ends."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from real import Kustomize
from workload import catalogue, controllers, environment
from workload.controllers import of_kind
from workload.environment import Object
from workload.machine import STAND_IN, Machine, NewMachine, Pod, wait_until

READ_ONLY = "Read-only file system"
USE_CASE = catalogue.USE_CASES["resnet50v1-5-fp32-training-k8s/multi-node/user-allocated-pvc"]


@dataclass(frozen=True)
class Run:
    """The pods of an MPIJob, all started."""

    launcher: Pod
    workers: list[Pod]

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """What each process that mpirun started noted, in the order of their numbers."""
        records = [record for worker in self.workers for record in worker.records()]
        return sorted(records, key=lambda record: int(record["mpi"]["rank"]))

    @property
    def log(self) -> str:
        return "".join(pod.log for pod in [self.launcher, *self.workers])


def run_mpi_job(machine: Machine, job: Object) -> Run:
    """Start the workers of an MPIJob and, once they are ready, its launcher."""
    added, (launcher, *workers) = controllers.mpi_job(job)
    machine.objects += added
    (container,) = launcher["spec"]["containers"]
    words = environment.words(container, environment.environment(container, launcher, machine.objects))
    for program in [word for word in words if word.endswith(".py")]:
        machine.put(program, STAND_IN)
    started = [machine.start(worker) for worker in workers]
    machine.wait_ready(*started)
    return Run(machine.start(launcher), started)


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
    size = workers * slots
    assert [len(worker.records()) for worker in run.workers] == [slots] * workers
    assert [record["mpi"]["rank"] for record in run.ranks] == [*range(size)]
    assert {(record["mpi"]["size"], *record["mpi"]["sums"]) for record in run.ranks} == {(size, sum(range(size)))}


def test_each_process_is_the_user_and_writes_where_it_should(mpi_machine: NewMachine) -> None:
    objects, job = set_objects()
    machine = mpi_machine(objects)
    machine.store(controllers.mpi_job(job)[1][1], "/data/datasets", {})
    run = run_mpi_job(machine, job)
    assert run.launcher.wait() == 0, run.log
    for record in run.ranks:
        assert record["user"] == [catalogue.USER, catalogue.GROUP, catalogue.FS_GROUP]
        assert record["name"] == "nobody-here"
        variables, writable = record["environment"], record["writable"]
        assert [writable[folder] for folder in ("/", "/usr", "/tmp", variables["HOME"])] == [READ_ONLY] * 2 + [True] * 2
        assert [writable[variables[name]] for name in ("OUTPUT_DIR", "DATASET_DIR")] == [True, READ_ONLY]
        called = f"record of {record['hostname']}-{record['mpi']['rank']}\n"
        assert called in run.launcher.log
        rank_file = run.workers[0].here(variables["OUTPUT_DIR"]) / f"rank.{record['mpi']['rank']}"
        assert rank_file.read_text() == called


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
