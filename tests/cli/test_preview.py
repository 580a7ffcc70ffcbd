"""`packyard preview`: on a real terminal, at each save."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import tiny
from cli.terminal import on_terminal
from tiny import done

CONFIG_MAP = "bases/one/cm.yaml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path)
    tiny.replace(root / CONFIG_MAP, "  labels: {app.kubernetes.io/name: x}\n", "")
    return root


@pytest.mark.nightly
def test_each_save_shows_what_it_changes_and_what_is_wrong(workspace: Path) -> None:
    with on_terminal("preview", "p", cwd=workspace) as terminal:
        printed = terminal.until("Ctrl-C ends")
        assert "# p/uses/one/config-map.yaml" in printed
        assert "1 finding of lint" in printed
        tiny.replace(workspace / CONFIG_MAP, 'a: "1"', 'a: "2"')
        printed = terminal.until('+  a: "2"')
        assert '-  a: "1"' in printed
        tiny.replace(workspace / CONFIG_MAP, "data:\n", "data:\n- b\n")
        terminal.until("cm.yaml:5:7: mapping values are not allowed")
        text = (workspace / CONFIG_MAP).read_text().replace("data:\n- b\n", "data:\n")
        (workspace / CONFIG_MAP).write_text(text.replace('a: "2"', 'a: "3"'))
        assert '-  a: "2"' in terminal.until('+  a: "3"')
        tiny.replace(workspace / "packyard.yaml", "kind: Workspace", "kind: Other")
        terminal.until("packyard.yaml:")
        tiny.replace(workspace / "packyard.yaml", "kind: Other", "kind: Workspace")
        assert "no-labels" in terminal.until("1 finding of lint")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.end() == 0


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


def test_findings_are_at_the_lines_that_the_author_wrote_but_for_exceptions(workspace: Path) -> None:
    findings = tiny.run("preview", "p", "--once", "--workspace", workspace)[2]
    assert f"{workspace / CONFIG_MAP}:" in findings
    assert "[no-labels]" in findings
    reason = "# packyard: allow no-labels: nobody selects it\n"
    tiny.replace(workspace / CONFIG_MAP, "metadata:", f"{reason}metadata:")
    assert "0 findings of lint" in tiny.run("preview", "p", "--once", "--workspace", workspace)[2]
