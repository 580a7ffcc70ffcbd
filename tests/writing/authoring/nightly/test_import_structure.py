"""packyard import of trees of kustomizations: parts stay parts, and equal objects are shared."""

from __future__ import annotations

from pathlib import Path

import pytest

import reading
from real import Kustomize
from writing.authoring.importing import composed, run, write

pytestmark = pytest.mark.usefixtures("kustomize5_in_path")

DEPLOYMENT = """# Serves.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      initContainers:
      - {name: first, image: "init:1"} # before all
      - {name: second, image: "init:2"}
      containers:
      - name: web
        image: nginx:1.25
        args: [--port=80]
"""
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
SECOND = f"{PATCH}spec: {{template: {{spec: {{initContainers: [{{name: second, image: 'init:3'}}]}}}}}}\n"
TREE = {
    "base/kustomization.yaml": "# What all have.\nresources: [web.yaml]\n",
    "base/web.yaml": DEPLOYMENT,
    "fast/kustomization.yaml": """apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: Deployment}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --fast}
""",
    "envs/dev/kustomization.yaml": """# Copyright 2024 Some One
# Licensed under the Apache License.

# For developers.
bases: [../../base]
components: [../../fast]
patchesStrategicMerge:
- second.yaml
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {replicas: 1}
""",
    "envs/dev/second.yaml": SECOND,
    "envs/prod/kustomization.yaml": """resources: [../../base]
namespace: prod
patchesJson6902:
- target: {kind: Deployment, name: web}
  path: replicas.yaml
""",
    "envs/prod/replicas.yaml": "- {op: add, path: /spec/replicas, value: 3}\n",
}


def check(here: Path, tmp_path: Path, served: Kustomize, sources: Path, *use_cases: str) -> None:
    """Compare what kustomize builds of use cases, and of what they were imported as."""
    found = composed(here, "web", tmp_path / "out")
    assert sorted(found) == sorted(use_cases)
    for path, folder in found.items():
        assert reading.built(served, folder) == reading.built(served, sources / path), path


def test_bases_and_components_stay_parts_byte_for_byte(here: Path, tmp_path: Path, kustomize5: Kustomize) -> None:
    said = run(here, write(tmp_path / "web", TREE) / "envs", "--name", "web")
    check(here, tmp_path, kustomize5, tmp_path / "web/envs", "dev", "prod")
    assert (here / "bases/web-base/web.yaml").read_text() == DEPLOYMENT
    assert (here / "bases/web-dev/second.yaml").read_text() == SECOND
    dev = (here / "bases/web-dev/kustomization.yaml").read_text()
    assert "# For developers.\n" in dev
    assert "Copyright 2024 Some One" in dev
    assert "- ../web-base\n" in dev
    assert "- ../../overlays/programs/web-fast\n" in dev
    assert sum((here / file).read_text().count("nginx:1.25") for file in said["files"]) == 1
    assert "prod: {base: web-prod, namespace: prod}" in (here / "packages/web/package.yaml").read_text()
    assert {note["what"] for note in said["notes"]} == {
        *("what packyard build refuses", "what the model is", "what the package does"),
    }
