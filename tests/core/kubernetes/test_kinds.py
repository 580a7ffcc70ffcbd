"""Kinds by their API group: a Service of another group is no Service, nor is any other kind that is named alike."""

from pathlib import Path

import pytest

from packyard.core.files.tree import Tree
from packyard.core.yaml.document import parse_one
from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.kustomize.builtin import build
from packyard.using.setters.packages import PackageFiles
from real import Kustomize
from writing.checks.linting import lint


def rules(*documents: str) -> set[str]:
    package = PackageFiles(
        b"kind: Krmfile\n", {f"{number}.yaml": text.encode() for number, text in enumerate(documents)}
    )
    return {finding.rule for finding in lint(package, shipped=False)}


@pytest.mark.parametrize(
    ("value", "is_local"),
    [
        *((value, True) for value in ('"true"', '"yes"', '""', '"False"')),
        *((value, False) for value in ('"false"', None)),
    ],
)
def test_an_object_is_left_out_where_kustomize_leaves_it_out(
    kustomize5: Kustomize, tmp_path: Path, value: str | None, is_local: bool
) -> None:
    annotation = "" if value is None else f", annotations: {{config.kubernetes.io/local-config: {value}}}"
    text = f"apiVersion: v1\nkind: X\nmetadata: {{name: x{annotation}}}\n"
    (tmp_path / "x.yaml").write_text(text)
    (tmp_path / "y.yaml").write_text("apiVersion: v1\nkind: Y\nmetadata: {name: y}\n")
    (tmp_path / "kustomization.yaml").write_text("resources: [x.yaml, y.yaml]\n")
    root = parse_one(text.encode(), "x.yaml").root
    assert isinstance(root, MappingNode)
    assert ("kind: X" not in kustomize5.done("build", tmp_path)) is is_local
    assert (b"kind: X" not in build(Tree(tmp_path))) is is_local
    assert SourceObject(root, "x").is_local is is_local


LONG = f"metadata: {{name: {'a' * 60}}}\nspec: {{}}\n"
#: What a rule finds in a kind of its group, and does not in one of another.
FOUND = [
    ("v1", "Service", "serviceusage.cnrm.cloud.google.com/v1beta1", "metadata: {name: a.b.com}\n", "no-name"),
    ("v1", "Namespace", "k8s.example.com/v1", "metadata: {name: a.b}\n", "no-name"),
    ("batch/v1", "CronJob", "batch.volcano.sh/v1alpha1", LONG, "name-too-long"),
    ("kubeflow.org/v2beta1", "MPIJob", "example.com/v1", LONG, "name-too-long"),
    ("v1", "Secret", "external.example.com/v1", "metadata: {name: x}\nstringData: {a: b}\n", "plain-secret"),
    ("v1", "ConfigMap", "example.com/v1", "metadata: {name: x}\ndata: {DB_PASSWORD: abc}\n", "plain-secret"),
    ("v1", "Pod", "example.com/v1", "metadata: {name: x}\nspec: {containers: [{name: c}]}\n", "bare-pod"),
    ("v1", "Service", "serving.knative.dev/v1", "metadata: {name: x}\nspec: {selector: {a: b}}\n", "selects-nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "kind", "other", "rest", "rule"), FOUND, ids=lambda value: value[:30])
def test_a_rule_of_a_kind_looks_at_the_group_too(own: str, kind: str, other: str, rest: str, rule: str) -> None:
    assert rule in rules(f"apiVersion: {own}\nkind: {kind}\n{rest}")
    assert rule not in rules(f"apiVersion: {other}\nkind: {kind}\n{rest}")
