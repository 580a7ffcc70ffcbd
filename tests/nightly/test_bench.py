"""`make bench` goes through: what it measures moves with the sources, and nobody else runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import real
from tiny import programs_dir


@pytest.mark.nightly
def test_each_benchmark_measures(tmp_path: Path) -> None:
    real.pinned_program("kustomize-3")
    found = {name: real.program(name) for name in ("curl", "gzip", "sha256sum", "tar")}
    folder = programs_dir(tmp_path / "programs", {**found, "kubectl": real.pinned_program("kubectl")})
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    command = (sys.executable, real.REPOSITORY / "tests/bench.py", "1", "200")
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "lint of the same" in result.stdout
