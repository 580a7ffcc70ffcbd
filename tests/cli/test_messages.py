"""Messages: how many, in which form, and what to type after a refusal."""

import os
import re
from pathlib import Path

import pytest

import tiny
from cli.terminal import on_terminal
from packyard import __version__
from packyard.cli.verbs import VERBS
from tiny import done, inside, packyard

NAME = "A_VERY_LONG_NAME_OF_A_PARAMETER_THAT_NOBODY_WOULD_CHOOSE_BUT_SOMEBODY_HAS"
KRMFILE = tiny.krmfile(f"""\
    io.k8s.cli.setters.A:
      type: integer
      x-k8s-cli: {{setter: {{name: A, value: "1"}}}}
    io.k8s.cli.setters.{NAME}:
      description: "Says at length what it is for, so that it does not fit on one line of a terminal with 80 columns."
      x-k8s-cli: {{setter: {{name: {NAME}, value: "{"text " * 40}"}}}}
""")
CM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {b: "1"}\na: 1 # {"$openapi":"A"}\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "pkg"
    tiny.write(root / "Krmfile", KRMFILE)
    (root / "cm.yaml").write_text(CM)
    (root / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
    return root


@pytest.mark.parametrize("words", [("-V",), ("--version",), ("version",), ("-q", "-V")])
def test_the_version(words: tuple[str, ...]) -> None:
    assert done(*words) == f"packyard {__version__}\n"


@pytest.mark.parametrize("words", [("help", "nonsense"), ("nonsense",), ("--nonsense",), ("-x", "a"), ("help", "-x")])
def test_words_that_are_no_verb(words: tuple[str, ...]) -> None:
    process = inside(*words)
    assert (process.returncode, process.stdout) == (2, "")
    assert len(process.stderr.splitlines()) == 1
    assert "packyard help all lists them" in process.stderr


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "cfg"])
def test_wrong_usage_is_one_sentence_with_what_to_type_next(verb: str) -> None:
    for words in (("--no-such-flag",), ("--output", "nonsense"), ("--output",)):
        process = inside(verb, *words)
        assert (process.returncode, process.stdout) == (2, "")
        assert len(process.stderr.splitlines()) == 1, process.stderr
        assert re.search(rf"; (type )?packyard {verb}\b", process.stderr), process.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("place", ["before", "behind"])
def test_quiet_leaves_results_and_problems(package: Path, place: str) -> None:
    def run(flag: str, *words: object) -> tuple[str, str]:
        given = (flag, *words) if place == "before" else (*words, flag)
        process = packyard(*given, cwd=package)
        return process.stdout, process.stderr

    for flag in ("-q", "--quiet"):
        assert run(flag, "set", "A=2") == ("A 1 → 2 (1 field)\n", "")
        assert run(flag, "undo") == ("undone: A=2 (2 files in .)\n", "")
        assert "A takes a whole number" in run(flag, "set", "A=x")[1]
        assert run(flag, "enable")[1] == ""


@pytest.mark.usefixtures("package")
def test_verbose_says_programs_as_they_come(tmp_path: Path) -> None:
    tiny.script(tmp_path / "bin/kustomize", "echo 'kind: X'")
    process = packyard("render", "pkg", "-v", cwd=tmp_path, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert re.search(r"^runs \S+kustomize build", process.stderr, re.MULTILINE)


def test_what_is_hidden_from_stories() -> None:
    from packyard.cli import output

    masked = output.masked  # what the border does to every story and problem
    assert masked("at https://u:p@ss@host/x?a=1&X-Amz-Signature=zz&b=2") == (
        "at https://***@host/x?a=1&X-Amz-Signature=***&b=2"
    )
    assert masked("Authorization: Basic abc") == "Authorization: ***"
    for harmless in ("mail@example.com //x@y", 'roles.rbac.authorization.k8s.io is forbidden: User "ann"'):
        assert masked(harmless) == harmless
    header = '"Proxy-Authorization": "Bearer abc"\nauthorization=Basic abc\nAUTHORIZATION : abc'
    assert masked(header) == '"Proxy-Authorization": ***\nauthorization=***\nAUTHORIZATION : ***'


def test_the_last_column_of_a_table_is_broken_on_a_terminal_and_nothing_is_cut(package: Path) -> None:
    text = "Says at length what it is for, so that it does not fit on one line"
    with on_terminal("setters", package, cwd=package, env={"NO_COLOR": "1"}) as terminal:
        assert text in " ".join(terminal.whole().split())
    table = done("setters", package).splitlines()
    assert len(table) == 3
    assert text in table[2]
    assert table[1].split() == ["A", "1"]


def test_diffs_and_what_must_be_set_are_colored(package: Path) -> None:
    diff = packyard("set", package, "A=2", "--dry-run", FORCE_COLOR="1").stdout
    assert "\n\x1b[32m+" in diff
    assert "\n\x1b[31m-" in diff
    assert "\x1b" not in packyard("set", package, "A=2", "--dry-run").stdout
    assert "\x1b" not in packyard("set", package, "A=2", "--dry-run", FORCE_COLOR="1", NO_COLOR="1").stdout
    (package / "Krmfile").write_text(KRMFILE.replace('value: "1"}', 'value: "", required: true}'))
    assert "\x1b[1;33mREQUIRED\x1b[0m" in packyard("setters", package, FORCE_COLOR="1").stdout
