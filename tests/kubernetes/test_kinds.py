"""Kinds by their API group: a Service of another group is no Service, nor is any other kind that is named alike."""

from __future__ import annotations

import pytest

from packyard.checks.lint import lint
from packyard.kubernetes.kinds import is_kind
from packyard.setters.packagefiles import PackageFiles
from packyard.yaml.document import parse_one
from packyard.yaml.node import MappingNode


def rules(*documents: str) -> set[str]:
    package = PackageFiles(
        b"kind: Krmfile\n", {f"{number}.yaml": text.encode() for number, text in enumerate(documents)}
    )
    return {finding.rule for finding in lint(package, shipped=False)}


def test_a_kind_is_that_of_its_group_in_any_version() -> None:
    def root(version: str) -> MappingNode:
        found = parse_one(f"apiVersion: {version}\nkind: Job\n".encode(), "f.yaml").root
        assert isinstance(found, MappingNode)
        return found

    assert is_kind(root("batch/v1"), "batch", "CronJob", "Job")
    assert is_kind(root("batch/v1beta1"), "batch", "Job")
    assert not is_kind(root("batch.volcano.sh/v1alpha1"), "batch", "Job")
    assert not is_kind(root("v1"), "batch", "Job")


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


def test_a_reference_is_met_by_an_object_of_its_group_alone() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {serviceAccountName: run, containers: [{name: c}]}\n"
    account = "apiVersion: VERSION\nkind: ServiceAccount\nmetadata: {name: run}\n"
    assert "dangling-reference" not in rules(pod, account.replace("VERSION", "v1"))
    assert "dangling-reference" in rules(pod, account.replace("VERSION", "iam.example.com/v1"))


@pytest.mark.parametrize("kind", ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"])
def test_the_name_of_a_role_may_have_colons(kind: str) -> None:
    text = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: NAME}}\n"
    assert "no-name" not in rules(text.replace("NAME", "system:Auth_reader"))
    assert "no-name" in rules(text.replace("NAME", "a/b"))
    assert "no-name" in rules(text.replace("NAME", "'..'"))


ENV = """\
apiVersion: v1
kind: Pod
metadata: {{name: x}}
spec: {{containers: [{{name: c, env: [{{name: {}, value: '{}'}}]}}]}}
"""


@pytest.mark.parametrize("name", ["GOOGLE_APPLICATION_CREDENTIALS", "DB_PASSWORD", "API_TOKEN", "SSH_PRIVATE_KEY"])
@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("/run/key.json", False), ("/", False), ("file:///run/key", False), ("file:key", False), ("$(KEY)", False),
        ("", False), ("hunter2", True), ("run/key.json", True), ("a /run/key", True), ("/run/key and more", True),
        ("https://e.com/x", True), ("true", False), ("No", False), ("1234", True),
    ],
)  # fmt: skip
def test_where_a_secret_is_is_no_secret(name: str, value: str, secret: bool) -> None:
    assert ("plain-secret" in rules(ENV.format(name, value))) is secret
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata: {{{name}: '{value}'}}\n"
    assert ("plain-secret" in rules(config)) is secret
