"""The script of ``packyard doctor --probe`` in the pods that probes have, as their users: sound, and with each fault.

Images, storage and names are those that the runs themselves get here. Every shell that images may have runs it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import real
from catalogue.pods import as_pods
from catalogue.usecases import PACKAGES, USE_CASES
from packyard.running.doctor.finding import Finding
from packyard.running.probe import answers, jobs
from packyard.running.probe.contract import Check
from packyard.running.runs.prepared import Prepared
from packyard.running.runs.record import RunRecord
from packyard.writing.source.package import Package, UseCase
from sample import some
from workload import catalogue, controllers, deploy, volume, zoo
from workload.cluster import Cluster
from workload.objects import Object

NewCluster = Callable[[list[Object]], Cluster]

CASES = {f"{item.name}/{each.path}": (item, each) for item in PACKAGES for each in item.use_cases}
MPI = "resnet50v1-5-fp32-training-k8s/multi-node/user-mounted-nfs"
ALONE = "resnet50v1-5-fp32-training-k8s/single-node/user-allocated-pvc"


#: A name that every cluster has.
DNS: Object = {
    "kind": "Service",
    "metadata": {"name": "kubernetes"},
    "spec": {"selector": {"app.kubernetes.io/managed-by": "packyard"}},
}


#: A name that no node of these tests knows.
OUTSIDE = "s3.amazonaws.com"


@pytest.fixture(params=["dash", "busybox"])
def shell(request: pytest.FixtureRequest) -> list[str]:
    found = str(real.program(request.param))
    return [found, "sh"] if request.param == "busybox" else [found]


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize(
    ("package", "use_case"),
    [
        pytest.param(*case, id=f"{case[0].name}/{case[1].path}")
        for case in some(USE_CASES, lambda case: (case[1].base,))
    ],
)
def test_finds_nothing_wrong_where_the_run_itself_does_well(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    objects = catalogue.set_objects(package, use_case)
    cluster = sound(new_cluster, objects)
    found = [str(each) for each in probe(cluster, objects) if each.severity != "passed" and each.about != OUTSIDE]
    if deploy.of_kind(objects, "Workflow"):  # which is to make the model that its servers wait for
        found = [each for each in found if not re.match("MODEL_BASE_PATH .*: is not there$", each)]
    assert found == []


def test_names_each_fault_of_images(shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES[MPI])
    cluster = sound(new_cluster, objects)
    launcher, worker = (spec["template"]["spec"] for spec in mpi_specs(objects))
    command, words = (launcher["containers"][0][field] for field in ("command", "args"))
    command[0], words[words.index("python3")] = "/opt/mpi/bin/mpirun", "python3.99"
    worker["containers"][0]["command"][0] = "/usr/local/sbin/sshd"
    launcher["containers"][0]["volumeMounts"] = without_names(launcher)
    config_map(objects)["MODEL_DIR"] = "/no/model"
    script = "/no/model/models/image_recognition/tensorflow/resnet50v1_5/training/mlperf_resnet/imagenet_main.py"
    assert faults(probe(cluster, objects, shell)) == [
        "error: /opt/mpi/bin/mpirun: the image has no such program",
        "error: python3.99: the image has no such program",
        f"error: {script}: there is no such file",
        "error: a name for the user, without which ssh refuses it: the image knows no name for the user of the run",
        "error: /usr/local/sbin/sshd: the image has no such program",
    ]


def test_names_faults_of_files_and_modules(shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES[ALONE])
    cluster = sound(new_cluster, objects)
    (container,) = pod_of(objects)["containers"]
    cluster.put("/opt/secret.py", b"").chmod(0o600)
    container["command"] = ["python3", "-u", "-m", "json.tool", "python3", "-m", "no.such", "python3", "/opt/secret.py"]
    assert faults(probe(cluster, objects, shell)) == [
        "error: module no.such of python3: the image has no such module",
        "error: /opt/secret.py: the user of the run may not read it",
    ]


Storage = Callable[[Path], object]


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda data: shutil.rmtree(data), "is not there"),
        (lambda data: (data / "a-file").unlink(), "is empty"),
        (lambda data: data.chmod(0o700), "the user of the run may not read it, or a folder above it"),
        (lambda data: data.parent.chmod(0o600), "the user of the run may not read it, or a folder above it"),
        (lambda data: (data / "a-file").chmod(0o600), "the user of the run may not read what is in it"),
    ],
    ids=["missing", "empty", "closed", "closed above", "files closed"],
)
def test_names_faults_of_data(spoil: Storage, expected: str, shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES[ALONE])
    cluster = sound(new_cluster, objects)
    cluster.applies_fs_group = False
    storage = storage_of(cluster, objects)
    storage.chmod(0o777)
    above = config_map(objects)["DATASET_DIR"] = "/data/above/set"
    (storage / "above").mkdir()
    (storage / "above/set").mkdir()
    (storage / "above/set/a-file").touch()
    spoil(storage / "above/set")
    assert faults(probe(cluster, objects, shell)) == [f"error: DATASET_DIR {above}: {expected}"]


def test_a_model_that_servers_wait_for_may_still_come(shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES["resnet50v1-5-fp32-inference-k8s/serving/user-allocated-pvc"])
    cluster = sound(new_cluster, objects)
    shutil.rmtree(storage_of(cluster, objects) / "models")
    assert faults(probe(cluster, objects, shell)) == ["warning: MODEL_BASE_PATH /data/models: is not there"]


def test_names_faults_of_storage_for_results(shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES[ALONE])
    cluster = sound(new_cluster, objects)
    cluster.applies_fs_group = False
    storage, output_dir = storage_of(cluster, objects), config_map(objects)["OUTPUT_DIR"]
    before = files(storage)

    def found() -> list[str]:
        said, about = faults(probe(cluster, objects, shell)), f"error: OUTPUT_DIR {output_dir}: "
        return [each.removeprefix(about) for each in said if each.startswith(about)]

    assert found() == ["the user of the run may not write there"]
    storage.chmod(0o777)
    assert found() == []
    assert files(storage) == before  # nothing is left
    user = storage / "nobody-here"
    user.touch()
    assert found() == ["a file is in the way of the folder"]
    for option, expected in (
        ("ro", "is on a file system that is read-only"),
        ("size=4k", "there is no space left, or a quota is used up"),
    ):
        subprocess.run([real.program("mount"), "-t", "tmpfs", "-o", f"mode=777,{option}", "tmpfs", storage], check=True)
        try:
            if option != "ro":
                (storage / "full").write_bytes(bytes(4096))
            assert found() == [expected]
        finally:
            subprocess.run([real.program("umount"), storage], check=True)


def test_names_what_is_not_resolved(shell: list[str], new_cluster: NewCluster) -> None:
    objects = catalogue.set_objects(*CASES["mnist-fp32-training-k8s/multi-node-job-set/user-allocated-pvc"])
    config_map(objects)["ENDPOINT"] = "http://user@data.example:9000/, https://10.0.0.5/"
    cluster = sound(new_cluster, objects)
    named = [f"error: {name}: the name is not resolved in a pod" for name in ("data.example", "kubernetes.default.svc")]
    assert faults(probe(cluster, objects, shell, services=[])) == named


def test_says_what_it_could_not_look_at() -> None:
    checks = [Check("program", "mpirun", "mpirun")] * 4
    ended = {"exitCode": 128, "reason": "StartError", "message": 'exec: "/bin/sh": no such file or directory'}
    (found,) = answers.read(checks, ended, "a:1")
    assert (found.severity, found.about) == ("unknown", "image a:1")
    assert '"/bin/sh": no such file' in found.message
    said = answers.read(checks, {"message": "0 found\n\x1b[31m1 found\n2 owned\n99 found\n-1 found\n3"}, "a:1")
    assert [each.severity for each in said] == ["passed", "passed", "unknown", "unknown", "unknown"]


def faults(found: list[Finding]) -> list[str]:
    return [f"{each.severity}: {each}" for each in found if each.severity != "passed"]


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def mpi_specs(objects: list[Object]) -> list[Object]:
    (job,) = deploy.of_kind(objects, "MPIJob")
    return [job["spec"]["mpiReplicaSpecs"][role] for role in ("Launcher", "Worker")]


def without_names(pod: Object) -> list[Object]:
    return [each for each in pod["containers"][0]["volumeMounts"] if each["name"] != "identity"]


def config_map(objects: list[Object]) -> Object:
    """Return the variables of the use case."""
    return next(item["data"] for item in deploy.of_kind(objects, "ConfigMap") if "HOME" in item["data"])


def pod_of(objects: list[Object]) -> Object:
    (found,) = [pod["spec"] for _, pod in as_pods(objects)]
    return found


def storage_of(cluster: Cluster, objects: list[Object]) -> Path:
    (found,) = [each for each in pod_of(objects)["volumes"] if volume.source(each) in volume.STORAGE]
    return cluster.storage(found)


def sound(new_cluster: NewCluster, objects: list[Object]) -> Cluster:
    """Return a node whose images and storage have all that the pods of some objects need."""
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    zoo.store_data(cluster, objects)
    if not deploy.of_kind(objects, "Workflow"):  # which is to make the model
        zoo.store_models(cluster, deploy.of_kind(objects, "Deployment", "LeaderWorkerSet"))
    for folder in (cluster.folder / "storage").glob("*/**/"):
        (folder / "a-file").write_text("data")
    cluster.install([pod for _, pod in as_pods(objects)])
    return cluster


def probe(
    cluster: Cluster, objects: list[Object], shell: list[str] | None = None, services: Sequence[Object] = (DNS,)
) -> list[Finding]:
    """Run the pods of a probe, and return what they found."""
    made = jobs.make(prepared(objects), "abcde", seconds=60)
    cluster.objects.apply([*made.objects, *services])
    found = []
    for job in deploy.of_kind(list(made.objects), "Job"):
        for container in job["spec"]["template"]["spec"]["containers"]:
            container["command"][:1] = shell or container["command"][:1]
        (pod,) = controllers.job(job)
        pod["metadata"]["namespace"] = "default"
        running = cluster.start(pod)
        assert running.wait() == 0, running.log
        for container in running.containers:
            checks = made.checks[job["metadata"]["name"], container.spec["name"]]
            found += answers.read(checks, {"message": container.log}, container.spec["image"])
    return list(dict.fromkeys(found))


def prepared(objects: list[Object]) -> Prepared:
    return Prepared(directory=Path(), objects=objects, draft=RunRecord(run="", number=1, when=""))
