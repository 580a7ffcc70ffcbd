"""packyard import of ${NAME}, of setters that drifted from their fields, and of plain manifests with odd objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import tiny
from writing.authoring import importing
from writing.authoring.importing import cases, composed, manifests, run, set_values, write

FLAT = "resources: [web.yaml]\n"
FILLED = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${APP}-web
spec:
  replicas: ${REPLICAS}
  paused: ${PAUSED:=false}
  template:
    spec:
      containers:
      - name: web
        image: ${IMAGE:-nginx:1.25}
        args: ["--model=${MODEL}", "--replicas=${REPLICAS}", "${OWN}", "$${ESCAPED}"]
        env:
        - {name: OWN, value: x}
        - {name: HF_TOKEN, value: "${HF_TOKEN}"}
        - {name: COUNT, value: "${COUNT:-3}"}
      - name: shell
        image: busybox:1
        command: [sh, -c, "echo ${HOME}"]
"""
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  run.sh: |
    echo ${HOME}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return importing.workspace(tmp_path / "ws")


def definitions(here: Path) -> dict[str, Any]:
    """Return setters and substitutions by their names, with their types."""
    found = yaml.safe_load((here / "packages/web/Krmfile").read_text())["openAPI"]["definitions"]
    bodies = {name.rpartition(".")[2]: each for name, each in found.items()}
    return {name: {**next(iter(each.pop("x-k8s-cli").values())), **each} for name, each in bodies.items()}


def test_what_envsubst_fills_in_becomes_setters(here: Path, tmp_path: Path) -> None:
    files = {"kustomization.yaml": "resources: [web.yaml, config.yaml]\n", "web.yaml": FILLED, "config.yaml": CONFIG}
    said = run(here, write(tmp_path / "web", files))
    known = definitions(here)
    assert {name: each["value"] for name, each in known.items() if "value" in each} == {
        "APP": "app",
        "COUNT": "3",
        "HF_TOKEN": "",
        "IMAGE": "nginx:1.25",
        "MODEL": "",
        "PAUSED": "false",
        "REPLICAS": "",
    }
    assert [known[name].get("type") for name in ("REPLICAS", "PAUSED", "COUNT")] == ["integer", "boolean", None]
    assert known["REPLICAS"]["required"]
    assert known["REPLICAS"]["nullable"]
    assert "required" not in known["IMAGE"]
    assert known["MODEL_ARG"]["pattern"] == "--model=${MODEL}"
    assert known["APP_WEB"]["pattern"] == "${APP}-web"
    (folder,) = composed(here, "web", tmp_path / "out").values()
    text = (folder / "deployment.yaml").read_text()
    assert "echo ${HOME}" in text
    assert '"${OWN}"' in text
    assert "$${ESCAPED}" in text
    values = {"REPLICAS": ["4"], "MODEL": ["m"], "HF_TOKEN": ["t"], "APP": ["a"], "IMAGE": ["i"]}
    (deployment,) = (each for each in set_values(folder, values) if each["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert (deployment["metadata"]["name"], deployment["spec"]["replicas"]) == ("a-web", 4)
    assert deployment["spec"]["paused"] is False
    assert container["image"] == "i"
    assert container["args"] == ["--model=m", "--replicas=4", "${OWN}", "$${ESCAPED}"]
    assert [each["value"] for each in container["env"]] == ["x", "t", "3"]
    assert [case.split(": ")[-1] for case in cases(said, "without a value")] == ["REPLICAS", "MODEL", "HF_TOKEN"]
    assert cases(said, "cannot be empty") == ["web.yaml:4: metadata.name: APP: 'app'"]
    assert cases(said, "several lines") == ["config.yaml:5: data.run.sh: ${HOME}"]


DRIFTED = """apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostname: one # {"$openapi":"HOST"}
  containers:
  - name: web
    image: "hub.example/web:1.23" # {"$openapi":"IMAGE"}
    args:
    - --host=three # {"$openapi":"ARG"}
"""
DEFINED = """apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.HOST: {x-k8s-cli: {setter: {name: HOST, value: two}}}
    io.k8s.cli.setters.TAG: {description: The tag., x-k8s-cli: {setter: {name: TAG, value: "1.28"}}}
    io.k8s.cli.substitutions.IMAGE: {x-k8s-cli: {substitution: {name: IMAGE, pattern: "hub.example/web:TAG", values: [
      {marker: TAG, ref: '#/definitions/io.k8s.cli.setters.TAG'}]}}}
    io.k8s.cli.substitutions.ARG: {x-k8s-cli: {substitution: {name: ARG, pattern: "--host=HOST", values: [
      {marker: HOST, ref: '#/definitions/io.k8s.cli.setters.HOST'}]}}}
"""
DRIFT = {"kustomization.yaml": FLAT, "web.yaml": DRIFTED, "Krmfile": DEFINED}


def test_setters_that_drifted_get_what_their_fields_have(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", DRIFT))
    known = definitions(here)
    assert (known["HOST"]["value"], known["TAG"]["value"], known["TAG"]["description"]) == ("one", "1.23", "The tag.")
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == importing.objects(DRIFTED)
    (pod,) = set_values(folder, {"TAG": ["9"], "HOST": ["new"]})
    assert (pod["spec"]["hostname"], pod["spec"]["containers"][0]["image"]) == ("new", "hub.example/web:9")
    assert [case.split(" ")[2] for case in cases(said, "what the fields have counts")] == ["HOST", "IMAGE"]
    (torn,) = cases(said, "setting them changed more than a value")
    assert "ARG yields '--host=two', not '--host=three'" in torn


UNNAMED = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n"
PLAIN = {
    "operator.yaml": "apiVersion: example.com/v1\nkind: Operator\nmetadata: {name: one}\nspec: {level: 1}\n",
    "below/config.yaml": "# Read at the start.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
}


def test_plain_manifests_are_one_base_with_their_files_as_they_are(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", PLAIN))
    assert said["useCases"] == ["web"]
    for name in ("operator.yaml", "below/config.yaml"):
        assert (here / "bases/web" / name).read_text() == PLAIN[name]
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == importing.objects(PLAIN["operator.yaml"], PLAIN["below/config.yaml"])


def test_all_that_is_no_object_is_told_at_once_and_a_part_can_be_taken(here: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "web", {**PLAIN, "values.yaml": "a: b\n", "c/broken.yaml": "a: [\n", "d.yaml": UNNAMED})
    assert tiny.refused("import", source, "--workspace", here).count("error:") == 1  # what is no YAML goes first
    (source / "c/broken.yaml").unlink()
    refused = tiny.refused("import", source, "--workspace", here)
    assert "values.yaml:1" in refused
    assert "d.yaml:1" in refused
    assert "--only PATH" in refused
    said = run(here, source, "--only", "below", source / "operator.yaml")
    assert len(said["files"]) == 5
    assert "no such file or folder" in tiny.refused(
        "import", source, "--workspace", here, "--name", "x", "--only", "no"
    )
