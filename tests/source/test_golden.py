"""Every composed use case as a golden file, so that a review sees what a change of a base does to whom.

``cases/PACKAGE/USE-CASE/`` holds what a user gets, with the package's values. ``make golden`` writes it anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

import reading
import real
from packyard.source import package, workspace
from packyard.source.compose import compose
from packyard.source.package import Package, UseCase

CASES = Path(__file__).parent / "cases"
WORKSPACE = workspace.read(real.REPOSITORY)
USE_CASES = [
    (found, use_case)
    for found in (package.read(WORKSPACE, name) for name in WORKSPACE.package_names())
    for use_case in found.use_cases
]
REWRITE = os.environ.get("PACKYARD_GOLDEN") == "1"


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def difference(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return a unified diff of two trees."""
    lines: list[str] = []
    for name in sorted({*before, *after}):
        texts = [tree.get(name, b"").decode().splitlines(keepends=True) for tree in (before, after)]
        ends = [name if name in tree else "/dev/null" for tree in (before, after)]
        lines += unified_diff(*texts, *ends)
    return "".join(lines)


@pytest.mark.parametrize(
    ("source", "use_case"),
    [pytest.param(source, use_case, id=f"{source.name} {use_case.path}") for source, use_case in USE_CASES],
)
def test_composes_what_was_reviewed(source: Package, use_case: UseCase) -> None:
    folder = CASES / source.name / use_case.path
    files = compose(WORKSPACE, source, use_case).shipped
    if REWRITE:
        write(folder, files)
    changed = difference(reading.files(folder), files)
    assert not changed, f"{source.name} {use_case.path} changes; if that is meant: make golden\n{changed}"


def test_what_no_package_has_any_more_is_gone() -> None:
    known = {CASES / source.name / use_case.path for source, use_case in USE_CASES}
    stale = {file for file in CASES.rglob("*") if file.is_file() and known.isdisjoint(file.parents)}
    for file in stale if REWRITE else ():
        file.unlink()
    assert REWRITE or not stale


def test_a_difference_names_files_and_lines(tmp_path: Path) -> None:
    before = {"a.yaml": b"a: 1\nb: 2\n", "gone.yaml": b"x\n"}
    write(tmp_path / "case", before)
    assert difference(reading.files(tmp_path / "case"), before) == ""
    assert difference(before, {"a.yaml": b"a: 1\nb: 3\n", "options/new.yaml": b"y\n"}) == (
        "--- a.yaml\n+++ a.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n"
        "--- gone.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "--- /dev/null\n+++ options/new.yaml\n@@ -0,0 +1 @@\n+y\n"
    )
