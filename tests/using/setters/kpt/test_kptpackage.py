"""A package in kpt's spelling, set by our own verbs: the values of its pipeline and its fields, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import reading
import tiny
from packyard.core.files.tree import Tree
from packyard.using.setters.change import change_setters
from packyard.using.setters.listing import list_setters
from packyard.using.setters.packages import read_package


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny.TREES / "kpt-package", tmp_path / "package"))


def test_lists_setters_with_the_pipelines_values_and_those_of_fields(package: Path) -> None:
    rows = list_setters(read_package(Tree(package), ""))
    found = [(row.setter, row.field_count) for row in rows]
    assert [(each.name, each.value, each.type, count, Path(each.file).name, each.line) for each, count in found] == [
        ("app", "web", "string", 3, "Kptfile", 9),
        ("host", "web.example.com", "string", 1, "setters.yaml", 4),
        ("hosts", '[x, "y"]', "array", 1, "r.yaml", 11),
        ("replicas", "3", "integer", 1, "setters.yaml", 4),
        ("tag", "1.7", "string", 1, "Kptfile", 10),
        ("zones", "[a, b]", "array", 1, "Kptfile", 11),
    ]


def test_packages_below_are_set_with_theirs_in_one_run(package: Path) -> None:
    (package / "sub/Kptfile").write_bytes((package / "Kptfile").read_bytes())
    (package / "sub/setters.yaml").write_bytes(b'name: web # kpt-set: ${app}\ndata: {tag: "1.7"}\n')
    original = reading.files(package)
    kept: dict[str, bytes] = {}

    def keep(before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
        assert set(before) == set(after)
        kept.update({file.relative_to(package).as_posix(): data for file, data in before.items()})

    changes = change_setters(package, {"app": ["shop"], "tag": ["2"]}, recursive=True, keep=keep)
    assert [change.package for change in changes] == ["", "sub"]
    assert b"shop      #" in (package / "sub/Kptfile").read_bytes()
    assert (package / "sub/zone.yml").read_bytes() == b"kind: Zone\nname: shop # kpt-set: ${app}\n"
    assert (package / "sub/setters.yaml").read_bytes() == b'name: shop # kpt-set: ${app}\ndata: {tag: "2"}\n'
    assert kept == {path: data for path, data in original.items() if reading.files(package)[path] != data}
