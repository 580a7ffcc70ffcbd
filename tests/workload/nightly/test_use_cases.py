"""Every use case of the catalogue, run as processes: as the user that its setters name, with what its pods say.

The program in the image is a stand-in that notes what it was given; everything around it is real: mkdir, the shell,
Python, sshd, ssh and mpirun, the file system, the network.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from catalogue.usecases import PACKAGES, USE_CASES, each_use_case, with_option
from packyard.writing.source.package import Package, UseCase
from real import Served
from sample import some
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.deploy import MpiRun
from workload.environment import environment
from workload.objects import Object
from workload.pod import Pod

#: One use case of each package and base, a sample; the others differ in their storage.
BASES = some(
    {(item.name, each.base): (item, each) for item in PACKAGES for each in item.use_cases}.values(),
    lambda case: (case[0].name, case[1].base),
)

NewCluster = Callable[[list[Object]], Cluster]

#: What is for the scheduler, the autoscaler and the pulling of images.
_UNSEEN = frozenset(("affinity", "annotations", "nodeSelector", "tolerations", "topologySpreadConstraints"))
_UNSEEN |= {"image", "imagePullSecrets", "resources"}

READ_ONLY = "Read-only file system"


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(
    ("package", "use_case"),
    [
        pytest.param(*case, id=f"{case[0].name}/{case[1].path}")
        for case in some(USE_CASES, lambda case: (case[0].name, case[1].base, *case[1].overlays))
    ],
)
def test_runs_to_its_end_as_its_pods_say(package: Package, use_case: UseCase, new_cluster: NewCluster) -> None:
    run_all(catalogue.set_objects(package, use_case), new_cluster)


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(
    ("package", "use_case"), [pytest.param(*case, id=f"{case[0].name}/{case[1].path}") for case in BASES]
)
def test_runs_to_its_end_with_other_paths_ports_and_names(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    """No path, port or name is written where its setter does not reach."""
    run_all(catalogue.with_others(package, use_case), new_cluster)


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(
    ("package", "use_case"),
    {item.name: (item, each) for item in PACKAGES for each in item.use_cases if each.base == "mpi-job"}.values(),
    ids=lambda value: value.name if isinstance(value, Package) else value.path,
)
def test_runs_to_its_end_with_open_mpi_5(package: Package, use_case: UseCase, with_open_mpi_5: NewCluster) -> None:
    run_all(catalogue.set_objects(package, use_case), with_open_mpi_5)


@cache
def sampled() -> list[tuple[Package, UseCase, str]]:
    """Return use cases with an option: each base with one, and each option in some base."""
    return some(with_option("processes"), lambda case: (case[1].base, case[2]))


@pytest.mark.usefixtures("open_mpi")
@each_use_case
def test_runs_to_its_end_with_an_option(
    package: Package, use_case: UseCase, served5: Served, new_cluster: NewCluster
) -> None:
    options = [option for *here, option in sampled() if here == [package, use_case]]
    alone = seen(catalogue.set_objects(package, use_case))
    built = {option: catalogue.with_option(served5, package, use_case, option) for option in options}
    of_processes = {option: objects for option, objects in built.items() if seen(objects) != alone}
    if not of_processes:
        pytest.skip("no process sees an option")
    for option, objects in of_processes.items():
        print(f"with {option}:")
        run_all(objects, new_cluster)


def seen(objects: list[Object]) -> list[Any]:
    """Return what processes can see of some objects."""
    found = [item for item in objects if item["kind"] != "ServiceAccount"]
    return sorted(
        (_without(_UNSEEN, item) for item in found), key=lambda item: (item["kind"], item["metadata"]["name"])
    )


def _without(keys: frozenset[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(keys, each) for key, each in value.items() if key not in keys}
    return [_without(keys, each) for each in value] if isinstance(value, list) else value


def run_all(objects: list[Object], new_cluster: NewCluster) -> Cluster:
    """Apply the objects of a use case, see all that runs to its end, and return where it ran."""
    workloads = deploy.of_kind(objects, "MPIJob", "Job", "JobSet", "TrainJob", "PyTorchJob", "Deployment", "Pod")
    if deploy.of_kind(objects, "Workflow"):
        pytest.skip("run by test_pipelines")
    if any(is_own_storage(item) for item in workloads):
        pytest.skip("a Job of root's that starts no program: run by test_own_storage")
    if any(map(is_smoke_test, workloads)):
        pytest.skip("a Job that asks servers: run by test_smoke_test")
    if not workloads:
        pytest.skip(f"no controller here makes pods of {', '.join(sorted(item['kind'] for item in objects))}")
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    zoo.store_data(cluster, objects)
    zoo.store_models(cluster, deploy.of_kind(workloads, "Deployment"))
    for item in deploy.of_kind(workloads, "MPIJob"):
        run = deploy.run_mpi_job(cluster, item)
        if is_asleep(run.launcher):
            continue
        assert run.launcher.wait() == 0, run.log
        every_rank_took_part(run, item)
        for worker in run.workers:
            keys_are_those_of_the_operator(worker)
            for record in worker.records:
                is_the_process_that_its_pod_says(record, worker)
                has_what_mpirun_hands_on(record, run.launcher, cluster)
                leaves_its_output(record, worker)
    # All at once, for they may wait for each other. Parameter servers end with the others, however far they came.
    made = deploy.jobs_of(cluster, objects)
    zoo.store_copies(cluster, made)
    for item in [item for item in made if sleeps(item)]:
        made.remove(item)
        described = controllers.job(item)[: item["spec"].get("parallelism", 1)]
        cluster.install(described)
        pods = [cluster.start(pod) for pod in described]
        assert all(is_asleep(pod) for pod in pods)
    cluster.hold = any(is_parameter_server(item["spec"]["template"]) for item in made)
    servers, jobs, pods = (
        [pod for item in items for pod in deploy.run_pods(cluster, item)]
        for items in (deploy.of_kind(workloads, "Deployment"), made, deploy.of_kind(workloads, "Pod"))
    )
    if cluster.hold:
        deploy.wait_until(lambda: all(pod.records or pod.has_ended for pod in jobs), jobs)
        for pod in jobs:
            pod.release()
    pods += [pod for item in deploy.of_kind(workloads, "PyTorchJob") for pod in deploy.run_torch_job(cluster, item)]
    cluster.wait_ready(*servers)
    started = [pod for pod in servers if not (is_staging(pod) or is_told_to_sleep(_first(pod.described["spec"])))]
    deploy.wait_until(lambda: all(pod.records for pod in started), started)
    for pod in [pod for pod in [*servers, *jobs, *pods] if not is_asleep(pod)]:
        assert pod in servers or pod.wait() == 0, pod.log
        records = pod.init_records if is_staging(pod) and not pod.records else pod.records
        assert records or is_staging(pod), f"{pod.name} did not start its program:\n{pod.log}"
        for record in records:
            is_as_its_pod_says(record, pod, cluster)
    return cluster


def is_parameter_server(pod: Object) -> bool:
    return bool(pod["spec"]["containers"][0]["name"] == "server")


def is_staging(pod: Pod) -> bool:
    """Whether a pod copies input data; one that finds a copy has nothing to do."""
    return bool(_first(pod.described["spec"])["name"] == "staging")


def is_own_storage(workload: Object) -> bool:
    """Whether a Job is an administrator's, which runs as root and starts no program."""
    return _is_of(workload, "own-storage")


