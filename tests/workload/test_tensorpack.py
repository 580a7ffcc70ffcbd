"""A further try of a run on tensorpack: it deletes nothing of those before it, and goes on where they stopped.

The program here deletes the log directory that it is given, as those on tensorpack do (`set_logger_dir(..., 'd')`).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import real
from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from real import Served
from workload import catalogue, deploy
from workload.cluster import Cluster
from workload.nightly.test_use_cases import seen_from_here
from workload.objects import Object
from workload.pod import PATIENCE

NewCluster = Callable[[list[Object]], Cluster]

SCRIPT = real.REPOSITORY / "overlays/programs/tensorpack/launch.sh"
#: 1000 images are 250 steps of 2 processes with 2 images each.
ENVIRONMENT = {"IMAGES_PER_EPOCH": "1000", "BATCH_SIZE_PER_GPU": "2"}
HOSTS = "worker-0.run.ml.svc slots=1\nworker-1.run.ml.svc slots=1\n"
#: Stands for mpirun and the program behind it, and deletes the log directory that it is given.
PROGRAM = """
import json, shutil, sys
shutil.rmtree(sys.argv[-1], ignore_errors=True)
print(json.dumps(sys.argv[1:]))
"""


def save(log_dir: Path, *steps: int, shards: int = 1) -> None:
    """Write checkpoints as TensorFlow does, whose list of them is the last that it writes."""
    log_dir.mkdir(parents=True, exist_ok=True)
    for step in steps:
        for shard in range(shards):
            (log_dir / f"model-{step}.data-{shard:05}-of-{shards:05}").write_text("data")
        (log_dir / f"model-{step}.index").write_text("index")
    listed = "".join(f'all_model_checkpoint_paths: "{log_dir}/model-{step}"\n' for step in steps)
    (log_dir / "checkpoint").write_text(f'model_checkpoint_path: "{log_dir}/model-{steps[-1]}"\n{listed}')


def start(output_dir: Path, hosts: str = HOSTS, **environment: str) -> subprocess.Popen[str]:
    hostfile = output_dir / "hostfile"
    hostfile.write_text(hosts)
    path = real.path_with("sed", "grep")
    given = {**ENVIRONMENT, "OUTPUT_DIR": str(output_dir), "TRY_NAME": "second"}
    return subprocess.Popen(
        ["/bin/sh", "-eu", SCRIPT, "python3", "-c", PROGRAM, "--config", "A=1"],
        env={"PATH": path, "PRTE_MCA_prte_default_hostfile": str(hostfile), **given, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def given(process: subprocess.Popen[str]) -> list[str]:
    """Return what the program got."""
    said, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaint
    arguments: list[str] = json.loads(said.splitlines()[-1])
    return arguments


def test_the_first_try_begins_at_the_beginning_in_a_log_directory_of_its_own(tmp_path: Path) -> None:
    log_dir = str(tmp_path / "train_log/second")
    assert given(start(tmp_path)) == ["--config", "A=1", "--logdir", log_dir]
    assert given(start(tmp_path, STEPS_NAME="STEPS")) == ["--config", "A=1", "STEPS=250", "--logdir", log_dir]


def test_the_steps_of_an_epoch_follow_from_the_processes_of_all_workers(tmp_path: Path) -> None:
    hosts = "".join(f"worker-{index}.run.ml.svc slots=8\n" for index in range(4))
    assert "STEPS=15" in given(start(tmp_path, hosts, STEPS_NAME="STEPS"))


@pytest.mark.parametrize("shards", [1, 12])
def test_a_further_try_loads_the_newest_checkpoint_whichever_try_it_is_of(shards: int, tmp_path: Path) -> None:
    logs = tmp_path / "train_log"
    save(logs / "a", 500, 1000, shards=shards)
    save(logs / "b", 750)
    arguments = ["--config", "A=1", "TRAIN.STARTING_EPOCH=5", "--load", f"{logs}/a/model-1000"]
    assert given(start(tmp_path)) == [*arguments, "--logdir", f"{logs}/second"]
    assert all((logs / name / "checkpoint").exists() for name in ("a", "b"))


#: What befalls the checkpoint model-1000, after model-500.
INCOMPLETE: dict[str, Callable[[Path], object]] = {
    "no index": lambda folder: (folder / "model-1000.index").unlink(),
    "an empty index": lambda folder: (folder / "model-1000.index").write_text(""),
    "no data": lambda folder: [file.unlink() for file in folder.glob("model-1000.data-*")],
    "a shard less": lambda folder: (folder / "model-1000.data-00001-of-00002").unlink(),
    "still being written": lambda folder: (folder / "checkpoint").write_text(
        'model_checkpoint_path: "model-500"\nall_model_checkpoint_paths: "model-500"\n'
    ),
}


@pytest.mark.parametrize("what", INCOMPLETE)
def test_a_checkpoint_that_is_not_complete_is_passed_over(what: str, tmp_path: Path) -> None:
    logs = tmp_path / "train_log"
    save(logs / "first", 500, 1000, shards=2)
    assert f"{logs}/first/model-1000" in given(start(tmp_path, TRY_NAME="a"))
    INCOMPLETE[what](logs / "first")
    assert f"{logs}/first/model-500" in given(start(tmp_path, TRY_NAME="b"))


def test_refuses_images_that_are_no_step(tmp_path: Path) -> None:
    process = start(tmp_path, IMAGES_PER_EPOCH="3")
    assert process.communicate()[1] == "3 images are no step of 2 processes with 2 images each\n"
    assert process.returncode == 64


#: One use case of each program; the others differ in their storage.
CASES = {
    (package.name, use_case.name): pytest.param(package, use_case, id=f"{package.name}/{use_case.path}")
    for package in PACKAGES
    for use_case in package.use_cases
    if "tensorpack" in use_case.programs
}


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(("package", "use_case"), CASES.values())
def test_a_launcher_that_is_tried_again_goes_on_beside_what_the_first_left(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    objects = catalogue.set_objects(package, use_case, GPUS=2)
    (job,) = deploy.of_kind(objects, "MPIJob")
    cluster = new_cluster(objects)
    run = deploy.run_mpi_job(cluster, job)
    assert run.launcher.wait() == 0, run.log
    (first,) = {last_argument(record) for record in run.ranks}
    assert not [record for record in run.ranks if "--load" in record["argv"]]
    log_dir = seen_from_here(run.workers[0], first)
    save(log_dir, 10**6)
    listed = f'all_model_checkpoint_paths: "{first}/model-1000000"\n'
    (log_dir / "checkpoint").write_text(listed)
    described = run.launcher.described
    launcher = cluster.start({**described, "metadata": {**described["metadata"], "name": f"{run.launcher.name}-again"}})
    assert launcher.wait() == 0, launcher.log
    assert len(run.ranks) == 4
    (second,) = {last_argument(record) for record in run.ranks}
    assert second != first
    for record in run.ranks:
        assert record["argv"][-4:] == ["--load", f"{first}/model-1000000", "--logdir", second]
    assert (log_dir / "checkpoint").read_text() == listed


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(("package", "use_case"), CASES.values())
def test_every_process_gets_the_paths_of_the_image_and_sees_all_gpus_of_its_pod(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    """Horovod's programs choose a GPU by their local rank, so no variable may hide the others."""
    objects = catalogue.set_objects(package, use_case, GPUS=2)
    (job,) = deploy.of_kind(objects, "MPIJob")
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    # As the image has them.
    paths = {"PATH": "/opt/cuda/bin:/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH": "/opt/cuda/lib64"}
    launcher["env"] += [{"name": name, "value": value} for name, value in paths.items()]
    run = deploy.run_mpi_job(new_cluster(objects), job)
    assert run.launcher.wait() == 0, run.log
    assert [record["environment"]["OMPI_COMM_WORLD_LOCAL_RANK"] for record in run.ranks] == ["0", "1", "0", "1"]
    (config,) = [item for item in deploy.of_kind(objects, "ConfigMap") if "NCCL_DEBUG" in item["data"]]
    told = {name: value for name, value in config["data"].items() if name.startswith(("HOROVOD_", "NCCL_", "TF_"))}
    for record in run.ranks:
        assert record["environment"].items() >= {**told, "LD_LIBRARY_PATH": paths["LD_LIBRARY_PATH"]}.items()
        # Open MPI puts its own directory before it.
        assert record["environment"]["PATH"].endswith(paths["PATH"])
        assert "CUDA_VISIBLE_DEVICES" not in record["environment"]


