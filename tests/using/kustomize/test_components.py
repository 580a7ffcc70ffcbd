"""Components and patches in our own build against the real kustomize 5.7.1: the same objects, or both refuse."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny
from packyard.core.errors import BeyondError, PackyardError
from packyard.core.files.tree import Tree
from packyard.using.kustomize.builtin import build
from real import Kustomize
from using.kustomize import both

HEADER = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
OBJECTS = tiny.text("render/objects.yaml")
RENAME = '[{"op": "replace", "path": "/metadata/name", "value": "x"}]'
ADD = 'patch: \'[{"op": "add", "path": "/metadata/labels/added", "value": "yes"}]\''


@pytest.fixture
def agrees(kustomize5: Kustomize, tmp_path: Path) -> Callable[..., list[dict[str, Any]] | None]:
    """Build a use case with a component by both; return the objects, None where both refuse."""

    def judge(component: str, **files: str) -> list[dict[str, Any]] | None:
        tiny.write(tmp_path / "use/kustomization.yaml", "resources: [a.yaml]\ncomponents: [add]\n")
        tiny.write(tmp_path / "use/a.yaml", OBJECTS)
        tiny.write(tmp_path / "use/add/kustomization.yaml", HEADER + component)
        tiny.write_all(tmp_path / "use/add", {f"{name}.yaml": text for name, text in files.items()})
        return both.built(kustomize5, tmp_path / "use")

    return judge


@pytest.mark.parametrize(
    "target",
    [
        "{kind: ConfigMap}",
        "{kind: ConfigMap|Job}",
        "{kind: Config}",
        "{name: one}",
        "{name: t.*}",
        "{group: batch}",
        "{group: batch, version: v1}",
        "{version: v2beta1}",
        "{namespace: ml}",
        "{labelSelector: app=a}",
        "{labelSelector: app==a}",
        "{labelSelector: 'app=a,tier=front'}",
        "{labelSelector: app!=a}",
        "{labelSelector: 'app in (a, b)'}",
        "{labelSelector: 'app notin (b)'}",
        "{labelSelector: tier}",
        "{labelSelector: '!tier'}",
        "{annotationSelector: note=x}",
        "{kind: Job, labelSelector: app=b}",
        "{kind: '(['}",
        "{labelSelector: 'a=b=c'}",
        "{labelSelector: 'app in a'}",
    ],
)
def test_a_target_selects_what_it_selects_for_kustomize(
    agrees: Callable[..., list[dict[str, Any]] | None], target: str
) -> None:
    labels = "apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {added: 'yes'}}\n"
    agrees(f"patches: [{{path: p.yaml, target: {target}}}]\n", p=labels)


def test_a_component_brings_objects_and_its_patches_see_them(
    agrees: Callable[..., list[dict[str, Any]] | None],
) -> None:
    found = agrees(f"resources: [b.yaml]\npatches: [{{target: {{name: b}}, {ADD}}}]\n",
                   b="apiVersion: v1\nkind: Secret\nmetadata: {name: b, labels: {x: y}}\n")  # fmt: skip
    assert found
    assert {"x": "y", "added": "yes"} in [item["metadata"].get("labels") for item in found]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("replacements: []\n", "field 'replacements' of a Kustomization is not supported"),
        ("patches: [{path: a.yaml}]\n", "packyard reads one patch in an entry"),
        ("namePrefix: x\n", "field 'namePrefix' of a Kustomization is not supported"),
        (
            "patches: [{path: p.yaml, options: {allowNameChange: true}}]\n",
            "field 'options' of a patch is not supported",
        ),
        (f"patches: [{{target: {{kind: Job}}, patch: '{RENAME}'}}]\n", "changes kind, name or namespace of Job 'run'"),
    ],
)
def test_what_only_kustomize_does_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    tiny.write(tmp_path / "kustomization.yaml", f"resources: [a.yaml]\n{text}")
    tiny.write(tmp_path / "a.yaml", OBJECTS)
    tiny.write(tmp_path / "p.yaml", OBJECTS.split("---")[0])
    with pytest.raises(BeyondError, match=message):
        build(Tree(tmp_path))


HOSTILE = {
    "a circle": ("components: [../add]\n", "build on each other in a circle: add -> add"),
    "no component": ("kind: Kustomization\n", "kind"),
    "a patch elsewhere": ("patches: [{path: ../a.yaml}]\n", "lies outside of the directory"),
    "a patch that is a link": ("patches: [{path: link.yaml}]\n", "lies outside of the directory"),
    "a patch that is no file": ("patches: [{path: none.yaml}]\n", "patches.path: no file 'none.yaml'"),
    "an absolute component": ("components: [/etc]\n", "is not in the package"),
    "an address": ("components: ['https://example.com/x?ref=1']\n", "is not in the package"),
    "a NUL": ('components: ["a\\0b"]\n', "no file has such a name"),
    "a list of numbers": ("components: [1]\n", "components: this is neither a file nor a folder"),
    "patches that are text": ("patches: x\n", "patches: must be a list"),
    "a patch that is text": ("patches: [x]\n", "patches: must be a mapping"),
    "a patch of both kinds": ("patches: [{path: a.yaml, patch: x}]\n", "needs either path or patch"),
    "operations on themselves": ("patches: [{path: grow.yaml, target: {kind: Job}}]\n", "copies more than"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_components_are_refused_by_name(tmp_path: Path, what: str) -> None:
    text, message = HOSTILE[what]
    tiny.write(tmp_path / "use/kustomization.yaml", "resources: [a.yaml]\ncomponents: [add]\n")
    tiny.write(tmp_path / "use/a.yaml", OBJECTS)
    header = "" if text.startswith("kind") else HEADER
    tiny.write(tmp_path / "use/add/kustomization.yaml", header + text)
    (tmp_path / "use/add/link.yaml").symlink_to("../a.yaml")
    grow = "".join("- {op: copy, from: /spec, path: /spec/x" + str(number) + "}\n" for number in range(40))
    tiny.write(tmp_path / "use/add/grow.yaml", grow)
    with pytest.raises(PackyardError, match=message):
        build(Tree(tmp_path / "use"))


def test_a_folder_of_a_component_that_is_a_link_out_of_the_package_is_not_followed(tmp_path: Path) -> None:
    tiny.write(tmp_path / "use/kustomization.yaml", "resources: [a.yaml]\ncomponents: [add]\n")
    tiny.write(tmp_path / "use/a.yaml", OBJECTS)
    tiny.write(tmp_path / "elsewhere/kustomization.yaml", HEADER)
    (tmp_path / "use/add").symlink_to("../elsewhere")
    with pytest.raises(BeyondError, match=r"kustomization\.yaml:2:14: 'add' of components is not in the package"):
        build(Tree(tmp_path / "use"))
