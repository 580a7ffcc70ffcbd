"""Fixtures of tests that import: an empty workspace, and kustomize where packyard finds it by itself."""

from pathlib import Path

import pytest

from real import Kustomize
from writing.authoring import importing


@pytest.fixture
def kustomize5_in_path(tmp_path: Path, kustomize5: Kustomize, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have kustomize in PATH, and nothing else."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/kustomize").symlink_to(kustomize5.program)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return an empty workspace."""
    return importing.workspace(tmp_path / "ws")
