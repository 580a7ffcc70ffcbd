"""The catalogue's packages are read by people: what lint is told to pass over stands in packyard.json."""

from __future__ import annotations

from pathlib import Path

import pytest

import real
from catalogue.usecases import composed_package, each_package
from packyard.core.bundle.manifest import Manifest
from packyard.core.files.tree import Tree
from packyard.writing.build.draft import compose_draft
from packyard.writing.checks import folder
from packyard.writing.checks.exception import MARK
from packyard.writing.source import workspace
from packyard.writing.source.package import Package


@pytest.mark.nightly
@each_package
def test_files_have_no_comments_for_lint_and_packyard_json_has_them(package: Package, tmp_path: Path) -> None:
    bundle = compose_draft(workspace.read(real.REPOSITORY), "1.0.0", package.name).bundle()
    assert [str(finding) for finding in folder.lint(Tree(bundle.unpack(tmp_path)), judges=()).findings] == []
    assert [item.path for item in bundle.members if MARK in item.data] == []
    composed = {path: data for path, data in composed_package(package).files.items() if MARK in data}
    described = Manifest.parse(next(item.data for item in bundle.members if item.path == "packyard.json"))
    assert {f"quickstart/mlops/{path}" for path in composed} == {*described.exceptions}
