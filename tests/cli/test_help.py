"""Help: one screen of users' verbs, groups for the others, and pages that fit the terminal."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from commandline import COMMAND, done, environment, inside
from packyard.cli.cfg import COMMANDS
from packyard.cli.complete import flags_of
from packyard.cli.verbs import GROUPS, VERBS
from terminal import on_terminal

PAGES = {
    **{f"help {name}": ("help", name) for name in (*GROUPS, "all")},
    "packyard": (),
    **{verb: (verb, "--help") for verb in (*VERBS, "version")},
    **{f"cfg {command}": ("cfg", command, "--help") for command in COMMANDS},
}


def longest(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("words", [(), ("help",), ("--help",), ("-h",)])
def test_the_first_page_fits_one_screen(words: tuple[str, ...]) -> None:
    text = inside(*words).stdout
    assert len(text.splitlines()) <= 24
    assert longest(text) <= 80
    for verb in GROUPS["use"].verbs:
        assert re.search(rf"^  {verb} ", text, re.MULTILINE), verb
    for name in set(GROUPS) - {"use"} | {"all"}:
        assert f"packyard help {name} " in text


def test_all_verbs_are_listed_and_are_at_most_49() -> None:
    text = inside("help", "all").stdout
    assert len(VERBS) <= 49
    assert [verb for verb in VERBS if not re.search(rf"^  {verb} ", text, re.MULTILINE)] == []
    assert not re.search(r"^  (version|complete) ", text, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in GROUPS if name not in VERBS])
def test_a_group_lists_its_verbs(name: str) -> None:
    text = inside("help", name).stdout
    assert re.findall(r"^  (\S+)", text, re.MULTILINE) == list(GROUPS[name].verbs)


def test_the_page_of_publish_ends_with_the_verbs_of_its_group() -> None:
    text = inside("help", "publish").stdout
    assert text.startswith("usage: packyard publish ")
    assert re.findall(r"^  (\S+)", text.partition("Publish packages:")[2], re.MULTILINE) == [*GROUPS["publish"].verbs]


@pytest.mark.parametrize("verb", ["init", "new", "import", "lint", "test", "update"])
def test_the_page_of_an_authors_verb_ends_with_an_example(verb: str) -> None:
    assert inside(verb, "--help").stdout.splitlines()[-1].startswith(f"for example: packyard {verb}")


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_is_its_flag(verb: str) -> None:
    text = inside("help", verb).stdout
    assert text == inside(verb, "--help").stdout
    assert text.startswith(f"usage: packyard {verb}")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("columns", [60, 80])
def test_a_page_fits_and_breaks_no_word(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = inside(*PAGES[name]).stdout
    assert longest(text) <= columns
    monkeypatch.setenv("COLUMNS", "1000")
    assert sorted(text.split()) == sorted(inside(*PAGES[name]).stdout.split())


@pytest.mark.parametrize("name", [name for name in PAGES if name.partition(" ")[0] in VERBS])
def test_a_page_says_what_every_flag_is_for(name: str) -> None:
    verb, *rest = name.split()
    text = inside(*PAGES[name]).stdout
    for flag, choices in flags_of(VERBS[verb][0], verb, rest).items():
        described = re.search(rf"^  (?:-\w, )?{re.escape(flag)}\b(.*\n(?: {{20,}}.*\n)*)", f"{text}\n", re.MULTILINE)
        if flag.startswith("--"):
            assert described, flag
            assert len(described[1].split()) > (choices is not None and bool(choices)), flag


@pytest.mark.parametrize("verb", ["completion", "deploy"])
def test_examples_stay_as_they_were_written_where_they_fit(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    docstring = str(import_module(f"packyard.cli.{VERBS[verb][0]}").__doc__)
    examples = [block for block in docstring.split("\n\n") if "  " in block and longest(block) <= 100]
    assert examples
    for block in examples:
        assert block.strip("\n") in inside("help", verb).stdout


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["packyard", "help all", "get", "set", "cfg", "cfg create-setter", "publish", "lint"])
def test_a_page_fits_a_real_terminal(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    for columns in (60, 80, 120):
        with on_terminal(*PAGES[name], cwd=tmp_path, columns=columns) as terminal:
            seen = terminal.whole()
        assert longest(seen) <= columns
        assert longest(seen) > columns - 20 or columns > 80 or name in ("cfg", "help all", "packyard")


def test_a_page_in_a_pipe_has_80_columns(tmp_path: Path) -> None:
    variables = {name: value for name, value in environment().items() if name != "COLUMNS"}
    text = subprocess.run([*COMMAND, "get", "--help"], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert 60 < longest(text.stdout) <= 80


@pytest.mark.parametrize("words", [("set",), ("tree", "."), ("nonsense",), ("set", ".", "--nonsense"), ("-x",)])
def test_a_wrong_cfg_command_gets_its_usage_alone(words: tuple[str, ...]) -> None:
    error = inside("cfg", *words).stderr.splitlines()
    assert len(error) == 2
    assert error[0].startswith("Error: ")
    assert error[1].startswith("usage: packyard cfg set " if words[0] == "set" else "usage: packyard cfg COMMAND")


def test_the_version_is_a_flag_and_no_listed_verb() -> None:
    assert done("version") == done("--version")
    assert "version" not in VERBS
