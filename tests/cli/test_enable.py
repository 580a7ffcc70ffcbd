"""`packyard enable` and `enable --off` on the command line: messages, results, refusals."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import reading
from tiny import done
from using.options import optioned


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return optioned.package(tmp_path) / optioned.SINGLE


def test_a_dry_run_is_a_patch_there_and_back(folder: Path) -> None:
    before = reading.files(folder)
    there = done("enable", ".", "queue", "debug", "--dry-run", cwd=folder)
    assert reading.files(folder) == before
    done("enable", ".", "queue", "debug", cwd=folder)
    after = reading.files(folder)
    back = done("enable", "--off", ".", "queue", "debug", "--dry-run", cwd=folder)
    assert reading.files(folder) == after
    subprocess.run(["git", "apply", "-p1"], cwd=folder, input=back, text=True, check=True)
    assert reading.files(folder) == before
    subprocess.run(["git", "apply", "-p1"], cwd=folder, input=there, text=True, check=True)
    assert reading.files(folder) == after
