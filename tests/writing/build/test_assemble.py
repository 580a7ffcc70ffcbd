"""The catalogue's packages are read by people: how long they are, how much they ask, and how they say it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import real
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.files.tree import Tree
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import read_krmfile
from packyard.writing.build.assemble import assemble
from packyard.writing.checks import folder
from packyard.writing.checks.exception import MARK
from packyard.writing.source import workspace
from packyard.writing.source.package import Package
from usecases import composed_package, each_package, package_files

pytestmark = pytest.mark.xdist_group("assembled")


@cache
def assembled(name: str) -> Bundle:
    return assemble(workspace.read(real.REPOSITORY), name, "1.0.0")


@pytest.mark.nightly
@each_package
def test_files_have_no_comments_for_lint_and_packyard_json_has_them(package: Package, tmp_path: Path) -> None:
    bundle = assembled(package.name)
    assert [str(each) for each in folder.lint(Tree(bundle.unpack(tmp_path)), judges=()).findings] == []
    assert [item.path for item in bundle.members if MARK in item.data] == []
    composed = {path: data for path, data in composed_package(package).files.items() if MARK in data}
    described = Manifest.parse(next(item.data for item in bundle.members if item.path == "packyard.json"))
    assert {f"quickstart/mlops/{path}" for path in composed} == {*described.exceptions}


def setters(package: Package) -> dict[str, dict[str, Setter]]:
    """Return the setters of each directory, by their names."""
    made = composed_package(package)
    files = {item.use_case.path: package_files(item.files) for item in made.use_cases}
    files["options"] = package_files(made.options.files)
    return {path: dict(read_krmfile(each).definitions.setters) for path, each in files.items()}
