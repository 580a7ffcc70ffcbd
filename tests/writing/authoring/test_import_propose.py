"""packyard import --propose: constants that could be setters are listed, and those that are chosen are bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reading
import tiny
from writing.authoring import importing
from writing.authoring.importing import composed, run, set_values, write

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3 # as many as there are zones
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.25
        resources:
          limits: {cpu: "2", memory: 1Gi}
          requests: {cpu: "2", memory: 512Mi}
      - name: log
        image: log:1
        args: [--image=other]
      volumes:
      - name: data
        persistentVolumeClaim:
          claimName: workdisk # {"$openapi":"PVC_NAME"}
"""
INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  tls:
  - hosts: [web.example]
  rules:
  - host: web.example
"""
KRMFILE = """apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.PVC_NAME: {x-k8s-cli: {setter: {name: PVC_NAME, value: workdisk}}}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return a workspace with an imported package."""
    files = {
        "kustomization.yaml": "resources: [web.yaml, ingress.yaml]\n",
        "web.yaml": DEPLOYMENT,
        "ingress.yaml": INGRESS,
        "Krmfile": KRMFILE,
    }
    folder = importing.workspace(tmp_path / "ws")
    run(folder, write(tmp_path / "web", files))
    return folder


def proposed(here: Path, *words: object) -> dict[str, tuple[str, list[str]]]:
    code, out, err = tiny.run("import", *words, "--workspace", here, "--output", "json")
    assert code == 0, err
    places = {each["name"]: [place.removeprefix(f"{here}/") for place in each["places"]] for each in json.loads(out)}
    return {each["name"]: (each["value"], places[each["name"]]) for each in json.loads(out)}


def test_constants_are_listed_with_their_places(here: Path) -> None:
    before = reading.files(here)
    found = proposed(here, "web", "--propose")
    assert {name: value for name, (value, _) in found.items()} == {
        "HOST": "web.example",
        "REPLICAS": "3",
        "WEB_WEB_IMAGE": "nginx:1.25",
        "CPU": "2",
        "MEMORY": "1Gi",
        "MEMORY_REQUEST": "512Mi",
        "WEB_LOG_IMAGE": "log:1",
    }
    assert len(found["HOST"][1]) == 2
    assert found["REPLICAS"][1] == ["bases/web/deployment.yaml:5"]
    assert reading.files(here) == before


def test_chosen_constants_are_bound_and_nothing_else_changes(here: Path, tmp_path: Path) -> None:
    file = here / "bases/web/deployment.yaml"
    proposed(here, "web", "--propose", "REPLICAS", "CPU", "HOST")
    (folder,) = composed(here, "web", tmp_path / "out").values()
    deployment, ingress = set_values(folder, {"REPLICAS": ["7"], "CPU": ["4"], "HOST": ["other.example"]})
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert deployment["spec"]["replicas"] == 7
    assert (container["resources"]["limits"]["cpu"], container["resources"]["requests"]["cpu"]) == ("4", "4")
    assert (ingress["spec"]["rules"][0]["host"], ingress["spec"]["tls"][0]["hosts"]) == (
        "other.example",
        ["other.example"],
    )
    assert "# as many as there are zones" in file.read_text()
    assert "description: Replicas of web." in (here / "bases/web/Krmfile").read_text()
    assert "REPLICAS" not in proposed(here, "web", "--propose")
