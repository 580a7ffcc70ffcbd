"""The table of operators: what it says of versions and commands is what tests run and READMEs say."""

import pytest

from packyard.core.bundle.prerequisite import version_of
from packyard.core.kubernetes import operators, schemas
from packyard.core.kubernetes.operators import OPERATORS, Operator

#: What the modules are called of operators whose images are called otherwise.
MODULES = {
    "trainer-controller-manager": "trainer",
    "workflow-controller": "argo-workflows",
    "kuberay/operator": "kuberay",
}


@pytest.mark.parametrize("operator", [each for each in OPERATORS if each.definitions], ids=lambda each: each.image)
def test_an_operator_was_tried_up_to_the_newest_version_whose_definitions_judge_its_objects(operator: Operator) -> None:
    name = MODULES.get(operator.image, operator.image)
    versions = [judge.version for judge in schemas.operators() if judge.name == name]
    assert operator.newest == max(versions, key=version_of)


@pytest.mark.parametrize(
    ("tag", "version"),
    [("v0.8.0", (0, 8, 0)), ("0.8", (0, 8, 0)), ("v3.7.0-rc1", (3, 7, 0)), ("latest", None), ("", None), ("v1", None)],
)
def test_versions_are_read_from_tags(tag: str, version: tuple[int, ...] | None) -> None:
    assert version_of(tag) == version


def test_an_operator_is_found_by_its_image_wherever_that_comes_from() -> None:
    (mpi,) = (operator for operator in OPERATORS if operator.image == "mpi-operator")
    images = ["mirror.example:5000/a/mpi-operator:0.8.0@sha256:" + "0" * 64, "example/mpi-operator-exporter:1.0", ""]
    items = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"template": {"spec": {"containers": [{"image": name}]}}},
        }
        for name in images
    ]
    assert operators.find(mpi, items) == [(items[0], "0.8.0")]
