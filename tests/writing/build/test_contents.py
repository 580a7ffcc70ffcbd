"""What users apply and set: the objects and setters of each bundle are those of contents.txt.

A line of it is a file of a bundle, and a digest of what it says: setter comments count; other comments, descriptions,
order of keys and layout do not. Files for readers (README.md, LICENSE, packyard.json) are left out. After an intended
change:

    PACKYARD_WRITE=1 pytest tests/writing/build/test_contents.py
"""

import hashlib
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
from catalogue.usecases import composed_package, each_package
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.files.tree import Tree
from packyard.writing.build.draft import compose_draft
from packyard.writing.checks import folder
from packyard.writing.checks.exception import MARK
from packyard.writing.source import workspace
from packyard.writing.source.package import Package

LISTED = Path(__file__).with_name("contents.txt")
_READ = ("README.md", "LICENSE", "packyard.json")


@cache
def bundles() -> dict[str, Bundle]:
    catalogue = workspace.read(real.REPOSITORY)
    return {name: compose_draft(catalogue, "1.0.0", name).bundle() for name in catalogue.package_names()}


def contents() -> list[str]:
    """Return a line for each file of each bundle."""
    files = [(f"{name}/{item.path}", item.data) for name, bundle in bundles().items() for item in bundle.members]
    return [f"{digest(path, data)} {path}" for path, data in sorted(files) if not path.endswith(_READ)]


def digest(path: str, data: bytes) -> str:
    """Return the digest of what a file says."""
    if path.endswith((".yaml", "/Krmfile")):
        documents = list(yaml.load_all(data, Loader=yaml.CSafeLoader))
        said = [_without_descriptions(item) for item in documents]
        bound = re.findall(r"\S+ *# *(\{.*\$openapi.*\})", data.decode())
        data = json.dumps([said, bound], sort_keys=True, default=str).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        texts = ("description", "message") if "rule" in value else ("description",)
        return {key: _without_descriptions(each) for key, each in value.items() if key not in texts}
    return [_without_descriptions(each) for each in value] if isinstance(value, list) else value


@pytest.mark.nightly
def test_every_bundle_holds_the_objects_and_setters_that_are_listed() -> None:
    found = contents()
    if os.environ.get("PACKYARD_WRITE"):
        LISTED.write_text("".join(f"{line}\n" for line in found), "utf-8")
    assert found == LISTED.read_text("utf-8").splitlines()


@pytest.mark.nightly
@each_package
def test_files_have_no_comments_for_lint_and_packyard_json_has_them(package: Package, tmp_path: Path) -> None:
    bundle = bundles()[package.name]
    assert [str(finding) for finding in folder.lint(Tree(bundle.unpack(tmp_path)), judges=()).findings] == []
    assert [item.path for item in bundle.members if MARK in item.data] == []
    composed = {path: data for path, data in composed_package(package).files.items() if MARK in data}
    described = Manifest.parse(next(item.data for item in bundle.members if item.path == "packyard.json"))
    assert {f"quickstart/mlops/{path}" for path in composed} == {*described.exceptions}
