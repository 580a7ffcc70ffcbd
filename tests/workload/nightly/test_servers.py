"""Servers and what looks at results, as processes. In place of vLLM a program takes its arguments, and joins nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

import real
from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from real import Kustomize
from workload import catalogue, controllers, zoo
from workload.controllers import of_kind
from workload.environment import Object
from workload.machine import Machine, Pod
from workload.nightly.test_use_cases import cases

NewMachine = Callable[[Sequence[Object]], Machine]

ONE_NODE, SEVERAL_NODES = (
    f"llm-serving/{path}-node{s}/user-allocated-pvc" for path, s in (("one", ""), ("several", "s"))
)
MODEL = "/data/models/mine"


def run(new_machine: NewMachine, objects: list[Object]) -> tuple[Machine, list[Pod]]:
    """Start all servers among some objects, whose storage has the model."""
    added, workloads = controllers.pods_of(objects)
    machine = new_machine([*objects, *added])
    described = [pod for pods in workloads for pod in pods]
    zoo.store_inputs(machine, described)
    return machine, [machine.start(pod) for pod in described]


def ask(machine: Machine, pod: Pod, path: str, *words: str) -> str:
    return machine.run(str(real.program("curl")), "--silent", *words, f"http://{pod.address}:8000{path}")


def models(machine: Machine, pod: Pod, *words: str) -> list[str]:
    return [each["id"] for each in json.loads(ask(machine, pod, "/v1/models", *words))["data"]]


def words_of(pod: Pod) -> list[str]:
    """Return the words that vLLM was started with."""
    return next(line for line in pod.log.splitlines() if line.startswith("vllm serve")).split()


def chosen(name: str, **values: object) -> list[Object]:
    return catalogue.set_objects(*catalogue.USE_CASES[name], **values)


def test_a_server_answers_when_it_has_loaded_and_can_change_nothing_of_the_model(new_machine: NewMachine) -> None:
    values = {"MODEL_PATH": "/models/mine", "SERVED_MODEL_NAME": "Team/Mine-8B", "MAX_MODEL_LEN": 4096}
    objects = chosen(ONE_NODE, **values)
    variables = next(item["data"] for item in of_kind(objects, "ConfigMap") if "MODEL_PATH" in item["data"])
    variables["LOAD_UNTIL"] = "/data/loaded"
    machine, (server,) = run(new_machine, objects)
    assert not machine.probe(server)
    zoo.store(machine, server.described, "/data", {"loaded": b""})
    machine.wait_ready(server)
    assert models(machine, server) == ["Team/Mine-8B"]
    question = {"model": "Team/Mine-8B", "messages": [{"role": "user", "content": "Hello!"}]}
    answer = json.loads(ask(machine, server, "/v1/chat/completions", "-d", json.dumps(question)))
    assert answer["choices"][0]["message"]["content"] == "Hello!"
    assert "vllm:num_requests_waiting" in ask(machine, server, "/metrics")
    assert words_of(server) == [
        *("vllm", "serve", MODEL, "--port=8000", "--served-model-name=Team/Mine-8B", "--max-model-len=4096"),
        *("--tensor-parallel-size=2", "--gpu-memory-utilization=0.9", "--shutdown-timeout=300"),
    ]
    (container,) = server.described["spec"]["containers"]
    assert {"name": "storage", "mountPath": "/data", "readOnly": True} in container["volumeMounts"]
    before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert server.described["spec"]["terminationGracePeriodSeconds"] > before + 300  # --shutdown-timeout


def test_a_server_on_several_nodes_begins_when_all_its_pods_have_joined(new_machine: NewMachine) -> None:
    machine, pods = run(new_machine, chosen(SEVERAL_NODES, NODES=3, REPLICAS=2))
    machine.wait_ready(pods[0], pods[3])
    assert [models(machine, pods[0]), models(machine, pods[3])] == [["Qwen/Qwen3-0.6B"]] * 2
    for rank, pod in enumerate(pods[:3]):
        assert {"--pipeline-parallel-size=3", "--nnodes=3", f"--node-rank={rank}"} <= {*words_of(pod)}
        assert ("--headless" in words_of(pod)) == bool(rank)
    assert [pod.log for pod in pods if pod.has_ended] == []


def test_a_worker_that_is_to_end_computes_until_its_leader_has_ended(new_machine: NewMachine) -> None:
    machine, (leader, worker) = run(new_machine, chosen(SEVERAL_NODES))
    machine.wait_ready(leader)
    (container,) = worker.described["spec"]["containers"]
    hook = container["lifecycle"]["preStop"]["exec"]["command"]
    path = f"PATH={real.program('curl').parent}:/usr/bin:/bin"
    words = ("sh", "-c", 'timeout 3 "$@"; echo $?', "hook", "env", path, f"LWS_LEADER_ADDRESS={leader.address}", *hook)
    assert machine.run(*words) == "124\n"  # it goes on
    leader.kill()
    assert machine.run(*words) == "0\n"


def test_a_model_that_was_staged_is_served(new_machine: NewMachine) -> None:
    staging, serving = chosen("llm-serving/staging/user-allocated-pvc"), chosen(ONE_NODE)
    machine = new_machine([*staging, *serving])
    zoo.serve_hub(machine)
    (copying,) = [machine.start(pod) for item in of_kind(staging, "Job") for pod in controllers.job(item)]
    assert copying.wait() == 0, copying.log
    (server,) = [machine.start(pod) for item in of_kind(serving, "Deployment") for pod in controllers.deployment(item)]
    machine.wait_ready(server)
    assert "/data/models/qwen3-0.6b" in words_of(server)


@pytest.mark.parametrize("name", [ONE_NODE, SEVERAL_NODES])
def test_an_adapter_is_served_beside_its_model_for_those_who_have_the_key(
    name: str, new_machine: NewMachine, kustomize5: Kustomize
) -> None:
    directory = catalogue.set_directory(*catalogue.USE_CASES[name])
    objects = catalogue.with_options(kustomize5, directory, ["adapter", "api-key"])
    machine, (server, *_) = run(new_machine, objects)
    machine.wait_ready(server)
    assert ask(machine, server, "/v1/models").startswith('{"error": "Unauthorized"}')
    assert models(machine, server, "-H", "Authorization: Bearer key") == ["Qwen/Qwen3-0.6B", "tuned"]


@cases((item, each) for item in PACKAGES for each in item.use_cases if each.base == "notebook")
def test_a_notebook_copies_those_of_its_image_once_and_shows_them_beside_the_results(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    objects = catalogue.set_objects(package, use_case)
    machine = new_machine(objects)
    machine.put("/notebooks/view.ipynb", b"as shipped")
    (described,) = controllers.pods_of(objects)[1][0]
    machine.image.install([described], objects)
    for content in (b"as shipped", b"changed"):
        pod = machine.start(described)
        machine.wait_ready(pod)
        copied = pod.here(pod.records()[0]["environment"]["LOGDIR"]) / "notebooks/view.ipynb"
        assert (copied.read_bytes(), copied.stat().st_uid) == (content, catalogue.USER)
        copied.write_bytes(b"changed")
    assert "--ServerApp.root_dir=$(LOGDIR)" in described["spec"]["containers"][0]["command"]


@cases((item, each) for item in PACKAGES for each in item.use_cases if each.base == "inspector")
def test_a_shell_beside_the_results_finds_the_runs_of_its_user(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    objects = catalogue.set_objects(package, use_case)
    ((described,),) = controllers.pods_of(objects)[1]
    described["spec"]["containers"][0]["command"] = ["sh", "-c", "cd $RUNS_DIR; ls; touch note && rm note"]
    machine = new_machine(objects)
    for training in [each for each in package.use_cases if each.storage == use_case.storage]:
        for name in ("one", "two"):
            made = of_kind(catalogue.set_objects(package, training, RUN_NAME=name), "ConfigMap")
            for path in [item["data"]["OUTPUT_DIR"] for item in made if "OUTPUT_DIR" in item.get("data", {})]:
                zoo.store(machine, described, path, {})
    pod = machine.start(described)
    assert pod.wait() == 0, pod.log
    assert {"one", "two"} <= {*pod.containers[0].log.split()}
