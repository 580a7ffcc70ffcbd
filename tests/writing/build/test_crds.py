"""Definitions of custom resources in ``crds/``: they judge before those that packyard carries, whose fields age."""

from pathlib import Path

import pytest

import tiny

TRAIN_JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t, labels: {app.kubernetes.io/name: x}}
spec:
  runtimeRef: {name: r}
  FIELD: {}
"""
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trainjobs.trainer.kubeflow.org}
spec:
  group: trainer.kubeflow.org
  names: {kind: TrainJob, plural: trainjobs}
  versions:
  - name: v1alpha1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            properties: {runtimeRef: {type: object, properties: {name: {type: string}}}, futureField: {type: object}}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tiny.workspace(tmp_path / "workspace")
    tiny.replace(folder / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, job.yaml]")
    return folder


def said(workspace: Path, field: str) -> list[str]:
    """Return what lint says of a TrainJob with a field."""
    tiny.write(workspace / "bases/one/job.yaml", TRAIN_JOB.replace("FIELD", field))
    _, out, err = tiny.run("lint", "--workspace", workspace)
    return [line for line in (out + err).splitlines() if "[unknown-field]" in line or "crds/" in line]


def test_definitions_of_the_workspace_win_and_are_strict(workspace: Path) -> None:
    file = workspace / "crds/trainer.yaml"
    tiny.write(file, DEFINITION)
    assert said(workspace, "futureField") == []
    (line,) = said(workspace, "suspend")
    assert ": error: spec has no field 'suspend' in " in line
    assert "crds/trainer.yaml [unknown-field]" in line
    tiny.write(file, DEFINITION.replace("futureField", "suspend"))
    assert said(workspace, "suspend") == [], "a changed definition is not judged from the cache"


def test_definitions_of_a_library_count_and_those_of_the_workspace_before_them(workspace: Path, tmp_path: Path) -> None:
    library = tiny.workspace(tmp_path / "parts")
    tiny.replace(library / "packyard.yaml", "kind: Workspace", "kind: Library")
    tiny.replace(library / "packyard.yaml", "name: w", "name: parts")
    tiny.write(library / "crds/trainer.yaml", DEFINITION)
    file = workspace / "packyard.yaml"
    file.write_text(file.read_text() + "libraries: [{path: ../parts}]\n")
    assert said(workspace, "futureField") == []
    tiny.write(workspace / "crds/own.yaml", DEFINITION.replace("futureField", "other"))
    assert ": error: spec has no field 'futureField' in " in said(workspace, "futureField")[0]
