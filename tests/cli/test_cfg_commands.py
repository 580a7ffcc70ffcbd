"""`packyard cfg` without a command, and with an unknown one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny import inside

OURS = ("set", "list-setters", "create-setter", "create-subst", "delete-setter", "delete-subst", "init")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_is_for_who_asks(words: tuple[str, ...]) -> None:
    text = inside("cfg", *words).stdout
    for command in OURS:
        assert f"\n  {command} " in text
    assert "kustomize cfg cat" in text


@pytest.mark.parametrize("words", [("sett",), ("sett", ".", "A", "2"), ("sett", "--help")])
def test_a_misspelt_command_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    process = inside("cfg", *words, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("error: no command 'sett' (did you mean 'set'?)\nusage: packyard cfg COMMAND")