@pytest.mark.parametrize(("package", "use_case"), CASES.values())
def test_workers_and_they_alone_go_to_nodes_that_are_kept_for_gpus(package: Package, use_case: UseCase) -> None:
    (job,) = deploy.of_kind(catalogue.set_objects(package, use_case, GPUS=4, NODE_TYPE="g5.xlarge"), "MPIJob")
    replicas = job["spec"]["mpiReplicaSpecs"]
    worker, launcher = (replicas[role]["template"]["spec"] for role in ("Worker", "Launcher"))
    assert worker["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert worker["nodeSelector"]["node.kubernetes.io/instance-type"] == "g5.xlarge"
    assert worker["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == job["spec"]["slotsPerWorker"] == 4
    assert launcher["tolerations"] == []
    assert "node.kubernetes.io/instance-type" not in launcher["nodeSelector"]


def last_argument(record: dict[str, Any]) -> str:
    assert record["argv"][-2] == "--logdir"
    return str(record["argv"][-1])


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(("package", "use_case"), list(CASES.values())[:1])
def test_the_option_efa_gives_workers_its_devices_and_tells_every_process(
    package: Package, use_case: UseCase, served5: Served, new_cluster: NewCluster
) -> None:
    objects = catalogue.with_option(served5, package, use_case, "efa")
    (job,) = deploy.of_kind(objects, "MPIJob")
    (worker,) = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    limits = worker["resources"]["limits"]
    assert {"nvidia.com/gpu": 2, "vpc.amazonaws.com/efa": 4, "hugepages-2Mi": "5120Mi"}.items() <= limits.items()
    assert "option" not in job["spec"]
    run = deploy.run_mpi_job(new_cluster(objects), job)
    assert run.launcher.wait() == 0, run.log
    for record in run.ranks:
        assert record["environment"].items() >= {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}.items()
