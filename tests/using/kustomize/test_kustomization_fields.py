"""Each field that kustomize's own struct of a kustomization has, applied as kustomize does it, or refused by its name.

`tests/trees/kustomize-fields.json` is the list: `(cd tests/tools/kustomize-5 && go run facts.go fields)` writes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.kustomization import VERSIONS
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import selector
from packyard.using.kustomize.builtin import build
from packyard.writing.checks import folder
from packyard.writing.source import parts
from real import Served

FIELDS: dict[str, str] = json.loads(tiny.text("kustomize-fields.json"))
KINDS = tuple(VERSIONS)
#: Entries in which a field has an effect that can be seen, by the beginning of its path.
BESIDE: dict[str, dict[str, Any]] = {
    "configMapGenerator[].": {"name": "map", "files": ["text"]},
    "configMapGenerator[].options.": {"labels": {"a": "b"}},
    "patches[].": {"path": "patch.yaml"},
    "patches[].target.": {"kind": "ConfigMap"},
}
VALUES: dict[str, Any] = {
    "apiVersion": "",
    "kind": "",
    "resources[]": "more.yaml",
    "components[]": "component",
    "configurations[]": "references.yaml",
    "namespace": "ml",
    "patches[].path": "patch.yaml",
    "patches[].patch": "- {op: add, path: /data, value: {a: b}}",
    "patches[].target.kind": "ConfigMap",
    "patches[].target.version": "v1",
    "patches[].target.group": "other",
    "patches[].target.name": "a",
    "patches[].target.namespace": "default",
    "patches[].target.labelSelector": "role=x",
    "patches[].target.annotationSelector": "note=x",
    "configMapGenerator[].name": "map",
    "configMapGenerator[].files[]": "text",
}
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, labels: {role: NAME}, annotations: {note: x}}\n"
FILES = {
    "a.yaml": MAP.replace("NAME", "a"),
    "more.yaml": MAP.replace("NAME", "x"),
    "text": "a\n",
    "patch.yaml": "- {op: add, path: /data, value: {c: d}}\n",
    "references.yaml": "nameReference: [{kind: ConfigMap, fieldSpecs: [{kind: Any, path: spec/name}]}]\n",
    "component/kustomization.yaml": f"apiVersion: {VERSIONS['Component']}\nkind: Component\nresources: [b.yaml]\n",
    "component/b.yaml": MAP.replace("NAME", "b"),
}
#: What our own build applies; all else is refused.
#: The composer reads these, too, but for the namespace, which packages leave to their users.
REPLACEMENTS = {
    *("path", "source.fieldPath", "targets[].fieldPaths[]"),
    *(f"{place}.{word}" for place in ("source", "targets[].select") for word in selector.WORDS),
    *(f"targets[].select.{word}Selector" for word in ("label", "annotation")),
}
COMPOSED = {*VALUES, *(f"replacements[].{path}" for path in REPLACEMENTS)} - {"namespace"}
APPLIED = {*VALUES, "configMapGenerator[].options.labels", "configMapGenerator[].options.disableNameSuffixHash"}
PLAIN = {
    "string": "x",
    "bool": True,
    "int": 1,
    "int64": 1,
    "map[string]string": {"a": "b"},
    "map[string]bool": {"a": True},
}


def kustomization(field: str) -> dict[str, Any]:
    """Return a kustomization that has a field, among what that needs to have an effect."""
    root: dict[str, Any] = {}
    node, path = root, ""
    *above, last = field.split(".")
    for step in above:
        path += f"{step}."
        inner = dict(BESIDE.get(path, {}))
        node[step.removesuffix("[]")] = [inner] if step.endswith("[]") else inner
        node = inner
    if field == "patches[].patch":
        del node["path"]
    value = VALUES.get(field, PLAIN.get(FIELDS[field], {"a": "b"} if "map" in FIELDS[field] else "x"))
    node[last.removesuffix("[]")] = [value] if last.endswith("[]") else value
    if field.startswith("patches[]"):
        node = root["patches"][0]
        node.setdefault("target", {"kind": "ConfigMap"})
    return root


def write(root_dir: Path, field: str, kind: str) -> None:
    """Write it, of a kind: as the kustomization of a folder, or as a Component of that."""
    part = root_dir / "part" if kind == "Component" else root_dir
    for name, text in FILES.items():
        tiny.write(part / name, text)
    root = kustomization(field)
    root.setdefault("resources", []).append("a.yaml")
    header = {"apiVersion": VERSIONS[kind], "kind": kind}
    root |= {key: text for key, text in header.items() if field == key or kind == "Component"}
    tiny.write(part / "kustomization.yaml", yaml.safe_dump(root))
    if part != root_dir:
        tiny.write(root_dir / "kustomization.yaml", "resources: [top.yaml]\ncomponents: [part]\n")
        tiny.write(root_dir / "top.yaml", MAP.replace("NAME", "top"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_is_applied_or_refused_by_its_name(kind: str, tmp_path: Path) -> None:
    for field in FIELDS:
        write(tmp_path / field, field, kind)
        if field in APPLIED and (field, kind) != ("namespace", "Component"):
            assert build(tmp_path / field)
            continue
        with pytest.raises(InputError) as caught:
            build(tmp_path / field)
        steps = [step.removesuffix("[]") for step in field.split(".")]
        assert any(step in str(problem) for problem in caught.value.problems for step in steps), field


def test_the_composer_refuses_every_other_field_by_its_name(tmp_path: Path) -> None:
    for field in sorted(FIELDS.keys() - APPLIED - COMPOSED | {"namespace"}):
        write(tmp_path / field, field, "Component")
        with pytest.raises(InputError) as caught:
            parts.read(Sources(tmp_path / field), "part", "Component")
        steps = [step.removesuffix("[]") for step in field.split(".")]
        said = (f"{step}: {what}" for step in steps for what in ("is not a known key", "packyard does not compose it"))
        assert any(each in str(problem) for each in said for problem in caught.value.problems), field


def test_lint_knows_every_field(tmp_path: Path) -> None:
    for field in FIELDS:
        write(tmp_path / field, field, "Kustomization")
        rules = [each.rule for each in folder.lint(Tree(tmp_path / field), judges=()).findings]
        assert "unknown-kustomize-field" not in rules, field


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", sorted(APPLIED))
def test_a_field_that_is_applied_has_the_effect_that_kustomize_gives_it(
    served5: Served, field: str, kind: str, tmp_path: Path
) -> None:
    write(tmp_path, field, kind)
    if (field, kind) != ("namespace", "Component"):
        expected = [*yaml.safe_load_all(served5.done("build", tmp_path))]
        assert [*yaml.safe_load_all(build(tmp_path))] == expected
