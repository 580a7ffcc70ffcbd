"""Servers of language models, as processes: a program takes vLLM's arguments, and joins nodes as vLLM does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import real
from catalogue.usecases import PACKAGES, shipped
from packyard.core.errors import InputError
from packyard.using.setters.change import change_setters
from readmes import openaiserver
from real import Served
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.models import ADAPTER, MODEL
from workload.objects import Object
from workload.pod import Pod

PACKAGE = "llm-serving"
USE_CASES = {each.path: (item, each) for item in PACKAGES for each in item.use_cases if item.name == PACKAGE}

NewCluster = Callable[[list[Object]], Cluster]


def furnished(new_cluster: NewCluster, objects: list[Object]) -> Cluster:
    cluster = new_cluster(objects)
    cluster.put("/usr/local/bin/vllm", b"#!/usr/bin/python3\n" + Path(openaiserver.__file__).read_bytes())
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
    values = {"MODEL_PATH": "/models/mine", "SERVED_MODEL_NAME": "Team/Mine-8B", "MAX_MODEL_LEN": 4096}
    objects = chosen("one-node/user-allocated-pvc", **values)
    config_map(objects)["LOAD_UNTIL"] = "/data/loaded"
    cluster = furnished(new_cluster, objects)
    store(cluster, objects)
    (server,) = run(cluster, objects)
    assert not cluster.probe(server)
    zoo.store_files(cluster, *deploy.of_kind(objects, "Deployment"), "/data", {"loaded": b""})
    cluster.wait_ready(server)
    assert json.loads(ask(cluster, server, "/v1/models"))["data"] == [
        {"id": "Team/Mine-8B", "object": "model", "max_model_len": 4096}
    ]
    question = {"model": "Team/Mine-8B", "messages": [{"role": "user", "content": "Hello!"}]}
    answer = json.loads(ask(cluster, server, "/v1/chat/completions", "-d", json.dumps(question)))
    assert answer["choices"][0]["message"]["content"] == "Hello!"
    assert "vllm:num_requests_waiting" in ask(cluster, server, "/metrics")
    assert started(server) == [
        *("vllm", "serve", "/data/models/mine", "--port=8000", "--served-model-name=Team/Mine-8B"),
        *("--max-model-len=4096", "--tensor-parallel-size=2", "--gpu-memory-utilization=0.9", "--shutdown-timeout=300"),
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
        assert words[3] == "--pipeline-parallel-size=3"
        assert {"--tensor-parallel-size=2", "--nnodes=3", "--node-rank=0"} < {*words}
        assert json.loads(ask(cluster, leader, "/v1/models"))["data"][0]["id"] == "Qwen/Qwen3-0.6B"
    ranks = [[word for word in started(pod) if "rank" in word] for pod in pods[:3]]
    assert ranks == [["--node-rank=0"], ["--node-rank=1"], ["--node-rank=2"]]
    assert ["--headless" in started(pod) for pod in pods[:3]] == [False, True, True]
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


def test_a_worker_that_is_to_end_computes_until_its_leader_has_ended(new_cluster: NewCluster) -> None:
    objects = chosen("several-nodes/user-allocated-pvc", MODEL_PATH="/models/mine")
    cluster = furnished(new_cluster, objects)
    store(cluster, objects)
    leader, worker = run(cluster, objects)
    cluster.wait_ready(leader)
    (container,) = worker.described["spec"]["containers"]
    hook = container["lifecycle"]["preStop"]["exec"]["command"]
    path = f"PATH={real.program('curl').parent}:/usr/bin:/bin"
    words = ("sh", "-c", 'timeout 3 "$@"; echo $?', "hook", "env", path, f"LWS_LEADER_ADDRESS={leader.address}", *hook)
    assert cluster.run(*words) == "124\n"  # it goes on
    leader.kill()
    assert cluster.run(*words) == "0\n"


@pytest.mark.parametrize("path", ["one-node/user-allocated-pvc", "several-nodes/user-allocated-pvc"])
def test_a_server_has_longer_to_end_than_its_requests(path: str) -> None:
    (server,) = deploy.of_kind(chosen(path), "Deployment", "LeaderWorkerSet")
    pods = (
        controllers.deployment(server) if server["kind"] == "Deployment" else controllers.leader_worker_set(server)[1]
    )
    (container,) = pods[0]["spec"]["containers"]
    before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    (drain,) = [int(word.partition("=")[2]) for word in container["args"] if word.startswith("--shutdown-timeout")]
    assert [pod["spec"]["terminationGracePeriodSeconds"] > before + drain for pod in pods] == [True] * len(pods)


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
    assert [each["id"] for each in models] == ["Qwen/Qwen3-0.6B", "tuned"]


@pytest.mark.parametrize("path", ["one-node/user-allocated-pvc", "several-nodes/user-allocated-pvc"])
def test_a_key_is_asked_for_and_probes_need_none(new_cluster: NewCluster, served5: Served, path: str) -> None:
    objects = catalogue.with_option(served5, *USE_CASES[path], "api-key")
    cluster = furnished(new_cluster, objects)
    store(cluster, objects, "/data/models/qwen3-0.6b")
    server = run(cluster, objects)[0]
    cluster.wait_ready(server)
    assert ask(cluster, server, "/v1/models").startswith('{"error": "Unauthorized"}')
    assert '"Qwen/Qwen3-0.6B"' in ask(cluster, server, "/v1/models", "-H", "Authorization: Bearer key")


@pytest.mark.parametrize(
    ("path", "pods"),
    [
        ("one-node/user-allocated-pvc", ("llm-one-node-pvc-7d4b9c6f58-x2x9z", "llm-one-node-pvc-2-7d4b9c6f58-x2x9z")),
        ("several-nodes/user-allocated-pvc", ("llm-several-nodes-pvc-0", "llm-several-nodes-pvc-2-0")),
    ],
)
def test_requests_that_wait_for_another_run_or_in_another_namespace_start_no_server(
    path: str, pods: tuple[str, str]
) -> None:
    directory = shipped(*USE_CASES[path])
    beside = directory.set({**directory.examples, "NAMESPACE": "team-a"}).beside()
    (scaler,) = [item for item in beside if item["kind"] == "ScaledObject"]
    query = scaler["spec"]["triggers"][0]["metadata"]["query"]
    found = re.fullmatch(r'sum\(vllm:num_requests_waiting\{namespace="team-a",pod=~"(.+)"\}\)', query)
    assert found
    assert [bool(re.fullmatch(found[1], pod)) for pod in pods] == [True, False]
    behavior = scaler["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    (other,) = [item for item in beside if item["kind"] == "HorizontalPodAutoscaler"]
    assert behavior == other["spec"]["behavior"]


@pytest.mark.parametrize("size", ["3", "5", "32"])
def test_gpus_that_cannot_be_shared_are_named_before_anything_runs(tmp_path: Path, size: str) -> None:
    directory = shipped(*USE_CASES["several-nodes/user-allocated-pvc"])
    directory.set(directory.examples).write(tmp_path, {})
    with pytest.raises(InputError, match=r"TENSOR_PARALLEL_SIZE must divide NODES \* GPUS; set it to GPUS"):
        change_setters(tmp_path / "use-case", {"TENSOR_PARALLEL_SIZE": [size]})


def config_map(objects: Sequence[Object]) -> Object:
    data: Object = next(item["data"] for item in deploy.of_kind(objects, "ConfigMap") if "MODEL_PATH" in item["data"])
    return data
