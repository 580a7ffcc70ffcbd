"""Patterns: what Go's parser refuses is refused, all else matches as it does, and nothing takes long."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from packyard.using.setters import regexp
from tiny import COMMAND, environment
from using.setters import judged


@pytest.mark.parametrize(
    ("text", "is_valid"), [*((text, not says) for text, says in judged.cases("patterns-faults")), ("a" * 5000, False)]
)
def test_refuses_the_patterns_that_go_refuses(text: str, *, is_valid: bool) -> None:
    assert (regexp.fault(text) == "") is is_valid


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        *judged.cases("patterns-matches"),
        ("^(a+)+$", "a" * 100_000 + "!", False),
        ("(x*)*" * 100 + "y", "x" * 100_000, False),
    ],
)
def test_matches_as_re2_does(text: str, value: str, found: bool) -> None:
    assert regexp.matches(text, value) is found


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


HOSTILE = [
    "^(a+)+$",
    "(a|aa)+$",
    "(?:a?){1000}a{1000}$",
    r"(?i)(?:\pL|){400}",
    "(a*)*" * 500,
    "(" * 2000 + "a" + ")" * 2000,
]


@pytest.mark.parametrize("verb", ["set", "setters", "lint", "render", "explain"])
def test_no_pattern_of_a_definition_keeps_a_verb_busy(tmp_path: Path, verb: str) -> None:
    (tmp_path / "cm.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n"
        + "".join(f'  a{index}: "" # {{"$openapi":"A{index}"}}\n' for index in range(len(HOSTILE)))
    )
    (tmp_path / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
    long = "a" * 1000 + "!"
    definitions = "".join(
        f"    io.k8s.cli.setters.A{index}:\n      pattern: {json.dumps(text)}\n      example: {long}\n"
        f'      x-k8s-cli: {{setter: {{name: A{index}, value: ""}}}}\n'
        for index, text in enumerate(HOSTILE)
    )
    (tmp_path / "Krmfile").write_text(f"openAPI:\n  definitions:\n{definitions}")
    words = {
        "set": ["set", ".", f"A0={long}"],
        "render": ["render", "--built-in", "."],
        "explain": ["explain", ".", "A0"],
    }
    process = subprocess.run(
        [*COMMAND, *words.get(verb, [verb, "."])],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300, preexec_fn=limited,
    )  # fmt: skip
    assert process.returncode in (0, 1), process.stderr


def test_re2_is_imported_only_where_there_is_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text('x: 0 # {"$openapi":"V"}\n')
    code = "import sys; from packyard.cli.main import main; main(sys.argv[1:]); print('re2' in sys.modules)"
    for keyword, imported in (("pattern", "True"), ("title", "False")):
        (tmp_path / "Krmfile").write_text(one_setter("V", '"0"', f"{keyword}: a"))
        command = [sys.executable, "-c", code, "set", ".", "V=a"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == imported, done.stderr
