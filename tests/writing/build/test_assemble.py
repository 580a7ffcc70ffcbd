"""The catalogue's packages are read by people: how long they are, how much they ask, and how they say it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import real
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.files.tree import Tree
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import read_krmfile
from packyard.writing.build.assemble import assemble
from packyard.writing.checks import folder
from packyard.writing.checks.exception import MARK
from packyard.writing.source import workspace
from packyard.writing.source.package import Package
from usecases import PACKAGES, composed_package, each_package, package_files

pytestmark = pytest.mark.xdist_group("assembled")

#: The packages of the model zoo and of language models, whose users know fewer parameters.
FEW = re.compile("resnet|bert|wide-deep|rfcn|llm")
_BESIDE = ("LICENSE", "packyard.json")


@cache
def assembled(name: str) -> Bundle:
    return assemble(workspace.read(real.REPOSITORY), name, "1.0.0")


@pytest.mark.nightly
@each_package
def test_files_have_no_comments_for_lint_and_packyard_json_has_them(package: Package, tmp_path: Path) -> None:
    bundle = assembled(package.name)
    assert [str(each) for each in folder.lint(Tree(bundle.unpack(tmp_path)), judges=()).findings] == []
    assert [item.path for item in bundle.members if MARK in item.data] == []
    composed = {path: data for path, data in composed_package(package).files.items() if MARK in data}
    described = Manifest.parse(next(item.data for item in bundle.members if item.path == "packyard.json"))
    assert {f"quickstart/mlops/{path}" for path in composed} == {*described.exceptions}


@each_package
def test_a_use_case_has_few_parameters_and_asks_for_what_nobody_can_guess(package: Package) -> None:
    for path, found in setters(package).items():
        assert len(found) <= (24 if FEW.match(package.name) else 30), path
        required = {name for name, setter in found.items() if setter.required}
        of_nfs = {"NFS_SERVER", "NFS_PATH", "USER_ID", "GROUP_ID"}
        assert required in (of_nfs, of_nfs - {"USER_ID", "GROUP_ID"}) if required & of_nfs else len(required) <= 3, path


@each_package
def test_a_word_is_said_in_one_line_and_an_example_stands_where_one_is_needed(package: Package) -> None:
    for path, found in setters(package).items():
        for name, setter in found.items():
            assert setter.description, f"{path}: {name}"
            assert len(setter.description) <= 70, f"{path}: {name}"
            assert bool(setter.example) == setter.required, f"{path}: {name}"


def test_one_word_has_one_sentence_in_all_packages() -> None:
    """But those of Mask R-CNN, whose workers run one process for each GPU and no threads that follow their CPUs."""
    said: dict[str, set[str]] = {}
    for package in PACKAGES:
        for found in setters(package).values():
            for name, setter in found.items():
                said.setdefault(name, set()).add(setter.description)
    assert {name for name, texts in said.items() if len(texts) > 1} == {"WORKERS", "CPUS"}


def setters(package: Package) -> dict[str, dict[str, Setter]]:
    """Return the setters of each directory, by their names."""
    made = composed_package(package)
    files = {item.use_case.path: package_files(item.files) for item in made.use_cases}
    files["options"] = package_files(made.options.files)
    return {path: dict(read_krmfile(each).definitions.setters) for path, each in files.items()}


@pytest.mark.parametrize("gone", ["TRAIN_STEP", "EPOCHS", "STEPS", "RETRY_LIMIT", "BACKOFF_LIMIT"])
def test_a_name_means_the_same_everywhere(gone: str) -> None:
    """One of TRAIN_EPOCHS and EPOCHS, of TRAIN_STEPS and STEPS, but where a reference system had the other name."""
    kept = {
        "EPOCHS": {"image-classification-fp32-training-k8s"},
        "RETRY_LIMIT": {"wide-deep-large-ds-fp32-training-k8s"},
    }
    having = {package.name for package in PACKAGES if any(gone in found for found in setters(package).values())}
    assert having == kept.get(gone, set())
