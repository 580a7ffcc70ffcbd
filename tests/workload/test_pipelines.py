"""Pipelines of the catalogue run as processes, a step after the other, and what they leave to the servers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import real
from catalogue.usecases import PACKAGES
from real import Served
from workload import catalogue, deploy, zoo
from workload.cluster import Cluster
from workload.controllers import NODE_NAME
from workload.nightly.test_use_cases import (
    READ_ONLY,
    has_no_privilege,
    has_the_environment,
    is_as_its_pod_says,
    is_the_user,
    seen_from_here,
)
from workload.objects import Object
from workload.pod import Pod

WIDE_DEEP = "wide-deep-large-ds-fp32-training-k8s"
RFCN = "rfcn-fp32-inference-k8s"
USE_CASES = {f"{item.name}/{each.path}": (item, each) for item in PACKAGES for each in item.use_cases}
STORAGES = ("user-allocated-pvc", "user-mounted-nfs")

NewCluster = Callable[[list[Object]], Cluster]

each_storage = pytest.mark.parametrize("storage", STORAGES)


def set_objects(name: str, **values: object) -> list[Object]:
    return catalogue.set_objects(*USE_CASES[name], **values)


def furnished(
    new_cluster: NewCluster, objects: list[Object], data: Mapping[str, str], volume_name: str = "storage"
) -> tuple[Cluster, Path]:
    """Return a cluster one of whose volumes, or its directory for input data, holds that, and the volume."""
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    (workflow,) = deploy.of_kind(objects, "Workflow")
    (volume,) = [each for each in workflow["spec"]["volumes"] if each["name"] == volume_name]
    storage = cluster.storage(volume)
    for path, text in data.items():
        file = storage / ("datasets" if volume_name == "storage" else "") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return cluster, storage


def run(cluster: Cluster, objects: list[Object]) -> list[Pod]:
    """Run the Workflow among the objects, and return its pods in the order of their start."""
    (workflow,) = deploy.of_kind(objects, "Workflow")
    return deploy.run_workflow(cluster, workflow)


def knows_its_pod(record: dict[str, Any], pod: Pod, cluster: Cluster) -> None:
    is_the_user(record)
    has_no_privilege(record)
    has_the_environment(record, pod, cluster)


def ends(pods: list[Pod]) -> list[tuple[str, int]]:
    """Return the step that each pod is, and the exit code that it ended with."""
    return [(step(pod), pod.wait()) for pod in pods]


def step(pod: Pod) -> str:
    """Return the step of a pipeline that a pod is a try of."""
    return str(pod.described["metadata"]["annotations"][NODE_NAME].partition(".")[2].partition("(")[0])


@each_storage
def test_trains_until_the_accuracy_is_reached_and_then_serves_the_last_model(
    storage: str, new_cluster: NewCluster
) -> None:
    objects = set_objects(f"{WIDE_DEEP}/pipeline/{storage}", TARGET_ACCURACY=0.73, REPLICAS=2)
    cluster, folder = furnished(new_cluster, objects, {"train.csv": "1\n", "eval.csv": "0\n"})
    pods = run(cluster, objects)
    assert ends(pods) == [("train", 1), ("train", 1), ("train", 0), ("publish", 0)]
    for pod in pods[:3]:
        (record,) = pod.records
        is_as_its_pod_says(record, pod, cluster)
        assert record["environment"]["BATCH_SIZE"] == "512"
    (served,) = folder.rglob("served")
    assert {file.relative_to(served).as_posix(): file.read_text() for file in served.rglob("*") if file.is_file()} == {
        "1700000003/saved_model.pb": "3\n",
        "1700000003/variables/variables.index": "3\n",
    }
    (deployment,) = deploy.of_kind(objects, "Deployment")
    servers = deploy.run_pods(cluster, deployment)
    cluster.wait_ready(*servers)
    assert len(servers) == 2
    for server in servers:
        (record,) = server.records
        knows_its_pod(record, server, cluster)
        name, path = "wide-deep-large-ds-fp32-training", record["environment"]["MODEL_BASE_PATH"]
        assert record["argv"][1:] == [
            "--port=8500",
            "--rest_api_port=8501",
            f"--model_name={name}",
            f"--model_base_path={path}",
        ]
        assert seen_from_here(server, path) == served
        assert record["writable"][path] == READ_ONLY


def test_publishes_nothing_where_no_try_reaches_the_accuracy(new_cluster: NewCluster) -> None:
    objects = set_objects(f"{WIDE_DEEP}/pipeline/user-mounted-nfs", TARGET_ACCURACY=0.9, RETRY_LIMIT=1)
    cluster, folder = furnished(new_cluster, objects, {"train.csv": "1\n"})
    assert ends(run(cluster, objects)) == [("train", 1), ("train", 1)]
    assert [*folder.rglob("saved_model.pb")]
    assert not [*folder.rglob("served")]


COCO = {"val2017/1.jpg": "", "val2017/2.jpg": "", "annotations/instances_val2017.json": "{}"}


@each_storage
@pytest.mark.parametrize("written_to", ["$DATASET_DIR", "$OUTPUT_DIR"])
def test_measures_the_accuracy_on_the_records_that_the_zoo_makes_of_the_images(
    storage: str, written_to: str, new_cluster: NewCluster
) -> None:
    """Whether its script writes them to DATASET_DIR, as since 2.7.0, or to OUTPUT_DIR, and as often as it is run."""
    objects = set_objects(f"{RFCN}/pipeline/{storage}")
    cluster, folder = furnished(new_cluster, objects, COCO)
    cluster.put(zoo.PREPROCESSING, zoo.preprocessing(written_to))
    for _ in range(2):
        pods = run(cluster, objects)
        assert ends(pods) == [("preprocess", 0), ("test", 0)]
        assert "graph\n1.jpg\n2.jpg\ncode\n" in pods[1].log
        for pod in pods:
            (record,) = pod.records
            knows_its_pod(record, pod, cluster)
        assert pods[1].records[0]["argv"][1:] == ["--noinstall"]
    (records,) = folder.rglob("records")
    assert records.parent.name == "output"
    assert sorted(file.name for file in records.iterdir()) == ["annotations", "coco_val.record", "val2017"]


def test_measures_the_accuracy_where_everything_is_elsewhere(new_cluster: NewCluster) -> None:
    places = {"PREPROCESS_DIR": "/opt/coco", "PREPROCESS_SCRIPT": "make.sh", "MODEL_DIR": "/opt/rfcn"}
    places |= {"MODEL_SCRIPT": "measure.sh", "DATASET_DIR": "/datasets/of/mine", "OUTPUT_DIR": "results/final"}
    names = {"PVC_PATH": "/mnt/disk", "MODEL_NAME": "mine", "RUN_NAME": "second", "CPUS": "3"}
    objects = set_objects(f"{RFCN}/pipeline/user-allocated-pvc", **places, **names)
    cluster, folder = furnished(new_cluster, objects, {f"of/mine/{path}": text for path, text in COCO.items()})
    zoo.furnish_rfcn(cluster, "/opt/coco/scripts/make.sh", "/opt/rfcn", "measure.sh")
    pods = run(cluster, objects)
    assert ends(pods) == [("preprocess", 0), ("test", 0)]
    assert "graph\n1.jpg\n2.jpg\ncode\n" in pods[1].log
    assert pods[1].records[0]["environment"]["TF_NUM_INTRAOP_THREADS"] == "3"
    assert (folder / "nobody-here/mine/second/results/final/records/coco_val.record").is_file()


@pytest.mark.parametrize("option", ["dataset-claim", "dataset-host-path"])
def test_links_images_that_an_option_brings(option: str, served5: Served, new_cluster: NewCluster) -> None:
    objects = catalogue.with_option(served5, *USE_CASES[f"{RFCN}/pipeline/user-allocated-pvc"], option)
    cluster, _ = furnished(new_cluster, objects, COCO, volume_name="dataset")
    pods = run(cluster, objects)
    assert ends(pods) == [("preprocess", 0), ("test", 0)]
    assert "graph\n1.jpg\n2.jpg\ncode\n" in pods[1].log


def test_the_zoo_makes_no_records_where_images_are_not_linked_to_them(new_cluster: NewCluster) -> None:
    """VAL_IMAGE_DIR says where the images are, and its script overwrites it."""
    objects = set_objects(f"{RFCN}/pipeline/user-mounted-nfs")
    (workflow,) = deploy.of_kind(objects, "Workflow")
    (template,) = [each for each in workflow["spec"]["templates"] if each["name"] == "preprocess"]
    template["initContainers"][0]["command"] = ["mkdir", "-p", "$(OUTPUT_DIR)/records"]
    template["container"]["env"].append({"name": "VAL_IMAGE_DIR", "value": "/data/datasets/val2017"})
    cluster, _ = furnished(new_cluster, objects, COCO)
    pods = run(cluster, objects)
    assert ends(pods) == [("preprocess", 1)] * 3
    assert "records/val2017 does not exist" in pods[0].log


@each_storage
def test_the_benchmark_finds_the_model_that_was_unpacked_and_images(storage: str, new_cluster: NewCluster) -> None:
    objects = set_objects(f"{RFCN}/benchmark/{storage}", CPUS=3, PRETRAINED_MODEL_DIR="model", BENCHMARK_STEPS=20)
    cluster = new_cluster(objects)
    zoo.furnish(cluster)
    (job,) = deploy.of_kind(objects, "Job")
    (pod,) = deploy.run_pods(cluster, job)
    assert pod.wait() == 0, pod.log
    (record,) = pod.records
    words = dict(word.split("=", 1) for word in record["argv"] if "=" in word)
    graph = seen_from_here(pod, words["--in-graph"])
    assert graph.read_text() == "graph\n"
    assert graph.parts[-4:-2] == ("output", "model")
    assert words["--data-location"] == f"{record['environment']['DATASET_DIR']}/val2017"
    assert (words["--num-intra-threads"], words["number_of_steps"]) == ("3", "20")


# The script that gives a model to the servers, and the words that wait for it, by themselves.


PUBLISH = real.REPOSITORY / "bases/train-and-serve/publish.sh"


def publish(output_dir: Path) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PATH": real.path_with("find"), "OUTPUT_DIR": str(output_dir)}
    return subprocess.run(["sh", "-eu", PUBLISH], env=variables, capture_output=True, text=True)


def export(folder: Path, text: str, age: int = 0) -> None:
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_text(text)
    os.utime(folder / "saved_model.pb", (time.time() - age,) * 2)


def test_publishes_the_newest_model_once_and_keeps_the_versions_before(tmp_path: Path) -> None:
    output_dir, served = tmp_path / "output", tmp_path / "output" / "served"
    export(output_dir / "a" / "1700000005", "old", age=60)
    export(output_dir / "b" / "1700000001", "new")
    for _ in range(2):
        assert publish(output_dir).returncode == 0
        assert {file.parent.name: file.read_text() for file in served.rglob("*.pb")} == {"1700000001": "new"}
    export(output_dir / "b" / "best", "best", age=-60)
    assert publish(output_dir).returncode == 0
    models = {int(file.parent.name): file.read_text() for file in served.rglob("*.pb")}
    assert models[max(models)] == "best"
    assert len(models) == 2
    assert sorted(path.name for path in served.iterdir()) == sorted(map(str, models))


def test_finishes_what_a_publisher_left_half_done(tmp_path: Path) -> None:
    output_dir, served = tmp_path / "output", tmp_path / "output" / "served"
    export(output_dir / "1700000001", "new")
    export(served / "incoming" / "half", "half")
    assert publish(output_dir).returncode == 0
    assert [file.relative_to(served).as_posix() for file in served.rglob("*.pb")] == ["1700000001/saved_model.pb"]


def test_publishes_what_was_exported_though_somebody_put_a_newer_model_beside_it(tmp_path: Path) -> None:
    output_dir, served = tmp_path / "output", tmp_path / "output" / "served"
    export(output_dir / "1700000001", "exported")
    export(served / "7", "by hand", age=-60)
    assert publish(output_dir).returncode == 0
    assert {file.parent.name: file.read_text() for file in served.rglob("*.pb")} == {
        "1700000001": "exported",
        "7": "by hand",
    }


def test_refuses_to_publish_where_nothing_was_exported(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    done = publish(tmp_path / "output")
    assert done.returncode == 1
    assert "the training exported no model" in done.stderr
    assert not (tmp_path / "output" / "served").exists()


def waiting(served: Path) -> subprocess.Popen[bytes]:
    (deployment,) = deploy.of_kind(set_objects(f"{WIDE_DEEP}/pipeline/user-mounted-nfs"), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["initContainers"]
    variables = {**os.environ, "MODEL_BASE_PATH": str(served)}
    return subprocess.Popen(container["command"], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_a_server_waits_until_there_is_a_version(tmp_path: Path) -> None:
    export(tmp_path / "incoming", "half")
    with waiting(tmp_path) as process:
        assert process.stdout is not None
        assert b"No such file" in process.stdout.readline()
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    export(tmp_path / "1", "model")
    with waiting(tmp_path) as process:
        assert process.wait() == 0
