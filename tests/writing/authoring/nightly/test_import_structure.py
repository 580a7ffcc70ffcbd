"""packyard import of trees of kustomizations: parts stay parts, and equal objects are shared."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import importing
import reading
import tiny
from importing import cases, composed, run, write
from served import Served

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


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return importing.workspace(tmp_path / "ws")


def check(here: Path, tmp_path: Path, served: Served, sources: Path, *use_cases: str) -> None:
    """Compare what kustomize builds of use cases, and of what they were imported as."""
    found = composed(here, "web", tmp_path / "out")
    assert sorted(found) == sorted(use_cases)
    for path, folder in found.items():
        assert reading.built(served, folder) == reading.built(served, sources / path), path


def test_bases_and_components_stay_parts_byte_for_byte(here: Path, tmp_path: Path, served5: Served) -> None:
    said = run(here, write(tmp_path / "web", TREE) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "dev", "prod")
    assert (here / "bases/web-base/web.yaml").read_text() == DEPLOYMENT
    assert (here / "bases/web-dev/second.yaml").read_text() == SECOND
    dev = (here / "bases/web-dev/kustomization.yaml").read_text()
    assert dev.startswith("# For developers.\n")
    assert "Copyright 2024 Some One" in dev
    assert "- ../web-base\n" in dev
    assert "- ../../overlays/programs/web-fast\n" in dev
    assert sum((here / file).read_text().count("nginx:1.25") for file in said["files"]) == 1
    assert "prod: {base: web-prod, namespace: prod}" in (here / "packages/web/package.yaml").read_text()
    assert {note["what"] for note in said["notes"]} == {"what packyard build refuses", "what the model is"}


def test_kustomize_builds_the_same_of_the_parts(here: Path, tmp_path: Path, served5: Served) -> None:
    run(here, write(tmp_path / "web", TREE) / "envs", "--name", "web")
    for path in ("dev", "prod"):
        built = reading.built(served5, here / f"bases/web-{path}")
        text = (here / "packages/web/package.yaml").read_text()
        wanted = reading.built(served5, tmp_path / "web/envs" / path)
        if path == "prod":  # the namespace is package.yaml's
            assert "namespace: prod" in text
            for each in wanted:
                del each["metadata"]["namespace"]
        assert built == wanted


def test_a_base_that_says_more_than_a_part_may_is_one_that_kustomize_builds(
    here: Path, tmp_path: Path, served5: Served
) -> None:
    more = {**TREE, "base/kustomization.yaml": "resources: [web.yaml]\nimages: [{name: nginx, newTag: '2'}]\n"}
    run(here, write(tmp_path / "web", more) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "dev", "prod")
    assert "image: nginx:2\n" in (here / "bases/web-base/deployment.yaml").read_text()
    assert (here / "bases/web-dev/second.yaml").is_file()


def test_what_a_built_base_leaves_as_it_is_stays_a_part(here: Path, tmp_path: Path, served5: Served) -> None:
    more = {
        **TREE,
        "base/kustomization.yaml": "resources: [web.yaml, ../config]\nimages: [{name: nginx, newTag: '2'}]\n",
        "config/kustomization.yaml": "resources: [config.yaml]\n",
        "config/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: b} # as it is\n",
        "envs/dev/kustomization.yaml": TREE["envs/dev/kustomization.yaml"],
    }
    said = run(here, write(tmp_path / "web", more) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "dev", "prod")
    assert (here / "bases/web-config/config.yaml").read_text() == more["config/config.yaml"]
    assert "- ../web-config\n" in (here / "bases/web-base/kustomization.yaml").read_text()
    assert sum((here / file).read_text().count("kind: ConfigMap") for file in said["files"]) == 1


def test_what_the_composer_refuses_is_built_and_told(here: Path, tmp_path: Path, served5: Served) -> None:
    gone = f"{PATCH}spec: {{template: {{spec: {{containers: [{{name: web, $patch: replace}}]}}}}}}\n"
    said = run(here, write(tmp_path / "web", {**TREE, "envs/dev/second.yaml": gone}) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "dev", "prod")
    (case,) = cases(said, "not made of the parts that they had")
    assert case.startswith("dev: bases/web-dev/second.yaml:4")
    assert "versions of kustomize differ on `$patch: replace`" in case
    assert (here / "bases/web-base/web.yaml").read_text() == DEPLOYMENT


def test_equal_objects_of_some_built_use_cases_are_one_base(here: Path, tmp_path: Path, served5: Served) -> None:
    data = "".join(f"  key-{number}: value\n" for number in range(9))
    files = {"base/config.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config}}\ndata:\n{data}"}
    files["base/kustomization.yaml"] = "resources: [config.yaml]\n"
    for name in "abc":
        own = "resources: [../../base]\n" if name != "c" else "resources: [own.yaml]\n"
        files[f"envs/{name}/kustomization.yaml"] = f"{own}configMapGenerator: [{{name: {name}, literals: [A=b]}}]\n"
    files["envs/c/own.yaml"] = "apiVersion: v1\nkind: Secret\nmetadata: {name: c}\n"
    said = run(here, write(tmp_path / "web", files) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "a", "b", "c")
    assert sum((here / file).read_text().count("key-3") for file in said["files"]) == 1
    assert "bases/web-config-map-config/config-map.yaml" in said["files"]


def test_objects_in_other_namespaces_are_patched_in_each(here: Path, tmp_path: Path, served5: Served) -> None:
    data = "".join(f"  key-{number}: value\n" for number in range(9))
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config}}\ndata:\n{data}"
    files = {"base/config.yaml": text, "base/kustomization.yaml": "resources: [config.yaml]\n"}
    for name in "ab":
        files[f"envs/{name}/kustomization.yaml"] = (
            f"resources: [../../base]\nnamespace: {name}\ncommonAnnotations: {{of: {name}}}\n"
        )
    run(here, write(tmp_path / "web", files) / "envs", "--name", "web")
    check(here, tmp_path, served5, tmp_path / "web/envs", "a", "b")


def test_a_use_case_in_the_folder_of_another_has_a_name_of_its_own(here: Path, tmp_path: Path) -> None:
    flat = {"kustomization.yaml": "resources: [web.yaml]\n", "web.yaml": DEPLOYMENT}
    files = {f"{folder}/{name}": text for folder in ("a", "a/b", "1.0+") for name, text in flat.items()}
    assert run(here, write(tmp_path / "web", files))["useCases"] == ["1-0", "a/b", "a/default"]


def test_a_tarball_is_read_alone_though_it_names_a_folder_outside(here: Path, tmp_path: Path) -> None:
    write(tmp_path / "web", TREE)
    with tarfile.open(tmp_path / "envs.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "web/envs", "envs")
    assert "base: leads to" in tiny.refused("import", tmp_path / "envs.tar.gz", "--workspace", here, "--name", "web")
    assert reading.files(here).keys() == {"LICENSE", "packyard.yaml"}


def test_a_package_that_is_there_is_told_before_any_work(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # so that nothing can be built
    write(tmp_path / "web", TREE)
    for taken in ("packages/web", "bases/web"):
        tiny.write(here / taken / "mine.txt", "mine\n")
        refused = tiny.refused("import", tmp_path / "web/envs", "--workspace", here, "--name", "web")
        assert f"{here / taken}: exists already" in refused
        (here / taken / "mine.txt").unlink()
    assert "kustomize" in tiny.refused("import", tmp_path / "web/envs", "--workspace", here, "--name", "web")