def is_smoke_test(workload: Object) -> bool:
    """Whether a Job asks servers that another use case has."""
    return _is_of(workload, "smoke-test")


def _is_of(workload: Object, container: str) -> bool:
    return workload["kind"] == "Job" and workload["spec"]["template"]["spec"]["containers"][0]["name"] == container


def component(pod: Object) -> str:
    return str(pod["metadata"]["labels"].get("app.kubernetes.io/component", ""))


def sleeps(item: Object) -> bool:
    """Whether the pods of a Job sleep in place of their programs, and the next would wait for their end."""
    return is_told_to_sleep(item["spec"]["template"]["spec"]["containers"][0])


def is_told_to_sleep(container: Object) -> bool:
    """Whether a container sleeps in place of a program, as an inspector's does and the option debug says."""
    return container.get("command", [""])[0] == "sleep" or container.get("command") == ["sh", "-c", "sleep 3600"]


def is_asleep(pod: Pod) -> bool:
    """Whether a pod was told to sleep; then it has to."""
    if not is_told_to_sleep(pod.described["spec"]["containers"][0]):
        return False
    with pytest.raises(subprocess.TimeoutExpired):
        pod.containers[0].process.wait(1)
    return True


def every_rank_took_part(run: MpiRun, job: Object) -> None:
    """As many on each worker as it has slots, all in one world, each heard by the launcher."""
    workers, slots = job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"], job["spec"]["slotsPerWorker"]
    size = workers * slots
    assert [record["mpi"]["rank"] for record in run.ranks] == list(range(size))
    assert {(record["mpi"]["size"], *record["mpi"]["sums"]) for record in run.ranks} == {(size, sum(range(size)))}
    assert [len(worker.records) for worker in run.workers] == [slots] * workers
    # Neighbors on a node hand over their messages without leave to read each other's memory.
    single_copy = {record["environment"].get("OMPI_MCA_btl_vader_single_copy_mechanism") for record in run.ranks}
    assert single_copy == {"none"}
    heard = re.findall(r"^(?:.*<stdout>: ?)?record of (\S+)$", run.launcher.log, re.M)
    assert sorted(heard) == sorted(f"{record['hostname']}-{record['mpi']['rank']}" for record in run.ranks)


