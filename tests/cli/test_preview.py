"""`packyard preview`: on a real terminal, at each save."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from running import COMMAND, done, environment

CONFIG_MAP = "bases/one/cm.yaml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tiny.workspace(tmp_path)


class Terminal:
    """The verb on a terminal; ``seen`` is what it has printed since it was asked last."""

    def __init__(self, workspace: Path) -> None:
        self.master, slave = pty.openpty()
        words = [*COMMAND, "preview", "p"]
        self.process = subprocess.Popen(
            words, cwd=workspace, env=environment(), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        os.set_blocking(self.master, False)

    def until(self, text: str) -> str:
        """Return what is printed up to a text, which has to come within a minute."""
        seen = ""
        end = time.monotonic() + 30
        while text not in seen:
            assert time.monotonic() < end, seen
            try:
                seen += os.read(self.master, 65536).decode()
            except BlockingIOError:
                time.sleep(0.02)
        return seen


@pytest.fixture
def terminal(workspace: Path) -> Iterator[Terminal]:
    found = Terminal(workspace)
    try:
        yield found
    finally:
        found.process.kill()
        found.process.wait()
        os.close(found.master)


def test_each_save_shows_what_it_changes_and_what_is_wrong(workspace: Path, terminal: Terminal) -> None:
    printed = terminal.until("Ctrl-C ends")
    assert "# p/uses/one/config-map.yaml" in printed
    assert "1 finding of lint" in printed
    tiny.replace(workspace / CONFIG_MAP, 'a: "1"', 'a: "2"')
    printed = terminal.until('+  a: "2"')
    assert '-  a: "1"' in printed
    tiny.replace(workspace / CONFIG_MAP, "data:\n", "data:\n- b\n")
    terminal.until("cm.yaml:5:7: mapping values are not allowed")
    tiny.replace(workspace / CONFIG_MAP, "data:\n- b\n", "data:\n")
    tiny.replace(workspace / CONFIG_MAP, 'a: "2"', 'a: "3"')
    assert '-  a: "2"' in terminal.until('+  a: "3"')
    tiny.replace(workspace / "packyard.yaml", "kind: Workspace", "kind: Other")
    terminal.until("packyard.yaml:")
    tiny.replace(workspace / "packyard.yaml", "kind: Other", "kind: Workspace")
    assert "no-labels" in terminal.until("1 finding of lint")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.process.wait(60) == 0


def test_elsewhere_it_prints_once(workspace: Path) -> None:
    printed = done("preview", "p", "one", "--workspace", workspace)
    assert printed.startswith("# p/uses/one/config-map.yaml\napiVersion: v1\n")
    assert done("preview", "p", "--workspace", workspace) == printed


def test_names_that_are_not_there_are_refused_with_those_that_are(workspace: Path) -> None:
    assert "did you mean 'one'" in tiny.refused("preview", "p", "ones", "--workspace", workspace)
    assert "no package 'q'" in tiny.refused("preview", "q", "--workspace", workspace)


def test_what_does_not_compose_is_said_and_fails(workspace: Path) -> None:
    tiny.replace(workspace / CONFIG_MAP, "data:\n", "data:\n- b\n")
    assert "cm.yaml:" in tiny.refused("preview", "p", "--workspace", workspace)
