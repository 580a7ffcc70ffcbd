"""Every rule of the catalogue's parts: values that it refuses, values that it admits, and a message of use."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import real
from catalogue.usecases import USE_CASES, composed
from packyard.core.yaml.node import Source
from packyard.using.setters.check import breaches
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import parse_krmfile
from packyard.using.setters.rules.rule import Rule, read

#: By the text of each rule: values that break it, and values that keep it; all others are as shipped, or examples.
TRIED = {
    "PARALLEL_TRIALS <= TRIALS": ({"TRIALS": "1"}, {"TRIALS": "1", "PARALLEL_TRIALS": "1"}),
    "size(MODEL_NAME) <= 24": ({"MODEL_NAME": "a" * 25}, {"MODEL_NAME": "a" * 24}),
    "TF_SERVING_PORT != 8500": ({"TF_SERVING_PORT": "8500"}, {"TF_SERVING_PORT": "8502"}),
    "MODEL_PORT != TF_SERVING_PORT": ({"MODEL_PORT": "8501"}, {"MODEL_PORT": "8501", "TF_SERVING_PORT": "8500"}),
    "WORKERS * GPUS % 8 == 0 || 8 % (WORKERS * GPUS) == 0": (
        {"WORKERS": "3", "GPUS": "1"},
        {"WORKERS": "3", "GPUS": "8"},
    ),
    "int(IMAGES_PER_EPOCH) >= WORKERS * GPUS": (
        {"IMAGES_PER_EPOCH": "31", "WORKERS": "4", "GPUS": "8"},
        {"IMAGES_PER_EPOCH": "32", "WORKERS": "4", "GPUS": "8"},
    ),
    "NODES * GPUS % TENSOR_PARALLEL_SIZE == 0": (
        {"NODES": "3", "GPUS": "8", "TENSOR_PARALLEL_SIZE": "16"},
        {"NODES": "2", "GPUS": "8", "TENSOR_PARALLEL_SIZE": "16"},
    ),
    'quantity(MEMORY) > quantity("4Gi")': ({"MEMORY": "4Gi"}, {"MEMORY": "5Gi"}),
    'quantity(MEMORY) > quantity("8Gi")': ({"MEMORY": "8192Mi"}, {"MEMORY": "9Gi"}),
    "MAX_SURGE + MAX_UNAVAILABLE > 0": ({"MAX_UNAVAILABLE": "0"}, {"MAX_UNAVAILABLE": "0", "MAX_SURGE": "1"}),
    "DATA_TRAIN != DATA_VAL": ({"DATA_TRAIN": "all", "DATA_VAL": "all"}, {"DATA_TRAIN": "all", "DATA_VAL": "some"}),
}
KRMFILES = [
    real.REPOSITORY / "Krmfile",
    *(
        file
        for folder in ("bases", "overlays", "packages")
        for file in sorted((real.REPOSITORY / folder).rglob("Krmfile"))
    ),
]
RULES = [
    pytest.param(file, rule, id=f"{file.parent.name}: {rule.text}")
    for file in KRMFILES
    for rule in read(parse_krmfile(Source(str(file), file.read_text())).root)
]
each_rule = pytest.mark.parametrize(("file", "rule"), RULES)


@each_rule
def test_a_rule_refuses_what_breaks_it_and_admits_what_keeps_it(file: Path, rule: Rule) -> None:
    breaking, keeping = TRIED[rule.text]
    setters = setters_of(file, rule)
    problem = rule.broken(given(setters, breaking))
    assert problem, f"{breaking} keep {rule.text}"
    assert problem.message == rule.message.removesuffix(".")
    assert rule.holds(given(setters, keeping)) is True


def setters_of(file: Path, rule: Rule) -> Mapping[str, Setter]:
    """Return the setters of the first use case that has the rule."""
    for package, use_case in USE_CASES:
        made = composed(package, use_case)
        if rule.text in (each.text for each in made.rules):
            return made.definitions.setters
    raise AssertionError(f"no use case has the rule of {file}")


def given(setters: Mapping[str, Setter], values: Mapping[str, str]) -> dict[str, Setter]:
    """Return setters with values that their definitions admit, and with examples where they are required."""
    wrong = [fault for name, text in values.items() for fault in breaches(setters[name], [text])]
    assert not wrong, "the definition refuses it already, the rule has no say"
    examples = {name: setter.example or "" for name, setter in setters.items() if setter.must_be_set}
    return {**setters, **{name: setters[name]._replace(value=text) for name, text in {**examples, **values}.items()}}