def keys_are_those_of_the_operator(worker: Pod) -> None:
    """They belong to root and others read them, which ssh minds only of its own user's."""
    key = (worker.volumes["ssh-auth"] / "id_rsa").stat()
    group = worker.described["spec"]["securityContext"].get("fsGroup", 0)
    assert (key.st_uid, key.st_gid, key.st_mode & 0o777) == (0, group, 0o644)


def is_as_its_pod_says(record: dict[str, Any], pod: Pod, cluster: Cluster) -> None:
    is_the_process_that_its_pod_says(record, pod)
    has_the_environment(record, pod, cluster)


def is_the_process_that_its_pod_says(record: dict[str, Any], pod: Pod) -> None:
    finds_what_its_pod_has_staged(record, pod)
    is_the_user(record, has_a_name=is_mounted(pod, "/etc/passwd"))
    has_no_privilege(record)
    writes_where_it_should_and_nowhere_else(record, pod)


def finds_what_its_pod_has_staged(record: dict[str, Any], pod: Pod) -> None:
    """Where the pod itself copies the input data, as its user, and the program gets none of the keys."""
    if "stage-dataset" not in [each["name"] for each in pod.described["spec"].get("initContainers", [])]:
        return
    (copying,) = pod.init_records
    assert copying["argv"][1:] == ["s3", "sync", "--no-progress", "s3://team-datasets/", "/staging"]
    assert (copying["user"], copying["group"]) == (catalogue.USER, catalogue.GROUP)
    has_no_privilege(copying)
    assert (seen_from_here(pod, record["environment"]["DATASET_DIR"]) / "file").read_text() == "content\n"
    keys = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert keys <= copying["environment"].keys()
    assert keys.isdisjoint(record["environment"])


def leaves_its_output(record: dict[str, Any], worker: Pod) -> None:
    """What a process prints lies with the results, too, a file for each rank."""
    file = seen_from_here(worker, record["environment"]["OUTPUT_DIR"]) / f"rank.{record['mpi']['rank']}"
    assert file.read_text() == f"record of {record['hostname']}-{record['mpi']['rank']}\n"


def seen_from_here(pod: Pod, path: str) -> Path:
    """Return where a path of the pod's first container lies on this machine."""
    mounts = pod.described["spec"]["containers"][0]["volumeMounts"]
    over = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount["mountPath"])]
    mount = max(over, key=lambda mount: len(mount["mountPath"]))
    return pod.volumes[mount["name"]] / mount.get("subPath", "") / PurePosixPath(path).relative_to(mount["mountPath"])


