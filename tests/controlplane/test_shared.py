"""Holds that a service is started once, stops with its last user however that ends, and says why it does not start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from controlplane import shared

TESTS_DIR = Path(shared.__file__).resolve().parents[1]

SERVICE = """
import os, pathlib, sys
from controlplane import shared
folder = pathlib.Path(sys.argv[1])
with (folder / "started").open("a") as started:
    started.write(f"{os.getpid()}\\n")
with shared.offer(folder):
    (folder / "stopped").touch()
"""
USER = """
import pathlib, sys
from controlplane import shared
with shared.use(pathlib.Path(sys.argv[1]), *sys.argv[2:]):
    print("using", flush=True)
    sys.stdin.read()
"""


def user(folder: Path) -> subprocess.Popen[str]:
    """Start a process that uses the service until its standard input ends, and return when it does."""
    command = [sys.executable, "-c", USER, str(folder), "-c", SERVICE, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS_DIR)}
    process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == "using\n"
    return process


def end(process: subprocess.Popen[str], by: signal.Signals | None = None) -> None:
    with process:
        if by:
            process.send_signal(by)
        else:
            process.communicate()


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


@pytest.mark.parametrize("by", [None, signal.SIGINT, signal.SIGKILL])
def test_a_service_is_shared_and_stops_with_its_last_user(tmp_path: Path, by: signal.Signals | None) -> None:
    first, second = user(tmp_path), user(tmp_path)
    end(first, by)
    with shared.use(tmp_path, "-c", "raise SystemExit('it is running')"):
        assert not (tmp_path / "stopped").exists()
    end(second, by)
    wait_for(tmp_path / "stopped")
    assert len((tmp_path / "started").read_text().splitlines()) == 1


def test_a_service_that_has_stopped_is_started_again(tmp_path: Path) -> None:
    for count in (1, 2):
        end(user(tmp_path))
        wait_for(tmp_path / "stopped")
        (tmp_path / "stopped").unlink()
        assert len((tmp_path / "started").read_text().splitlines()) == count


def test_a_service_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no port is left"), shared.use(tmp_path, "-c", "exit('no port is left')"):
        pass
