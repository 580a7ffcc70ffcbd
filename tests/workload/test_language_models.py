"""Servers of language models, as processes: a program takes vLLM's arguments, another one joins nodes as Ray does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import openaiserver
import real
from packyard.core.errors import InputError
from packyard.using.setters.change import change_setters
from served import Served
from usecases import PACKAGES, shipped
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.models import ADAPTER, MODEL
from workload.objects import Object
from workload.pod import Pod

PACKAGE = "llm-serving"
USE_CASES = {each.path: (item, each) for item in PACKAGES for each in item.use_cases if item.name == PACKAGE}
_HERE = Path(__file__).parent

NewCluster = Callable[[list[Object]], Cluster]


def furnished(new_cluster: NewCluster, objects: list[Object]) -> Cluster:
    cluster = new_cluster(objects)
    cluster.put("/usr/local/bin/vllm", b"#!/usr/bin/python3\n" + Path(openaiserver.__file__).read_bytes())
    ray = (_HERE / "ray_stand_in.py").read_bytes()
    for path in ("/usr/local/bin/ray", "/usr/lib/python3/dist-packages/ray/__init__.py"):
        cluster.put(path, ray)
    zoo.serve_hub(cluster)
    return cluster


def chosen(path: str, **values: object) -> list[Object]:
    package, use_case = USE_CASES[path]
    return catalogue.set_objects(package, use_case, **values)


def run(cluster: Cluster, objects: Sequence[Object]) -> list[Pod]:
    """Start all servers among some objects."""
    (server,) = deploy.of_kind(objects, "Deployment", "LeaderWorkerSet")
    if server["kind"] == "Deployment":
        described = controllers.deployment(server)
    else:
        service, described = controllers.leader_worker_set(server)
        cluster.objects.apply([service])
    return [cluster.start(pod) for pod in described]


def ask(cluster: Cluster, pod: Pod, path: str, *words: str) -> str:
    return cluster.run(str(real.program("curl")), "--silent", *words, f"http://{pod.address}:8000{path}")


def started(pod: Pod) -> list[str]:
    """Return the words that vLLM was started with."""
    return next(line for line in pod.log.splitlines() if line.startswith("vllm serve")).split()


def store(cluster: Cluster, objects: Sequence[Object], path: str = "/data/models/mine") -> None:
    (server,) = deploy.of_kind(objects, "Deployment", "LeaderWorkerSet")
    zoo.store_files(cluster, server, path, MODEL)


def test_a_server_answers_when_it_has_loaded_and_can_change_nothing_of_the_model(new_cluster: NewCluster) -> None:
    objects = chosen("one-node/user-allocated-pvc", MODEL_PATH="/models/mine", MODEL_NAME="mine", MAX_MODEL_LEN=4096)
    config_map(objects)["LOAD_SECONDS"] = "3"
    cluster = furnished(new_cluster, objects)
    store(cluster, objects)
    (server,) = run(cluster, objects)
    assert not cluster.probe(server)
    cluster.wait_ready(server)
    assert json.loads(ask(cluster, server, "/v1/models"))["data"] == [
        {"id": "mine", "object": "model", "max_model_len": 4096}
    ]
    question = {"model": "mine", "messages": [{"role": "user", "content": "Hello!"}]}
    answer = json.loads(ask(cluster, server, "/v1/chat/completions", "-d", json.dumps(question)))
    assert answer["choices"][0]["message"]["content"] == "Hello!"
    assert "vllm:num_requests_waiting" in ask(cluster, server, "/metrics")
    assert started(server) == [
        *("vllm", "serve", "/data/models/mine", "--port=8000", "--served-model-name=mine", "--max-model-len=4096"),
        *("--tensor-parallel-size=2", "--gpu-memory-utilization=0.9"),
    ]
    (container,) = server.described["spec"]["containers"]
    mounts = [each for each in container["volumeMounts"] if each["name"] == "storage"]
    assert mounts == [{"name": "storage", "mountPath": "/data", "readOnly": True}]


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_server_on_several_nodes_begins_when_all_its_pods_have_joined(new_cluster: NewCluster, replicas: int) -> None:
    objects = chosen("several-nodes/user-allocated-pvc", MODEL_PATH="/models/mine", NODES=3, REPLICAS=replicas)
    cluster = furnished(new_cluster, objects)
    store(cluster, objects)
    pods = run(cluster, objects)
    leaders = pods[::3]
    cluster.wait_ready(*leaders)
    for leader in leaders:
        words = started(leader)
        assert words[3:5] == ["--distributed-executor-backend=ray", "--pipeline-parallel-size=3"]
        assert "--tensor-parallel-size=2" in words
        assert json.loads(ask(cluster, leader, "/v1/models"))["data"][0]["id"] == "llm"
    assert [pod.log for pod in pods if pod.has_ended] == []


def test_workers_wait_for_a_leader_that_comes_later(new_cluster: NewCluster) -> None:
    objects = chosen("several-nodes/user-allocated-pvc", MODEL_PATH="/models/mine")
    cluster = furnished(new_cluster, objects)
    store(cluster, objects)
    (server,) = deploy.of_kind(objects, "LeaderWorkerSet")
    service, (leader, worker) = controllers.leader_worker_set(server)
    cluster.objects.apply([service])
    waiting = cluster.start(worker)
    leading = cluster.start(leader)
    cluster.wait_ready(leading)
    assert not waiting.has_ended


def test_a_model_that_was_staged_is_served(new_cluster: NewCluster) -> None:
    staging, serving = chosen("staging/user-allocated-pvc"), chosen("one-node/user-allocated-pvc")
    cluster = furnished(new_cluster, [*staging, *serving])
    (job,) = deploy.of_kind(staging, "Job")
    (copying,) = deploy.run_pods(cluster, job)
    assert copying.wait() == 0, copying.log
    (server,) = run(cluster, serving)
    cluster.wait_ready(server)
    assert "/data/models/qwen3-0.6b" in started(server)


@pytest.mark.parametrize("path", ["one-node/user-allocated-pvc", "several-nodes/user-allocated-pvc"])
def test_an_adapter_is_served_beside_its_model(new_cluster: NewCluster, served5: Served, path: str) -> None:
    objects = catalogue.with_option(served5, *USE_CASES[path], "adapter")
    cluster = furnished(new_cluster, objects)
    store(cluster, objects, "/data/models/qwen3-0.6b")
    (item,) = deploy.of_kind(objects, "Deployment", "LeaderWorkerSet")
    zoo.store_files(cluster, item, "/data/adapters/tuned", ADAPTER)
    server = run(cluster, objects)[0]
    cluster.wait_ready(server)
    models = json.loads(ask(cluster, server, "/v1/models"))["data"]
    assert [each["id"] for each in models] == ["llm", "tuned"]


@pytest.mark.parametrize("path", ["one-node/user-allocated-pvc", "several-nodes/user-allocated-pvc"])
def test_a_key_is_asked_for_and_probes_need_none(new_cluster: NewCluster, served5: Served, path: str) -> None:
    objects = catalogue.with_option(served5, *USE_CASES[path], "api-key")
    cluster = furnished(new_cluster, objects)
    store(cluster, objects, "/data/models/qwen3-0.6b")
    server = run(cluster, objects)[0]
    cluster.wait_ready(server)
    assert ask(cluster, server, "/v1/models").startswith('{"error": "Unauthorized"}')
    assert '"llm"' in ask(cluster, server, "/v1/models", "-H", "Authorization: Bearer key")


@pytest.mark.parametrize("size", ["3", "5", "32"])
def test_gpus_that_cannot_be_shared_are_named_before_anything_runs(tmp_path: Path, size: str) -> None:
    directory = shipped(*USE_CASES["several-nodes/user-allocated-pvc"])
    directory.set(directory.examples).write(tmp_path, {})
    with pytest.raises(InputError, match=r"TENSOR_PARALLEL_SIZE must divide NODES \* GPUS; set it to GPUS"):
        change_setters(tmp_path / "use-case", {"TENSOR_PARALLEL_SIZE": [size]})


def config_map(objects: Sequence[Object]) -> Object:
    data: Object = next(item["data"] for item in deploy.of_kind(objects, "ConfigMap") if "MODEL_PATH" in item["data"])
    return data
