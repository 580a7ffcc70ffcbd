"""What trees of other projects have and is right there: cases for what lint once said of them, and was false."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

FILES = {path.partition(".")[0]: text for path, text in tiny.read_tree("checks/upstream").items()}
DEPLOYMENT, VOLUME, WORKFLOW = FILES["deployment"], FILES["volume"], FILES["workflow"]
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec: {selector: {app: APP}, ports: [{port: 80}]}\n"
KUSTOMIZATION = "resources: [storage.yaml]\nimages: [{name: loader, newTag: '1'}]\n"
LOADER = DEPLOYMENT.replace("NAME", "a").replace("APP", "a")


def named(text: str, name: str, app: str = "a") -> str:
    return text.replace("NAME", name).replace("APP", app)


CASES = [
    # a file of a folder and its copy are no two workloads whose pods a Service mixes
    ({"a.yaml": named(DEPLOYMENT, "a"), "b.yaml": named(DEPLOYMENT, "a")}, "selector-overlap", False),
    # folders without a kustomization are applied together by whoever means them to be
    ({"service.yaml": named(SERVICE, "a"), "pods/a.yaml": named(DEPLOYMENT, "a")}, "selects-nothing", False),
    # a key that may be missing
    ({"a.yaml": VOLUME.replace("OPTIONAL ", "optional: true,")}, "no-such-key", False),
    # what a workflow deletes in the end, it can create again; a manifest that only names an object has no fields
    ({"a.yaml": WORKFLOW.replace("ACTION", "delete")}, "created-once", False),
    ({"a.yaml": WORKFLOW.replace("ACTION", "get")}, "created-once", True),
    ({"a.yaml": WORKFLOW.replace("ACTION", "delete")}, "duplicate-name", False),
    ({"a.yaml": WORKFLOW.replace("ACTION", "apply")}, "duplicate-name", True),
    # images that stand where only a file of `configurations` says
    (
        {"storage.yaml": LOADER, "kustomization.yaml": KUSTOMIZATION + "configurations: [where.yaml]\n"},
        "entry-without-target",
        False,
    ),
    # an operator that nobody knows gives its pods an account; rights of the account "default" need its token
    ({"a.yaml": named(DEPLOYMENT, "a").replace("apps/v1", "example.com/v1")}, "token-mounted", False),
    ({"a.yaml": named(DEPLOYMENT, "a") + FILES["binding"].replace("ACCOUNT", "default")}, "token-mounted", False),
    # only kpt writes its Kptfile
    ({"Kptfile": FILES["kptfile"], "a.yaml": LOADER}, "rewritten", False),
]


def found(root: Path) -> dict[str, str]:
    judges = schemas.choose(("1.31",))
    return {finding.rule: finding.severity for finding in folder.lint(Tree(root), judges=judges).findings}


@pytest.mark.parametrize(("files", "rule", "is_found"), CASES)
def test_says_nothing_false_of_what_is_right_elsewhere(
    tmp_path: Path, files: dict[str, str], rule: str, is_found: bool
) -> None:
    for path, text in files.items():
        tiny.write(tmp_path / path, text)
    assert (rule in found(tmp_path)) == is_found


@pytest.mark.parametrize(
    ("version", "kind", "is_found"),
    [
        ("argoproj.io/v1alpha1", "ClusterWorkflowTemplate", False),
        ("argoproj.io/v1alpha1", "Workflwo", True),
        ("config/v1", "MyKind", False),
        ("apps/v1", "MyKind", True),
        ("extensions/v1beta1", "Deployment", True),
    ],
)
def test_a_kind_of_a_group_that_nobody_here_knows_may_be_served(
    tmp_path: Path, version: str, kind: str, is_found: bool
) -> None:
    tiny.write(tmp_path / "a.yaml", f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert ("unserved-kind" in found(tmp_path)) == is_found
