"""What packages name of vLLM, TRL and PEFT, against facts about these programs as they are today, which are kept here.

`make update-models` renews the facts, `make test-models` judges by the programs themselves.
"""

from __future__ import annotations

import json
from pathlib import Path

from models import named

FACTS = Path(__file__).parent / "facts"
VLLM, TRL = (json.loads((FACTS / f"{name}.json").read_text()) for name in ("vllm", "trl"))


def unknown(names: dict[str, str], known: list[str]) -> list[str]:
    return [f"{name}, in {where}" for name, where in names.items() if name not in known]


def begins_route(path: str) -> bool:
    """Say whether a path is that of a route, or what several routes begin with."""
    return any(route == path or route.startswith(f"{path.rstrip('/')}/") for route in VLLM["routes"])


def test_arguments_are_those_of_vllm() -> None:
    names = named.arguments()
    assert len(names) > 5
    assert unknown(names, VLLM["arguments"]) == []


def test_variables_are_those_of_vllm() -> None:
    names = named.variables()
    assert "VLLM_NO_USAGE_STATS" in names
    assert unknown(names, VLLM["variables"]) == []


def test_metrics_are_those_of_vllm() -> None:
    names = named.metrics()
    assert "vllm:num_requests_waiting" in names
    assert unknown(names, VLLM["metrics"]) == []


def test_paths_are_those_of_vllm() -> None:
    names = named.paths()
    assert "/health" in names
    assert [f"{path}, in {where}" for path, where in names.items() if not begins_route(path)] == []


def test_arguments_of_trainers_are_those_of_trl_and_peft() -> None:
    names = list(named.keywords())
    assert {name for name, _ in names} >= {"LoraConfig"}
    assert [f"{name}({word}=)" for name, word in names if word not in TRL["classes"][name]] == []
