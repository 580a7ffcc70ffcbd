"""What `make test` relies on of pytest-xdist: the tests of a group run in one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TESTS = """
import os
from pathlib import Path
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(20))
def test_writes_its_process(number):
    Path(f"process-{os.getpid()}").touch()
"""


@pytest.mark.nightly
def test_a_group_runs_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "test_group.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([*tmp_path.glob("process-*")]) == 1
