"""Fields that say what Kubernetes does anyway are hints for authors, not for users."""

from __future__ import annotations

import pytest

import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      x-k8s-cli: {setter: {name: A, value: "1"}}
"""
JOB = tiny.text("checks/job-with-defaults.yaml")


def judged(text: str, *, shipped: bool = True) -> list[int]:
    found = lint(PackageFiles(KRMFILE.encode(), {"a.yaml": text.encode()}), shipped=shipped)
    return [each.line for each in found if each.rule == "default-written-out"]


@pytest.mark.parametrize(
    "field",
    [
        "affinity: {}",
        "tolerations: []",
        'priorityClassName: ""',
        "schedulerName: default-scheduler",
        "activeDeadlineSeconds: 2147483647",
        "initContainers: []",
        "terminationGracePeriodSeconds: 30",
    ],
)
def test_finds_a_default_that_is_written_out(field: str) -> None:
    text = JOB.replace("      restartPolicy", f"      {field}\n      restartPolicy")
    assert judged(text) == [7]
    assert judged(text, shipped=False) == []


@pytest.mark.parametrize("field", ["schedulerName: mine", "activeDeadlineSeconds: 600", "affinity: {a: {}}"])
def test_other_values_are_no_defaults(field: str) -> None:
    assert judged(JOB.replace("      restartPolicy", f"      {field}\n      restartPolicy")) == []


def test_a_default_that_a_setter_changes_stays() -> None:
    text = JOB.replace("  template:", '  replicas: 1 # {"$openapi":"A"}\n  template:', 1)
    assert judged(text) == []
    assert judged(text.replace(' # {"$openapi":"A"}\n  template', "\n  template")) == [5]


def test_no_gpu_is_a_default_even_where_a_setter_changes_it() -> None:
    for comment in ("", ' # {"$openapi":"A"}'):
        assert judged(JOB.replace("            cpu", f"            nvidia.com/gpu: 0{comment}\n            cpu")) == [
            16
        ]


def test_a_request_as_large_as_the_limit_is_a_default() -> None:
    assert judged(JOB.replace("memory: 1Gi", "memory: 2Gi")) == [13]
    bound = JOB.replace("memory: 1Gi", 'cpu: "1" # {"$openapi":"A"}')
    assert judged(bound) == [13]
    assert judged(bound.replace('cpu: "1" # {"$openapi":"A"}', 'cpu: "1"', 1)) == []
