"""Completion, in real shells."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import real
import tiny
from cli.terminal import on_terminal
from packyard.cli import declare
from packyard.cli.cfg import COMMANDS
from packyard.cli.complete import _OF_USE_CASE
from packyard.cli.verbs import VERBS
from tiny import inside
from using.options import optioned

KRMFILE = tiny.text("completion/Krmfile")
KPTFILE = tiny.text("completion/Kptfile")
TAGGED = "image: nginx:1.7 # kpt-set: nginx:${TAG}\ndebug: true # kpt-set: ${DEBUG}\nhost: a # kpt-set: ${HOST}\n"


def with_packyard(folder: Path) -> dict[str, str]:
    command = tiny.script(folder / "bin/packyard", f'exec "{sys.executable}" -m packyard "$@"')
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    optioned.package(tmp_path)
    tiny.write(tmp_path / "pkg/Krmfile", KRMFILE)
    tiny.write_all(tmp_path / "kpt", {"Kptfile": KPTFILE, "app.yaml": TAGGED})
    both = {"Kptfile": KPTFILE.replace('      DEBUG: "true"\n', ""), "Krmfile": KRMFILE}
    tiny.write_all(tmp_path / "kpt/both", both)
    return tmp_path


#: Words in front of the cursor, and what is offered for the last of them.
OFFERED: list[tuple[list[str], list[str]]] = [
    (["sette"], ["setters"]),
    (["set", "pkg", ""], ["IMAGE=", "POLICY=", "PORT="]),
    (["set", "pkg", "POLICY="], ["POLICY=Always", "POLICY=Never"]),
    (["set", "pkg", "POLICY", "N"], ["Never"]),
    (["set", "-R", "pkg", "PORT=80", "POL"], ["POLICY="]),
    (["explain", "pkg", "POR"], ["PORT"]),
    (["set", "pkg", "--unset", "PO"], ["POLICY", "PORT"]),
    (["set", "kpt", ""], ["DEBUG=", "HOST=", "TAG="]),
    (["set", "kpt", "TAG=2", "HO"], ["HOST="]),
    (["cfg", "delete-s"], ["delete-setter", "delete-subst"]),
    (["get", "resnet50v1-5-fp32-t"], ["resnet50v1-5-fp32-training-k8s"]),
    (["get", "llm-serving/one"], ["llm-serving/one-node"]),
    (["render", "llm-serving/one"], ["llm-serving/one-node"]),
    *(([verb, "tiny-k8s/m"], ["tiny-k8s/multi-node"]) for verb in _OF_USE_CASE),
    (["set", "./tiny-k8s/mul"], ["./tiny-k8s/multi-node"]),
    (["set", "tiny-k8s/multi-node", "WO"], ["WORKERS="]),
    (["show", "llm-serving/one"], ["llm-serving/one-node"]),
    (["run", "llm-serving/one"], ["llm-serving/one-node"]),
    (["set", "pkg", "-o", "j"], ["json"]),
    (["set", "pkg", "--output=j"], ["--output=json"]),
    (["-q", "setters", "pkg", "--un"], ["--unset"]),
    (["setters", "pkg", "--output", ""], ["json", "text", "yaml"]),
    (["explain", "-o", "json", "pkg", "POR"], ["PORT"]),
    (["cfg", "create-setter", "--sch"], ["--schema-path"]),
    (["help", "undo"], ["undo"]),
    (["--ver"], ["--verbose", "--version"]),
    (["completion", ""], ["bash", "fish", "zsh"]),
    (["fn", "app"], ["apply-setters"]),
]


@pytest.mark.parametrize(("words", "offered"), OFFERED, ids=lambda words: " ".join(words))
def test_the_last_word_is_completed(words: list[str], offered: list[str], package: Path) -> None:
    assert inside("complete", "--", *words, cwd=package).stdout.split() == offered


def test_names_are_offered_in_a_package_where_dir_is_left_out(package: Path) -> None:
    assert inside("complete", "--", "set", "PO", cwd=package / "pkg").stdout.split() == ["POLICY=", "PORT="]


@pytest.mark.parametrize("verb", [*VERBS, *(f"cfg {command}" for command in COMMANDS)])
def test_every_flag_that_a_verb_takes_is_offered(verb: str) -> None:
    words = verb.split()
    offered = inside("complete", "--", *words, "-").stdout.split()
    assert "--help" in offered
    module = import_module(f"packyard.cli.{VERBS[words[0]][0]}")
    if hasattr(module, "add_arguments"):
        assert set(offered) == set(declare.make(module, verb).flags())


#: Shells as they start for a person, with what they evaluate first.
SHELLS = {
    "bash": (["bash", "--norc", "-i"], 'eval "$(packyard completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(packyard completion zsh)"'),
}


def typed(folder: Path, shell: str, lines: list[str]) -> list[list[str]]:
    """Type each line and a tab in a terminal, and return the words that the shell then has."""
    (program, *flags), first = SHELLS[shell]
    found, shown = [], re.compile("<packyard>.*>[^>]*$", re.DOTALL)
    with on_terminal(*flags, cwd=folder, env=with_packyard(folder), program=[real.program(program)]) as terminal:
        terminal.type(f"{first}\nprintf '<%s>' ready")
        terminal.until("<ready>")
        for line in lines:
            terminal.type(f"{line}\t\x01printf '<%s>' ")
            screen = terminal.until(shown)
            found.append(re.findall("<([^<>]*)>", screen[screen.rindex("<packyard>") :])[1:])
    return found


TYPED = [
    ("packyard set pkg POLICY=Al", ["set", "pkg", "POLICY=Always"]),
    ("packyard set pkg POLICY=Never POR", ["set", "pkg", "POLICY=Never", "PORT="]),
    ("packyard set pkg POL", ["set", "pkg", "POLICY="]),
    ("packyard set pkg IMAGE=repo:1", ["set", "pkg", "IMAGE=repo:1.2"]),
    ("packyard set pkg POLICY Al", ["set", "pkg", "POLICY", "Always"]),
    ("packyard set --dry", ["set", "--dry-run"]),
    ("packyard set tiny-k8s/mul", ["set", "tiny-k8s/multi-node"]),
    ("packyard explain pk", ["explain", "pkg/"]),
    ("packyard set 'pkg' POL", ["set", "pkg", "POLICY="]),
    ("packyard set ~/pkg POL", ["set", "~/pkg", "POLICY="]),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_completes(package: Path, shell: str) -> None:
    expected = [[word.replace("~", str(package)).rstrip("/") for word in words] for _, words in TYPED]
    found = typed(package, shell, [line for line, _ in TYPED])
    assert [[word.rstrip("/") for word in words] for words in found] == expected
