"""Packages with rules without a command line, and with the real 3.8.7; on the command line: tests/cases/set/rules-…."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.using.setting import set_values
from real import Kustomize


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny.TREES / "rules/package", tmp_path / "package"))


def test_real_kustomize_keeps_the_rules(package: Path, kustomize3: Kustomize) -> None:
    subprocess.run([kustomize3.program, "cfg", "set", package, "EVALS", "4"], check=True, capture_output=True)
    krmfile = (package / "Krmfile").read_bytes()
    assert yaml.safe_load(krmfile)["rules"] == yaml.safe_load(tiny.text("rules/package/Krmfile"))["rules"]
    assert b"# kept with care" in krmfile
    with pytest.raises(InputError, match="An evaluation comes at most as late as the last epoch"):
        set_values(package, {"EVALS": ["5"]})