def is_mounted(pod: Pod, path: str) -> bool:
    """Whether a path of the pod's first container lies in one of its volumes that is not empty at first."""
    spec = pod.described["spec"]
    empty = {volume["name"] for volume in spec["volumes"] if "emptyDir" in volume}
    mounts = [each for each in _first(spec)["volumeMounts"] if each["name"] not in empty]
    return any(PurePosixPath(path).is_relative_to(mount["mountPath"]) for mount in mounts)


def _first(spec: Object) -> Object:
    """Return the container of a pod that has its program."""
    (found, *_) = [each for each in spec.get("initContainers", []) if each["name"] == "staging"] or spec["containers"]
    return dict(found)


def is_the_user(record: dict[str, Any], has_a_name: bool = True) -> None:
    assert (record["user"], record["group"]) == (catalogue.USER, catalogue.GROUP)
    assert catalogue.FS_GROUP in record["groups"]
    assert record["name"] == ("nobody-here" if has_a_name else None)


def has_no_privilege(record: dict[str, Any]) -> None:
    assert record["capabilities"] == [""] * 5
    assert record["no_new_privileges"]


def has_the_environment(record: dict[str, Any], pod: Pod, cluster: Cluster) -> None:
    """All that the pod's first container declares reaches the program."""
    container = _first(pod.described["spec"])
    declared = environment(container, pod.described, cluster.objects)
    if "/scripts/run.py" in container.get("command", ()) and not declared.get("S3_ENDPOINT"):
        declared.pop("S3_ENDPOINT", None)  # an empty one is none
    assert {name: record["environment"].get(name) for name in declared} == declared
    assert record["cwd"] == container.get("workingDir", "/")


def has_what_mpirun_hands_on(record: dict[str, Any], launcher: Pod, cluster: Cluster) -> None:
    """The variables that the launcher lists reach a program behind sshd, and so do parameters of Open MPI."""
    container = launcher.described["spec"]["containers"][0]
    declared = environment(container, launcher.described, cluster.objects)
    listed = declared["OMPI_MCA_mca_base_env_list"].split(";")
    expected = {name: declared[name] for name in listed if name in declared}
    expected |= {name: value for name, value in declared.items() if name.startswith("OMPI_MCA_btl")}
    found = {name: record["environment"].get(name, "") for name in expected}
    if "LD_LIBRARY_PATH" in expected and found["LD_LIBRARY_PATH"].endswith(f":{expected['LD_LIBRARY_PATH']}"):
        found["LD_LIBRARY_PATH"] = expected["LD_LIBRARY_PATH"]  # Open MPI 5 puts its own libraries before the others
    assert found == expected
    assert {"HOME", "DATASET_DIR", "OUTPUT_DIR"} <= expected.keys()
    assert record["cwd"] == container["workingDir"]


def writes_where_it_should_and_nowhere_else(record: dict[str, Any], pod: Pod) -> None:
    writable, variables = record["writable"], record["environment"]
    has_root = _first(pod.described["spec"])["securityContext"]["readOnlyRootFilesystem"] is False  # by an option
    refusal = "Permission denied" if has_root else READ_ONLY
    assert [writable[folder] for folder in ("/", "/usr", "/etc")] == [refusal] * 3
    assert [writable[folder] for folder in ("/tmp", variables["HOME"])] == [True, True]
    if pod.described["spec"].get("restartPolicy", "Always") == "Always":
        return  # a server, which reads what is there, whenever it is
    if is_staging(pod):
        return  # it writes to what others read
    output_dir = variables.get("OUTPUT_DIR", "/tmp")
    if "://" not in output_dir and not PurePosixPath(output_dir).is_relative_to("/tmp"):  # made by the program itself
        assert writable[output_dir] is True
    if is_mounted(pod, variables.get("DATASET_DIR", "/")):
        assert writable[variables["DATASET_DIR"]] == READ_ONLY
    if record["session_dir"]:
        assert record["session_dir"].startswith(("/tmp/ompi.", "/tmp/prted."))
        assert not [*seen_from_here(pod, "/tmp").glob("ompi.*")]
