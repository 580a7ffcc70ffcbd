"""Trees of other projects: what kustomize and clusters take is no fault, whoever wrote it and however."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

Lint = Callable[[dict[str, str]], list[str]]

#: What other trees of a few lines lack as well.
_PRACTICE = ("no-labels", "no-resources", "runs-as-root", "above-restricted", "token-mounted", "no-readiness-probe")
KUSTOMIZATION = "kustomization.yaml"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {example.com/ports: "1"}}
    spec: {containers: [{name: web, image: 'nginx:1.27', ports: [{containerPort: 80}]}]}
"""


@pytest.fixture
def found(tmp_path: Path) -> Lint:
    """Lint a folder of files: ``file:line severity rule: message`` per finding, without what all such trees lack."""

    def find(files: dict[str, str]) -> list[str]:
        for path, text in files.items():
            tiny.write(tmp_path / path, text)
        linted = folder.lint(Tree(tmp_path), judges=schemas.choose(("1.31",))).findings
        return [
            f"{each.file.removeprefix(f'{tmp_path}/')}:{each.line} {each.severity} {each.rule}: {each.message}"
            for each in linted
            if each.rule not in _PRACTICE
        ]

    return find


def test_a_replacement_leads_to_a_key_with_dots_in_brackets(found: Lint) -> None:
    path = "spec.template.metadata.annotations.[example.com/ports]"
    target = f"{{select: {{kind: Deployment}}, fieldPaths: ['{path}']}}"
    replacements = f"replacements:\n- source: {{kind: Deployment, fieldPath: metadata.name}}\n  targets: [{target}]\n"
    assert found({KUSTOMIZATION: f"resources: [web.yaml]\n{replacements}", "web.yaml": WEB}) == []


def test_labels_fill_a_selector_that_is_null_and_a_broken_one_is_a_finding(found: Lint) -> None:
    files = {KUSTOMIZATION: "resources: [web.yaml]\nlabels: [{pairs: {team: ml}, includeSelectors: true}]\n"}
    assert found({**files, "web.yaml": WEB.replace("{app: web}}\n  template", "null}\n  template")}) == []
    broken = found({**files, "web.yaml": WEB.replace("{app: web}}\n  template", "web}\n  template")})
    assert "web.yaml:5 error wrong-type" in [each.rpartition(": ")[0] for each in broken]
