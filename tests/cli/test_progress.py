"""What a terminal shows of work that takes longer than a second; a pipe gets none of it."""

from pathlib import Path

import pytest

import tiny
from cli.terminal import on_terminal
from tiny import done, packyard


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    done("publish", "--workspace", tiny.workspace(tmp_path / "sources"), "--version", "1.0", "--to", tmp_path / "ch")
    return tmp_path / "ch"


def test_a_terminal_shows_what_is_done_and_then_the_result_in_its_place(channel: Path, tmp_path: Path) -> None:
    with on_terminal("get", "p", "--from", channel, cwd=tmp_path) as terminal:
        shown = terminal.whole()
    assert "fetching p" in shown
    *_, after = shown.split("\x1b[2K")  # the bar is gone
    assert "fetching" not in after
    assert "p@1.0 from " in after
    assert (tmp_path / "p/packyard.json").is_file()


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_pipe_gets_no_progress(quiet: tuple[str, ...], channel: Path, tmp_path: Path) -> None:
    found = packyard("get", "p", "--from", channel, *quiet, cwd=tmp_path)
    assert "fetching" not in found.stderr
    assert "\x1b" not in found.stderr
