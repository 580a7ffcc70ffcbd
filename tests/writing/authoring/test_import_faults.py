"""An import is all or nothing, on a disk that is full."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

import tiny
from faults import content, failures, leftovers, recover
from packyard.core.errors import PackyardError
from packyard.writing.authoring.import_ import conversion
from packyard.writing.authoring.import_.conversion import Imported
from packyard.writing.source import workspace

WORKSPACE = "apiVersion: packyard/v1\nkind: Workspace\nname: mine\nprefix: use-cases\nlicense: LICENSE\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: i}]}\n"


def make(root: Path) -> Path:
    tiny.write(root / "packyard.yaml", WORKSPACE)
    tiny.write(root / "LICENSE", "license\n")
    return root


def source(root: Path) -> Path:
    for name in ("one", "two"):
        tiny.write(root / name / "kustomization.yaml", "resources: [pod.yaml]\n")
        tiny.write(root / name / "pod.yaml", POD.replace("image: i", f"image: {name}"))
    return root


def read(root: Path, folder: Path) -> Imported:
    return conversion.of_use_cases(workspace.read(root), "web", folder, lambda _: b"", "web")


def test_a_disk_that_is_full_at_any_moment_leaves_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = make(tmp_path / "start")
    before = content(start)
    imported = read(start, source(tmp_path / "web"))
    after = {**before, **imported.files}
    outcomes = []

    def on_a_full_disk(at: int) -> None:
        root = Path(shutil.copytree(start, tmp_path / str(at)))
        with suppress(PackyardError, OSError):
            conversion.write_to(workspace.read(root), imported)

    for at in failures(monkeypatch, on_a_full_disk):
        root = tmp_path / str(at)
        recover(root)
        assert content(root) in (before, after), at
        assert not leftovers(root)
        outcomes.append(content(root) == after)
        if not outcomes[-1]:
            assert [path.name for path in root.iterdir() if path.is_dir()] == [], at
    assert set(outcomes) == {False, True}
