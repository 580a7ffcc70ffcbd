"""Every rule of the catalogue's parts: values that it refuses, values that it admits, and a message of use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import real
from packyard.setters.definition import Setter
from packyard.setters.krmfile import parse_krmfile
from packyard.setters.rules.rule import Rule, read
from packyard.setters.value import faults
from packyard.source import compose, kustomization, workspace
from packyard.source import package as packages
from packyard.text.node import Source

#: By the text of each rule: values that break it, and values that keep it; all others are as shipped, or examples.
TRIED = {
    "quantity(CPU_REQUEST) <= quantity(CPU_LIMIT)": ({"CPU_REQUEST": "200"}, {"CPU_REQUEST": "1500m"}),
    "quantity(MEMORY_REQUEST) <= quantity(MEMORY_LIMIT)": ({"MEMORY_REQUEST": "2Ti"}, {"MEMORY_REQUEST": "512Mi"}),
    "quantity(SHM_SIZE) <= quantity(MEMORY_LIMIT)": ({"SHM_SIZE": "2Ti"}, {"SHM_SIZE": "64Mi"}),
    "quantity(SHM_SIZE) <= quantity(PS_MEMORY)": ({"SHM_SIZE": "6Gi"}, {"SHM_SIZE": "6Gi", "PS_MEMORY": "6Gi"}),
    "!(HOME_DIR in [DATASET_DIR, '/tmp', '/dev/shm'])": ({"HOME_DIR": "/datasets"}, {"HOME_DIR": "/home/alice"}),
    "!(PVC_PATH in [HOME_DIR, '/tmp', '/dev/shm'])": ({"PVC_PATH": "/dev/shm"}, {"PVC_PATH": "/mnt/claim"}),
    "!(NFS_MOUNT_PATH in [HOME_DIR, '/tmp', '/dev/shm'])": ({"NFS_MOUNT_PATH": "/tmp"}, {"NFS_MOUNT_PATH": "/mnt"}),
    "PVC_PATH != DATASET_DIR": ({"PVC_PATH": "/datasets"}, {"PVC_PATH": "/datasets", "DATASET_DIR": "/data"}),
    "!(SCRATCH_PATH in [HOME_DIR, '/tmp', '/dev/shm'])": ({"SCRATCH_PATH": "/tmp"}, {"SCRATCH_PATH": "/tmp/scratch"}),
    "SCRATCH_PATH != DATASET_DIR": ({"SCRATCH_PATH": "/datasets"}, {"SCRATCH_PATH": "/datasets/scratch"}),
    "NFS_MOUNT_PATH != DATASET_DIR": ({"DATASET_DIR": "/nfs"}, {"DATASET_DIR": "/nfs/data"}),
    "!(MODEL_BASE_PATH in [HOME_DIR, '/tmp', '/dev/shm'])": (
        {"MODEL_BASE_PATH": "/home/user"},
        {"MODEL_BASE_PATH": "/home/user/models"},
    ),
    "MODEL_BASE_PATH.startsWith('$(OUTPUT_DIR)') || MODEL_BASE_PATH.startsWith(PVC_PATH + '/')": (
        {"MODEL_BASE_PATH": "/pvcs/models"},
        {"MODEL_BASE_PATH": "/mnt/models", "PVC_PATH": "/mnt"},
    ),
    "MODEL_BASE_PATH.startsWith('$(OUTPUT_DIR)') || MODEL_BASE_PATH.startsWith(NFS_MOUNT_PATH + '/')": (
        {"MODEL_BASE_PATH": "/models"},
        {"MODEL_BASE_PATH": "/nfs/models"},
    ),
    "MODEL_PORT != TF_SERVING_PORT": ({"MODEL_PORT": "8501"}, {"MODEL_PORT": "8501", "TF_SERVING_PORT": "8500"}),
    "S3_USE_HTTPS == 1 || has(S3_ENDPOINT)": (
        {"S3_USE_HTTPS": "0"},
        {"S3_USE_HTTPS": "0", "S3_ENDPOINT": "minio.example.com:9000"},
    ),
    "PARALLEL_TRIALS <= TRIALS": ({"TRIALS": "1"}, {"TRIALS": "1", "PARALLEL_TRIALS": "1"}),
    "EPOCHS_BETWEEN_EVALS <= TRAIN_EPOCHS": ({"EPOCHS_BETWEEN_EVALS": "2"}, {"TRAIN_EPOCHS": "2"}),
    "double(LEARNING_RATE) > 0.0": ({"LEARNING_RATE": "0.0"}, {"LEARNING_RATE": "1e-8"}),
    "double(BASE_LR) > 0.0": ({"BASE_LR": "0"}, {"BASE_LR": "0.0001"}),
    "GPUS > 0": ({"GPUS": "0"}, {"GPUS": "1"}),
    "IMAGES_PER_EPOCH >= WORKERS * GPUS * BATCH_SIZE_PER_GPU": (
        {"IMAGES_PER_EPOCH": "127", "WORKERS": "4", "GPUS": "8", "BATCH_SIZE_PER_GPU": "4"},
        {"IMAGES_PER_EPOCH": "128", "WORKERS": "4", "GPUS": "8", "BATCH_SIZE_PER_GPU": "4"},
    ),
    "TTL_SECONDS >= 3600": ({"TTL_SECONDS": "3599"}, {"TTL_SECONDS": "3600"}),
    "size(MODEL_NAME) <= 24": ({"MODEL_NAME": "a" * 25}, {"MODEL_NAME": "a" * 24}),
    "DATA_TRAIN != DATA_VAL": ({"DATA_TRAIN": "all", "DATA_VAL": "all"}, {"DATA_TRAIN": "all", "DATA_VAL": "some"}),
    "STEPS_PER_EPOCH > 0 || BATCH_SIZE * WORKERS * (GPUS > 0 ? GPUS : 1) <= 60000": (
        {"BATCH_SIZE": "10000", "GPUS": "4"},
        {"BATCH_SIZE": "10000", "GPUS": "4", "STEPS_PER_EPOCH": "1"},
    ),
}  # fmt: skip
CATALOGUE = workspace.read(real.REPOSITORY)
RULES = [
    pytest.param(file, rule, id=f"{file.parent.name}: {rule.text}")
    for folder in ("bases", "overlays", "packages")
    for file in sorted((real.REPOSITORY / folder).rglob("Krmfile"))
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
    """Return the setters of the first use case, with its options, that has the rule."""
    for package in (packages.read(CATALOGUE, name) for name in CATALOGUE.package_names()):
        for use_case in package.use_cases:
            parts = [str(CATALOGUE.root_dir / "overlays" / name / "Krmfile") for name in use_case.options]
            own = [name for name, _ in kustomization.read(CATALOGUE, package, use_case).krmfiles()]
            if str(file) not in (*own, *parts):
                continue
            composed = compose.compose(CATALOGUE, package, use_case)
            for setters in ({}, *(option.setters for option in composed.options)):
                known = {**setters, **composed.definitions.setters}
                if set(rule.names) <= set(known):
                    return known
    raise AssertionError(f"no use case has all of {', '.join(rule.names)}")


def given(setters: Mapping[str, Setter], values: Mapping[str, str]) -> dict[str, Setter]:
    """Return setters with values that their definitions admit, and with examples where they are required."""
    wrong = [fault for name, text in values.items() for fault in faults(setters[name], [text])]
    assert not wrong, "the definition refuses it already, the rule has no say"
    examples = {name: setter.example or "" for name, setter in setters.items() if setter.must_be_set}
    return {**setters, **{name: setters[name].replaced(value=text) for name, text in {**examples, **values}.items()}}


@each_rule
def test_a_message_names_what_to_change(file: Path, rule: Rule) -> None:
    named = set(re.findall(r"\w+", rule.message))
    assert named & set(rule.names), f"{file}: {rule.message}"


def test_no_values_are_tried_for_rules_that_are_gone() -> None:
    assert set(TRIED) == set(texts())


def texts() -> Iterator[str]:
    for param in RULES:
        _, rule = param.values
        assert isinstance(rule, Rule)
        yield rule.text


DIGEST = f"@sha256:{'0' * 64}"
IMAGES = [
    pytest.param(setter, id=f"{file.parent.name}-{name}")
    for file in sorted(real.REPOSITORY.glob("*/*/Krmfile"))
    for name, setter in parse_krmfile(Source(str(file), file.read_text("utf-8"))).definitions.setters.items()
    if name.endswith("_IMAGE")
]


@pytest.mark.parametrize("setter", IMAGES)
def test_an_image_that_is_one_parameter_has_a_tag_or_a_digest(setter: Setter) -> None:
    ends = ("", ":1.0", DIGEST, f":1.0{DIGEST}", "@sha256:0", f"{DIGEST}:1.0")
    admitted = [end for end in ends if not faults(setter, [f"registry.example.com:5000/team/training{end}"])]
    assert admitted == [":1.0", DIGEST, f":1.0{DIGEST}"]
