"""Where a package ends: at a Krmfile, and at a Kptfile where that has definitions, or where kpt looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.files.tree import Tree
from packyard.using.setters.packages import read_package
from tiny import done

OLD = """\
apiVersion: kpt.dev/v1alpha1
kind: Kptfile
metadata: {name: x}
openAPI:
  definitions:
    io.k8s.cli.setters.A: {x-k8s-cli: {setter: {name: A, value: "1"}}}
"""
KRMFILE = OLD.replace("kpt.dev/v1alpha1", "config.k8s.io/v1alpha1").replace("Kptfile", "Krmfile")
NEW = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n"
PIPELINE = NEW + "pipeline: {mutators: [{image: apply-setters, configMap: {app: web}}]}\n"


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        file = root / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


@pytest.mark.parametrize(
    ("top", "sub", "reached"),
    [
        ({"Kptfile": OLD}, {"sub__Kptfile": OLD}, False),
        ({"Kptfile": OLD}, {"sub__Kptfile": NEW}, False),
        ({"Kptfile": OLD}, {"sub__Krmfile": KRMFILE}, False),
        ({"Krmfile": KRMFILE}, {"sub__Kptfile": OLD}, False),
        ({"Krmfile": KRMFILE}, {"sub__Kptfile": NEW}, True),
        ({"Krmfile": KRMFILE, "Kptfile": NEW}, {"sub__Kptfile": NEW}, True),
        ({"Krmfile": KRMFILE}, {"sub__Krmfile": KRMFILE}, False),
        ({"Krmfile": KRMFILE}, {"sub__other": ""}, True),
    ],
)
def test_definitions_end_at_the_packages_below(
    tmp_path: Path, top: dict[str, str], sub: dict[str, str], reached: bool
) -> None:
    field = 'a: "1" # {"$kpt-set":"A"}\n'
    root = write(tmp_path / "pkg", **top, **sub, f_yaml=field, sub__f_yaml=field)
    for file in list(root.rglob("f_yaml")):
        file.rename(file.with_name("f.yaml"))
    before = {file: file.read_bytes() for file in (root / "sub").iterdir()}
    done("set", root, "A=2", XDG_STATE_HOME=str(tmp_path / "state"))
    assert (root / "f.yaml").read_text("utf-8").startswith('a: "2"')
    assert (root / "sub/f.yaml").read_text("utf-8").startswith('a: "2"') is reached
    if not reached:
        assert {file: file.read_bytes() for file in before} == before


def test_a_pipeline_reaches_the_packages_below(tmp_path: Path) -> None:
    root = write(tmp_path, Kptfile=PIPELINE, sub__Kptfile=NEW, sub__f="name: web # kpt-set: ${app}\n")
    (root / "sub/f").rename(root / "sub/f.yaml")
    assert "sub/f.yaml" in read_package(Tree(root), "").resources
