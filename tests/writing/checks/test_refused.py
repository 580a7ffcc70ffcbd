"""Kustomizations with one mistake, and beside each the same one without it: what lint and the real kustomize say."""

from pathlib import Path

import pytest

from real import Kustomize
from tiny import write_all
from writing.checks.linting import lint, package

POD = "spec: {containers: [{name: main, image: 'tools:1', env: [{name: A, value: b}]}]}"
BASE = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, labels: {{app: web}}}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, {POD}}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{selector: {{app: web}}, ports: [{{port: 80}}]}}
"""
FILES = {
    "base/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: settings, literals: [A=1]}]\n",
    "base/web.yaml": BASE,
}
TARGET, FIELD = "entry-without-target", "unknown-kustomize-field"


def patch(text: str, target: str = "name: web") -> str:
    return f"patches:\n- target: {{kind: Deployment, {target}}}\n  patch: |-\n    {text}\n"


def operation(word: str, path: str, target: str = "name: web") -> str:
    return patch(f"- {{op: {word}, path: {path}, value: b}}", target)


DELETED = "{$patch: delete, apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}"
#: The rest of a kustomization, wrong and right, the rule, and whether kustomize fails with the first.
CASES = [
    ("label: [{pairs: {a: b}}]\n", "labels: [{pairs: {a: b}}]\n", FIELD, True),
    (operation("add", "spec/a"), operation("add", "/spec/a"), TARGET, False),
    ("namePrefix: a-\n" + operation("add", "/a", "name: a-web"), operation("add", "/a"), TARGET, False),
    (operation("update", "/a"), operation("add", "/a"), TARGET, True),
    (operation("replace", "/metadata/a/b"), operation("replace", "/metadata/a"), TARGET, True),
    (operation("add", "/spec/no/a"), operation("add", "/spec/a"), TARGET, True),
    (operation("add", "/a", "labelSelector: app=wed"), operation("add", "/a", "labelSelector: app=web"), TARGET, False),
    (operation("add", "/a").replace("target:", "#"), operation("add", "/a"), TARGET, True),
    (operation("add", "/a", "name: webs"), patch(DELETED) + 'images: [{name: tools, newTag: "2"}]\n', TARGET, False),
    ("replicas: [{name: b-web, count: 2}]\n", "namePrefix: a-\nreplicas: [{name: a-web, count: 2}]\n", TARGET, True),
    ("images: [{name: 'tools:1', newTag: '2'}]\n", "images: [{name: tools, newTag: '2'}]\n", TARGET, False),
]


def _files(rest: str) -> dict[str, str]:
    listed = "" if rest.startswith("resources") else "resources: [../base]\n"
    return {**FILES, "prod/kustomization.yaml": listed + rest}


def _found(files: dict[str, str], rules: tuple[str, ...]) -> list[str]:
    return [each.rule for each in lint(package(files), shipped=False) if each.rule in rules]


def _is_built(kustomize5: Kustomize, root: Path, files: dict[str, str]) -> bool:
    write_all(root, files)
    return kustomize5("build", root / "prod").returncode == 0


@pytest.mark.parametrize(("wrong", "right", "rule", "fails"), CASES)
def test_a_mistake_is_found_and_what_is_right_passes(
    wrong: str, right: str, rule: str, fails: bool, kustomize5: Kustomize, tmp_path: Path
) -> None:
    rules = (TARGET, FIELD)
    assert rule in _found(_files(wrong), rules)
    assert _is_built(kustomize5, tmp_path, _files(wrong)) is not fails
    assert _found(_files(right), rules) == []
    assert _is_built(kustomize5, tmp_path, _files(right))
