"""The table of operators: what it says of versions and commands is what tests run and READMEs say."""

from __future__ import annotations

import pytest

import real
from packyard.core.bundle.bundle import Bundle
from packyard.core.kubernetes import operators, schemas
from packyard.core.kubernetes.operators import OPERATORS, Operator
from packyard.writing.build.assemble import assemble
from packyard.writing.source import workspace

CATALOGUE = workspace.read(real.REPOSITORY)
#: Packages that need all that is tested.
NAMES = ("llm-finetune", "llm-serving", "mask-rcnn-fp32-training-k8s", "rfcn-fp32-inference-k8s")
#: What the modules are called of operators whose images are called otherwise.
MODULES = {"trainer-controller-manager": "trainer", "workflow-controller": "argo-workflows"}
TESTED = [each for each in OPERATORS if each.tested]


@pytest.fixture(scope="module")
def bundles() -> list[Bundle]:
    return [assemble(CATALOGUE, name, "1.0.0") for name in NAMES]


@pytest.mark.parametrize("operator", TESTED, ids=lambda each: each.image)
def test_readmes_ask_for_the_same_versions_and_install_by_the_same_commands(
    operator: Operator, bundles: list[Bundle]
) -> None:
    found = [each for each in bundles if operator in operators.needed(required(each))]
    assert found
    for each in found:
        text = next(member.data for member in each.members if member.path == "README.md").decode()
        assert f"- {operator.name} {operator.oldest} or later (tried up to {operator.newest}):\n" in text
        assert all(f"  `{command}`" in text for command in operator.install)


@pytest.mark.parametrize("operator", [each for each in OPERATORS if each.definitions], ids=lambda each: each.image)
def test_an_operator_was_tried_up_to_the_newest_version_whose_definitions_judge_its_objects(operator: Operator) -> None:
    name = MODULES.get(operator.image, operator.image)
    versions = [judge.version for judge in schemas.operators() if judge.name == name]
    assert operator.newest == max(versions, key=operators.version_of)


def required(bundle: Bundle) -> list[str]:
    return [each for use_case in bundle.manifest.use_cases.values() for each in use_case.requires]


@pytest.mark.parametrize(
    ("tag", "version"),
    [("v0.8.0", (0, 8, 0)), ("0.8", (0, 8, 0)), ("v3.7.0-rc1", (3, 7, 0)), ("latest", None), ("", None), ("v1", None)],
)
def test_versions_are_read_from_tags(tag: str, version: tuple[int, ...] | None) -> None:
    assert operators.version_of(tag) == version


def test_an_operator_is_found_by_its_image_wherever_that_comes_from() -> None:
    (mpi,) = (each for each in OPERATORS if each.image == "mpi-operator")
    images = ["mirror.example:5000/a/mpi-operator:0.8.0@sha256:" + "0" * 64, "example/mpi-operator-exporter:1.0", ""]
    items = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"template": {"spec": {"containers": [{"image": name}]}}},
        }
        for name in images
    ]
    assert operators.find(mpi, items) == [operators.RunningOperator(items[0], "0.8.0")]
