"""`packyard cfg` without a command, and with an unknown one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny import inside

OURS = ("set", "list-setters", "create-setter", "create-subst", "delete-setter", "delete-subst", "init", "annotate")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_is_for_who_asks(words: tuple[str, ...]) -> None:
    text = inside("cfg", *words).stdout
    for command in OURS:
        assert f"\n  {command} " in text
    assert "kustomize cfg cat" in text


@pytest.mark.parametrize("command", OURS)
@pytest.mark.parametrize("words", [("--help",), ("-h",), (".", "-h")])
def test_help_of_a_command_is_its_usage(command: str, words: tuple[str, ...]) -> None:
    assert inside("cfg", command, *words).stdout.startswith(f"usage: packyard cfg {command} ")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("sett", "unknown command sett (did you mean 'set'?)"),
        ("list-seters", "unknown command list-seters (did you mean 'list-setters'?)"),
        ("--helpp", "unknown flag --helpp"),
        ("", "unknown command "),
    ],
)
def test_a_misspelt_command_is_refused(word: str, says: str, tmp_path: Path) -> None:
    for rest in ((), (".", "A", "2"), ("--help",)):
        process = inside("cfg", word, *rest, cwd=tmp_path)
        assert (process.returncode, process.stdout) == (1, "")
        assert process.stderr.startswith(f"Error: {says}")


@pytest.mark.parametrize("word", ["cat", "count", "fmt", "grep", "merge", "merge3", "tree"])
def test_a_command_of_kustomize_3_that_is_not_here_says_where_it_is(word: str) -> None:
    process = inside("cfg", word, ".")
    assert (process.returncode, process.stdout) == (1, "")
    there = "kustomize 5 has none either" if word in ("fmt", "merge", "merge3") else f"kustomize cfg {word}"
    assert f"packyard has no cfg {word} (" in process.stderr
    assert there in process.stderr
