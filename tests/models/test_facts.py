"""What packages name of vLLM and TRL, against facts about these programs as they are today, which are kept here.

`make update-models` renews the facts, `make test-models` judges by the programs themselves.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from models import named

FACTS = Path(__file__).parent / "facts"
#: How many minor versions an image may be behind the facts.
_BEHIND = 2
VLLM, TRL = (json.loads((FACTS / f"{name}.json").read_text()) for name in ("vllm", "trl"))


def unknown(names: dict[str, str], known: list[str]) -> list[str]:
    return [f"{name}, in {where}" for name, where in names.items() if name not in known]


def begins_route(path: str) -> bool:
    """Say whether a path is that of a route, or what several routes begin with."""
    return any(route == path or route.startswith(f"{path.rstrip('/')}/") for route in VLLM["routes"])


@pytest.mark.parametrize(
    ("kind", "example"),
    [("arguments", "--max-model-len"), ("variables", "VLLM_NO_USAGE_STATS"), ("metrics", "vllm:num_requests_waiting")],
)
def test_names_are_those_of_vllm(kind: str, example: str) -> None:
    names = getattr(named, kind)()
    assert example in names
    assert unknown(names, VLLM[kind]) == []


def test_paths_are_those_of_vllm() -> None:
    names = named.paths()
    assert "/health" in names
    assert [f"{path}, in {where}" for path, where in names.items() if not begins_route(path)] == []


@pytest.mark.parametrize("method", ["SFT", "DPO"])
def test_arguments_of_trainers_are_those_of_trl(method: str) -> None:
    classes, names = TRL["classes"], list(named.keywords())
    assert {("Trainer", "args"), ("Config", "report_to"), ("Config", "lora_r")} <= {*names}
    known = {"Trainer": classes[f"{method}Trainer"], "Config": classes[f"{method}Config"] + classes["ModelConfig"]}
    assert [word for kind, word in names if word not in known[kind]] == []


@pytest.mark.parametrize(("package", "image", "facts"), [("llm-serving", "vllm", VLLM), ("llm-finetune", "trl", TRL)])
def test_images_are_of_today(package: str, image: str, facts: dict[str, Any]) -> None:
    """Old servers have holes that are known, and take other arguments."""
    of_today = [int(number) for number in facts["version"].split(".")[:2]]
    found = named.find(re.compile(rf"[\w.-]+/[\w./-]*\b{image}(-[\w-]+)?:[\w.-]+"), package)
    assert found
    for each, where in found.items():
        version = re.search(r":v?(\d+)\.(\d+)", each)
        assert version, f"{each} of {where} names no version"
        assert int(version[1]) == of_today[0], f"{each} of {where}: {image} is {facts['version']} now"
        behind = of_today[1] - int(version[2])
        assert behind <= _BEHIND, f"{each} of {where} is {behind} minor versions behind {facts['version']}"
