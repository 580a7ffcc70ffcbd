"""Every use case of the catalogue run as processes: as the user that its setters name, with what its pods say.

The program in the image is a stand-in that notes what it was given; everything around it is real: mkdir, the shell,
Python, sshd, ssh and mpirun, the file system, the network.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

import pytest

from catalogue.pods import as_pods
from catalogue.usecases import PACKAGES, USE_CASES, with_option
from packyard.writing.source.package import Package, UseCase
from real import Kustomize
from sample import some
from workload import catalogue, controllers, zoo
from workload.controllers import of_kind
from workload.environment import Object, environment
from workload.machine import Machine, Pod, wait_until
from workload.runs import Run, run_mpi_job, run_workflow

NewMachine = Callable[[Sequence[Object]], Machine]
READ_ONLY = "Read-only file system"

#: One use case of each package and base; the others differ in their storage.
BASES = {(item.name, each.base): (item, each) for item in PACKAGES for each in item.use_cases}.values()
#: Jobs whose programs are run by tests of their own.
_ELSEWHERE = ("own-storage", "smoke-test")
#: Options that need a bucket or a registry: test_model_staging.py has them.
_SOURCES = ("from-bucket", "from-registry")


def cases(chosen: Any) -> Any:
    return pytest.mark.parametrize(
        ("package", "use_case"), [pytest.param(*case, id=f"{case[0].name}/{case[1].path}") for case in chosen]
    )


@pytest.mark.usefixtures("open_mpi")
@cases(some(USE_CASES, lambda case: (case[0].name, case[1].base, *case[1].overlays)))
def test_runs_to_its_end_as_its_pods_say(package: Package, use_case: UseCase, new_machine: NewMachine) -> None:
    run_all(catalogue.set_objects(package, use_case), new_machine)


@pytest.mark.usefixtures("open_mpi")
@cases(BASES)
def test_runs_to_its_end_with_other_paths_ports_and_names(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    """No path, port or name is written where its setter does not reach."""
    run_all(catalogue.set_objects(package, use_case, **catalogue.OTHERS), new_machine)


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(
    ("package", "use_case", "option"),
    [
        pytest.param(*case, id=f"{case[0].name}/{case[1].path} with {case[2]}")
        for case in some(with_option("processes"), lambda case: (case[1].base, case[2]))
        if case[2] not in _SOURCES
    ],
)
def test_runs_to_its_end_with_an_option(
    package: Package, use_case: UseCase, option: str, kustomize5: Kustomize, new_machine: NewMachine
) -> None:
    directory = catalogue.set_directory(package, use_case)
    run_all(catalogue.with_options(kustomize5, directory, [option]), new_machine)


def run_all(objects: list[Object], new_machine: NewMachine) -> None:
    """Apply the objects of a use case, and see all that runs to its end."""
    machine = new_machine(objects)
    zoo.furnish(machine)
    for item in of_kind(objects, "MPIJob"):
        zoo.store_inputs(machine, [pod for _, pod in as_pods([item])])
        run = run_mpi_job(machine, item)
        if not _is_asleep(run.launcher):
            assert run.launcher.wait() == 0, run.log
            _every_rank_took_part(run, item, machine)
    for item in of_kind(objects, "Workflow"):
        zoo.store_inputs(machine, [pod for pod, _ in controllers.steps(item)])
        for pod, code in run_workflow(machine, item):
            assert code == 0, pod.log
            is_the_user_and_writes_where_it_should(pod)
    added, workloads = controllers.pods_of(objects)
    machine.objects += added
    described = [pod for pods in workloads for pod in pods if pod["spec"]["containers"][0]["name"] not in _ELSEWHERE]
    zoo.store_inputs(machine, described)
    machine.image.install(described, machine.objects)
    # All at once, for they may wait for each other. Parameter servers end with the others, however far they came.
    machine.hold = any(pod["spec"]["containers"][0]["name"] == "server" for pod in described)
    started = [machine.start(pod) for pod in described]
    machine.wait_ready(*(pod for pod in started if pod.serves))
    awake = [pod for pod in started if not _is_asleep(pod)]
    wait_until(lambda: all(_has_noted(pod) or pod.has_ended for pod in awake), awake)
    for pod in awake:
        pod.release()
    for pod in awake:
        assert pod.serves or pod.wait() == 0, pod.log
        assert _has_noted(pod), f"{pod.name} did not start its program:\n{pod.log}"
        has_the_environment(pod, machine)
        is_the_user_and_writes_where_it_should(pod)
        finds_what_it_has_staged(pod)


def _has_noted(pod: Pod) -> bool:
    """Whether a pod has started its program; one that stages may find a copy, or have a program of ours."""
    name = _first(pod)["name"]
    return name == "staging" or bool(pod.records(name))


def _is_asleep(pod: Pod) -> bool:
    """Whether a pod was told to sleep in place of its program, as the option debug says; then it has to."""
    command = pod.described["spec"]["containers"][0].get("command", [""])
    if command[0] != "sleep" and command != ["sh", "-c", "sleep 3600"]:
        return False
    with pytest.raises(subprocess.TimeoutExpired):
        pod.containers[0].process.wait(0.5)
    return True


def _first(pod: Pod) -> Object:
    """Return the container of a pod that has its program: one that stages does it before the others."""
    spec = pod.described["spec"]
    return next(
        iter([each for each in spec.get("initContainers", []) if each["name"] == "staging"] or spec["containers"])
    )


def _every_rank_took_part(run: Run, job: Object, machine: Machine) -> None:
    """As many on each worker as it has slots, all in one world, each heard by the launcher."""
    workers, slots = job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"], job["spec"]["slotsPerWorker"]
    size = workers * slots
    assert [record["mpi"]["rank"] for record in run.ranks] == [*range(size)]
    assert {(record["mpi"]["size"], *record["mpi"]["sums"]) for record in run.ranks} == {(size, sum(range(size)))}
    assert [len(worker.records()) for worker in run.workers] == [slots] * workers
    (container,) = run.launcher.described["spec"]["containers"]
    declared = environment(container, run.launcher.described, machine.objects)
    listed = declared["OMPI_MCA_mca_base_env_list"].split(";")
    assert {"HOME", "DATASET_DIR", "OUTPUT_DIR"} <= {*listed}
    expected = {name: declared[name] for name in declared if name in listed or name.startswith("OMPI_MCA_btl")}
    for worker in run.workers:
        is_the_user_and_writes_where_it_should(worker)
        for record in worker.records():
            called = f"record of {record['hostname']}-{record['mpi']['rank']}\n"
            assert called in run.launcher.log
            output = worker.here(record["environment"]["OUTPUT_DIR"]) / f"rank.{record['mpi']['rank']}"
            assert output.read_text() == called
            assert {name: record["environment"].get(name) for name in expected} == expected
            assert record["cwd"] == container["workingDir"]


def has_the_environment(pod: Pod, machine: Machine) -> None:
    """All that the container with the program declares reaches the program."""
    container = _first(pod)
    declared = environment(container, pod.described, machine.objects)
    if "/scripts/run.py" in container["command"] and not declared.get("S3_ENDPOINT"):
        declared.pop("S3_ENDPOINT", None)  # an empty one is none
    for record in pod.records(container["name"]):
        assert {name: record["environment"].get(name) for name in declared} == declared
        assert record["cwd"] == container.get("workingDir", "/")


def is_the_user_and_writes_where_it_should(pod: Pod) -> None:
    container = _first(pod)
    mounts = [volume_mount["mountPath"] for volume_mount in container["volumeMounts"]]
    empty = [volume["name"] for volume in pod.described["spec"]["volumes"] if "emptyDir" in volume]
    of_storage = [each["mountPath"] for each in container["volumeMounts"] if each["name"] not in empty]
    for record in pod.records(container["name"]):
        assert record["user"][:2] == [catalogue.USER, catalogue.GROUP]
        assert catalogue.FS_GROUP in record["user"]
        assert record["name"] == ("nobody-here" if "/etc/passwd" in mounts else None)
        writable, variables = record["writable"], record["environment"]
        refusal = READ_ONLY if container["securityContext"]["readOnlyRootFilesystem"] else "Permission denied"
        told = [writable[folder] for folder in ("/", "/usr", "/tmp", variables["HOME"])]
        assert told == [refusal, refusal, True, True]
        output_dir = variables.get("OUTPUT_DIR", "/tmp")
        if not pod.serves and "://" not in output_dir and "trainingbucket" not in variables:  # which has no storage
            assert writable[output_dir] is True
        for name in ("DATASET_DIR", *(["MODEL_BASE_PATH"] if pod.serves else [])):
            folder = PurePosixPath(variables.get(name, "/"))
            filled = container["name"] == "staging" or folder.is_relative_to(output_dir)  # by a run itself
            if any(map(folder.is_relative_to, of_storage)) and not filled:
                assert writable[str(folder)] == READ_ONLY


def finds_what_it_has_staged(pod: Pod) -> None:
    """Where the pod itself copies the input data, as its user, and the program gets none of the keys."""
    if "stage-dataset" in [each["name"] for each in pod.described["spec"].get("initContainers", [])]:
        (copying,), (record,) = pod.records("stage-dataset"), pod.records()
        assert copying["argv"][1:] == ["s3", "sync", "--no-progress", "s3://team-datasets/", "/staging"]
        assert (pod.here(record["environment"]["DATASET_DIR"]) / "file").read_text() == "content\n"
        keys = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
        assert keys <= copying["environment"].keys()
        assert keys.isdisjoint(record["environment"])
