"""Help: one screen for users, a page for each verb, and one sentence for a verb that is called otherwise elsewhere."""

import re
import subprocess

import pytest

from packyard.cli.cfg import COMMANDS
from packyard.cli.complete import flags_of
from packyard.cli.verbs import FOREIGN, VERBS
from tiny import COMMAND, environment, inside

PAGES = {
    **{verb: (verb, "--help") for verb in VERBS},
    **{f"cfg {command}": ("cfg", command, "--help") for command in COMMANDS},
}
_OF_ALL = {"--help", "--quiet", "--verbose", "--output"}


@pytest.mark.parametrize("words", [(), ("help",), ("--help",), ("-h",)])
def test_the_first_page_fits_one_screen_and_names_every_verb(words: tuple[str, ...]) -> None:
    text = inside(*words).stdout
    assert len(text.splitlines()) <= 24
    assert set(VERBS) <= set(text.split())
    assert "packyard help all" in text


def test_all_verbs_are_listed_with_the_flags_of_all() -> None:
    text = inside("help", "all").stdout
    assert re.findall(r"^  (\w+) ", text, re.MULTILINE) == [*VERBS]
    assert {flag for flag in _OF_ALL - {"--output"} if flag not in text} == set()


def test_a_page_has_at_most_30_lines_and_says_what_every_flag_is_for() -> None:
    faults = []
    for name, words in PAGES.items():
        verb, *rest = name.split()
        text = inside(*words).stdout
        assert text == inside("help", *words[:-1]).stdout
        assert text.startswith(f"usage: packyard {name}")
        if len(text.splitlines()) > 30 or max(map(len, text.splitlines())) > 90:
            faults.append(f"{name}: {len(text.splitlines())} lines")
        own = (flag for flag in flags_of(verb, rest) if flag.startswith("--") and flag not in _OF_ALL)
        faults += [f"{name}: {flag}" for flag in own if not re.search(rf"^ .*{flag}\b", text, re.MULTILINE)]
    assert not faults


def test_a_page_is_as_wide_in_any_terminal() -> None:
    pages = (
        subprocess.run([*COMMAND, "get", "--help"], env=environment(COLUMNS=width), capture_output=True).stdout
        for width in ("40", "200")
    )
    assert len(set(pages)) == 1


@pytest.mark.parametrize("words", [("set",), ("cfg",), ("cfg", "set")])
def test_a_page_stays_where_python_leaves_docstrings_out(words: tuple[str, ...]) -> None:
    done = subprocess.run([COMMAND[0], "-OO", *COMMAND[1:], *words, "--help"], env=environment(), capture_output=True)
    assert done.stdout.decode() == inside(*words, "--help").stdout


@pytest.mark.parametrize("words", [(), ("--help",), ("help",)])
def test_help_of_cfg_is_for_who_asks(words: tuple[str, ...]) -> None:
    text = inside("cfg", *words).stdout
    assert re.findall(r"^  ([a-z-]+)  ", text, re.MULTILINE) == [*COMMANDS]
    assert "kustomize cfg cat" in text


@pytest.mark.parametrize(
    "words", [("set",), ("tree", "."), ("nonsense",), ("sett", "--help"), ("set", ".", "--nonsense"), ("-x",)]
)
def test_a_wrong_cfg_command_gets_its_usage_alone(words: tuple[str, ...]) -> None:
    error = inside("cfg", *words).stderr.splitlines()
    assert len(error) == 2
    assert error[0].startswith("error: ")
    assert ("; packyard cfg --help lists them" in error[0]) == (words[0] in ("nonsense", "-x"))
    assert error[1].startswith("usage: packyard cfg set " if words[0] == "set" else "usage: packyard cfg COMMAND")


def test_what_other_tools_and_former_versions_call_a_verb_leads_to_what_to_type() -> None:
    for word, typed in FOREIGN.items():
        assert typed.split()[0] in {"docker", *VERBS}
        assert word not in VERBS
        found = inside(*word.split())
        assert (found.returncode, found.stderr.partition("; ")[0]) == (2, f"error: packyard: no verb {word!r}")
        assert found.stderr.endswith(f"{typed}\n")
