"""Labels and images of a base are composed as kustomize builds them; what setters set is not changed by them."""

from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import to_value
from packyard.using.kustomize.accumulate import accumulate
from packyard.writing.source import parts
from real import Kustomize

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: first, image: "hub.example:5000/nginx"}]
      containers:
      - {name: web, image: "nginx:1.25"}
      - {name: side, image: "envoy@sha256:0"}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web, labels: {team: old}}\nspec: {ports: [{port: 80}]}\n"
CHANGES = """resources: [deployment.yaml, service.yaml]
labels:
- pairs: {team: ads, cost/center: "12"}
images:
- {name: nginx, newName: mirror.example/nginx, newTag: "1.26"}
- {name: hub.example:5000/nginx, newTag: "1"}
- {name: envoy, digest: "sha256:1"}
"""


def write(folder: Path, changes: str) -> Path:
    files = {"deployment.yaml": DEPLOYMENT, "service.yaml": SERVICE, "kustomization.yaml": changes}
    tiny.write_all(folder, files)
    return folder


def test_a_base_without_a_header_has_its_labels_and_images(kustomize5: Kustomize, tmp_path: Path) -> None:
    built = [*yaml.safe_load_all(kustomize5.done("build", write(tmp_path, CHANGES)))]
    composed = [to_value(each.root) for each in accumulate(parts.read(Sources(tmp_path), "", "Kustomization"))]
    assert sorted(composed, key=str) == sorted(built, key=str)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            "labels: [{pairs: {a: b}, includeSelectors: true}]\n",
            "includeSelectors: packyard does not compose it",
        ),
        ("nameSuffix: -a\n", r"nameSuffix: packyard does not compose it \(bind metadata.name to a setter"),
        ("resource: []\n", "did you mean 'resources'"),
    ],
)
def test_what_is_not_composed_is_named(tmp_path: Path, changes: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parts.read(Sources(write(tmp_path, changes)), "", "Kustomization")


def test_an_image_that_a_setter_sets_is_not_changed_in_silence(tmp_path: Path) -> None:
    write(tmp_path, CHANGES)
    bound = DEPLOYMENT.replace(
        '{name: web, image: "nginx:1.25"}', 'name: web\n        image: nginx:1.25 # {"$openapi":"IMAGE"}'
    )
    tiny.write(tmp_path / "deployment.yaml", bound)
    with pytest.raises(InputError, match=r"deployment.yaml:12:16: a setter sets this image"):
        accumulate(parts.read(Sources(tmp_path), "", "Kustomization"))
