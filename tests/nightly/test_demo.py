"""What `make demo` runs, in a copy of the checkout and with nothing else than packyard and Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import real
from tiny import programs_dir

pytestmark = pytest.mark.nightly


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for name in ("bases", "docs", "overlays", "packages"):
        shutil.copytree(real.REPOSITORY / name, folder / name)
    (folder / "tests").mkdir()
    for file in ("packyard.yaml", "Krmfile", "LICENSE", "tests/demo.sh"):
        shutil.copy(real.REPOSITORY / file, folder / file)
    return folder


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    return programs_dir(tmp_path / "bin", {"python3": Path(sys.executable)})


def demo(checkout: Path, bin_dir: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{bin_dir}{os.pathsep}{real.path_with('find', 'grep', 'sed')}"}
    return subprocess.run(
        ["sh", checkout / "tests" / "demo.sh"], env=env, cwd="/", capture_output=True, text=True, timeout=300
    )


def test_the_demo_runs_in_a_fresh_clone_and_a_second_time(checkout: Path, bin_dir: Path) -> None:
    for _ in range(2):
        done = demo(checkout, bin_dir)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert done.stdout.count("(refused, exit code 1; nothing was written)") == 3
        assert "  unchanged\n" in done.stdout
        assert "server: 10.0.0.5\n" in (next(checkout.rglob("rendered.yaml"))).read_text()
