"""llm-serving's pods with vLLM itself, on processors: they start, answer, ask for a key, take an adapter, and end.

Two servers run, each for several tests, as one takes a minute to start.
"""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from models import named, serving
from models.nightly.test_finetune import PROVERBS, loaded, trained
from models.serving import answer, ask
from real import Kustomize
from workload import catalogue
from workload.environment import Object
from workload.machine import Machine, Pod

FACTS = Path(__file__).parents[1] / "facts"
MODEL = "/data/models/tiny"
ON_CPU = serving.USE_CASES["on-cpu/user-allocated-pvc"]
_VALUES = {"MODEL_PATH": "/models/tiny", "CPUS": 2}

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("namespaces")]

Running = tuple[Machine, Pod]


def with_options(kustomize: Kustomize, *options: str) -> list[Object]:
    return catalogue.with_options(kustomize, catalogue.set_directory(*ON_CPU, **_VALUES), options)


def started(folder: Path, objects: list[Object], python: Path, files: dict[str, Path]) -> Iterator[Running]:
    with Machine(folder / "cluster", objects) as cluster:
        cluster.replace("vllm", python, "-m", "vllm.entrypoints.cli.main")
        pod = serving.start(cluster, objects, files)
        cluster.wait_ready(pod)
        yield cluster, pod


@pytest.fixture(scope="module")
def plain(
    vllm: Path, model: Path, adapter: Path, kustomize5: Kustomize, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server for processors, with an adapter."""
    folder = tmp_path_factory.mktemp("plain")
    yield from started(
        folder, with_options(kustomize5, "adapter"), vllm, {MODEL: model, "/data/adapters/tuned": adapter}
    )


@pytest.fixture(scope="module")
def name(plain: Running) -> str:
    """What requests call the model."""
    return str(answer(*plain, "/v1/models")["data"][0]["id"])


def test_it_is_ready_and_answers(plain: Running, name: str) -> None:
    question = {"model": name, "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 5}
    choices = answer(*plain, "/v1/chat/completions", question)["choices"]
    assert [choice["message"]["role"] for choice in choices] == ["assistant"]
    assert answer(*plain, "/v1/models")["data"][0]["max_model_len"] == 4096


def test_paths_that_packages_name_are_routes(plain: Running) -> None:
    status, text = ask(*plain, "/openapi.json")
    routes = [*json.loads(text)["paths"], "/metrics"] if status == 200 else serving.logged_routes(plain[1])
    assert [
        path for path in named.paths() if not any(f"{route}/".startswith(path.rstrip("/") + "/") for route in routes)
    ] == []


def test_metrics_that_packages_name_are_there(plain: Running, name: str) -> None:
    answer(*plain, "/v1/completions", {"model": name, "prompt": "The quick", "max_tokens": 2})
    _, text = ask(*plain, "/metrics")
    there = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    there |= {each.removesuffix("_total") for each in there}
    assert [metric for metric in named.metrics() if metric.removesuffix("_total") not in there] == []


def test_adapters_are_served_beside_their_model_and_one_is_loaded_while_it_runs(plain: Running, adapter: Path) -> None:
    assert [each["id"] for each in answer(*plain, "/v1/models")["data"]][1:] == ["tuned"]
    serving.store(plain[0], plain[1].described, "/data/adapters/other", adapter)
    question = {"lora_name": "other", "lora_path": "/data/adapters/other"}
    assert ask(*plain, "/v1/load_lora_adapter", question)[0] == 200
    for model in ("tuned", "other"):
        question = {"model": model, "prompt": "The quick", "max_tokens": 3, "ignore_eos": True}
        assert answer(*plain, "/v1/completions", question)["usage"]["completion_tokens"] == 3


def test_what_llm_finetune_learned_is_what_the_server_answers(
    plain: Running, model: Path, trainer: Path, tmp_path: Path
) -> None:
    """The adapter that llm-finetune's program leaves for the model, loaded while the server runs."""
    with loaded(tmp_path, trainer) as tuning:
        trained(tuning, tmp_path, MODEL_PATH=model, LORA_RANK=16, TRAIN_EPOCHS=60, CHECKPOINT_STEPS=1000)
    serving.store(plain[0], plain[1].described, "/data/adapters/proverbs", tmp_path / "output/adapter")
    question = {"lora_name": "proverbs", "lora_path": "/data/adapters/proverbs"}
    assert ask(*plain, "/v1/load_lora_adapter", question)[0] == 200
    for beginning, end in list(PROVERBS.items())[:3]:
        messages = [{"role": "user", "content": beginning}]
        question = {"model": "proverbs", "messages": messages, "max_tokens": 40, "temperature": 0}
        said = answer(*plain, "/v1/chat/completions", question)["choices"][0]["message"]["content"]
        print(f"{beginning!r}: {said!r}")
        assert said == end


def test_a_request_that_runs_when_the_pod_is_to_end_is_answered(plain: Running, name: str) -> None:
    """The last of this server: nothing asks it again."""
    cluster, pod = plain
    question = {"model": name, "prompt": "The quick", "max_tokens": 3000, "ignore_eos": True}
    answered: list[tuple[int, str]] = []
    asking = threading.Thread(target=lambda: answered.append(ask(cluster, pod, "/v1/completions", question)))
    asking.start()
    while "num_requests_running" not in (text := ask(cluster, pod, "/metrics")[1]) or not running(text):
        assert asking.is_alive(), answered
    pod.containers[0].terminate()
    assert pod.wait() in (0, 143), pod.log
    asking.join()
    ((status, body),) = answered
    assert status == 200, pod.log
    assert json.loads(body)["usage"]["completion_tokens"] == 3000


def running(metrics: str) -> float:
    lines = [line for line in metrics.splitlines() if line.startswith("vllm:num_requests_running")]
    return sum(float(line.split()[-1]) for line in lines)


@pytest.fixture(scope="module")
def guarded(
    vllm: Path, model: Path, kustomize5: Kustomize, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server that asks for a key."""
    yield from started(tmp_path_factory.mktemp("guarded"), with_options(kustomize5, "api-key"), vllm, {MODEL: model})


def test_a_key_is_asked_for_below_v1_and_probes_need_none(guarded: Running) -> None:
    assert ask(*guarded, "/v1/models")[0] == 401
    assert ask(*guarded, "/health")[0] == ask(*guarded, "/metrics")[0] == 200
    answer(*guarded, "/v1/models", key="key")


def test_no_route_answers_with_the_model_to_those_without_a_key(guarded: Running) -> None:
    (listed,) = answer(*guarded, "/v1/models", key="key")["data"]
    question = {"model": listed["id"], "prompt": "The quick", "input": "The quick", "max_tokens": 1}
    routes = json.loads((FACTS / "vllm.json").read_text())["routes"]
    asked = {path: ask(*guarded, path, question)[0] for path in routes if "{" not in path}
    assert {path for path, status in asked.items() if status < 400} <= {"/health", "/metrics"}
