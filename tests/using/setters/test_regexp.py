"""Patterns: what Go's parser refuses is refused, all else matches as it does, and nothing takes long."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from packyard.using.setters import regexp
from packyard.using.setters.check import is_refused
from packyard.using.setters.packages import PackageFiles, read_krmfile
from real import Cfg
from sample import tries
from tiny import COMMAND, environment
from using.setters import judged

EXAMPLES = tries(120)


def _words(*lines: str) -> list[str]:
    return " ".join(lines).split()


ATOMS = [
    *"abcAB019_-,ä日\u017f\u212a",
    "\\",
    *_words(
        r"\d \D \w \W \s \S . ^ $ \b \B \A \z \Z \C \pL \p{Lu} \PN \p{Greek} \p{^Lu} \P{^Greek} \pX \p{Foo} \p{",
        r"\n \t \0 \01 \012 \1 \7 \8 \12 \123 \x41 \x4 \x{41} \x{} \x{110000} \x{10ffff} \x{D800} \x \x{4",
        r"\Qa.b\E \Q \E \Q(\E \Q\C\E \Qa{2000}\E \_ \- \. \/ \q \G \K \h \u0041 \cA \N \é \\ \p{Any} \pLu \p{Han}",
    ),
]
CLASSES = _words(
    r"[a-z] [^a-z] []a] [^]a] [a-] [-a] [z-a] [a-\d] [\d-z] [[:alpha:]] [[:^alpha:]] [^[:space:]] [[:word:]] [[:foo:]]",
    r"[:alpha:] [[:alpha:] [ [] [^] [a [\pL\d] [^\PL] [\Qa] [\b] [\x{100}-\x{200}] [\n-\r] [\]] [[] [a-b-c] [--a] [\C]",
    r"[(?<=a)] [a{2000}] [\p{Greek}] [ä-ö] [^ä] [\w-] [.] [$^] [a\z] [[:ascii:][:digit:]] [[.a.]] [[:upper:]-z]",
)
GROUPS = _words(
    "(%) (?:%) (?i:%) (?i)% (?s)% (?m)% (?U)% (?-i)% (?i-s:%) (?P<n>%) (?<n>%) (?<name_1>%) (?P<ä>%) (?<ä>%) (?P<>%)",
    "(?P<1>%) (?P<n% (?=%) (?!%) (?<=%) (?<!%) (?>%) (?#%) (?x)% (?# (? (?%) (% %) (?P=n)% (?i (?ii:%) (?i--s:%) (?-)%",
    "(?:)% ()% (?im)% (?^:%) (?R)% (?'n'%) (?|%) (?P>n)% (*ACCEPT)% (?s-)% (?<n-x>%) (?P<n>a)(?P<n>%) (?mU-s:%)",
)
COUNTS = _words(
    "* + ? *? +? ?? {2} {0} {1,} {1,3} {1,3}? {2,1} {1000} {1001} {,3} {a} { {} {1 {1, {01} {1,1000} {1,1001}",
    "{0}* {-1} {100000000000} {1,100000000000} {0100000000000} ** +* ++ ?+ {2}{3} {2}* *{2} *{1001} *{2,1} {1001}?",
    "??? {1000,}",
)
VALUES = ["a", "abc", "ABC", "0190", "_", "ä", "a.b", "k", "aaaa", "a_b-c", "x1", "3a", "αβΓ", "日本", "a(b"]


def pattern(chance: random.Random, depth: int) -> str:
    """Return something that looks like a pattern."""
    kind = chance.random()
    if depth == 0 or kind < 0.35:
        return chance.choice(ATOMS)
    if kind < 0.45:
        return chance.choice(CLASSES)
    if kind < 0.6:
        return chance.choice(GROUPS).replace("%", pattern(chance, depth - 1), 1)
    if kind < 0.75:
        return pattern(chance, depth - 1) + chance.choice(COUNTS)
    if kind < 0.83:
        return pattern(chance, depth - 1) + "|" + pattern(chance, depth - 1)
    return "".join(pattern(chance, depth - 1) for _ in range(chance.randint(2, 4)))


def krmfile(text: str) -> str:
    return (
        "openAPI:\n  definitions:\n    io.k8s.cli.setters.V:\n      type: string\n"
        f"      pattern: {json.dumps(text, ensure_ascii=False)}\n"
        '      x-k8s-cli: {setter: {name: V, value: "0"}}\n'
    )


def test_any_pattern_means_what_it_means_to_the_real_program(cfg3: Cfg, tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text('x: 0 # {"$openapi":"V"}\n')
    chance = random.Random(12)
    valid = 0
    for _ in range(EXAMPLES):
        text, value = pattern(chance, chance.randint(0, 4)), chance.choice(VALUES)
        if "too large" in regexp.fault(text):  # where our bound is lower
            continue
        (tmp_path / "Krmfile").write_text(krmfile(text), "utf-8")
        done = cfg3("set", ".", "V", value, cwd=tmp_path)
        setter = read_krmfile(PackageFiles(krmfile(text).encode(), {})).definitions.setters["V"]
        valid += not regexp.fault(text)
        assert (done.returncode == 0) is not is_refused(setter, [value], as_kustomize=True), (text, value, done.stderr)
    assert valid > EXAMPLES / 4


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        *((text, not says) for text, says in judged.cases("patterns-faults")),
        ("a" * 5000, False),
    ],
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
def test_no_pattern_of_a_definition_or_a_rule_keeps_a_verb_busy(tmp_path: Path, verb: str) -> None:
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
    rules = "".join(
        f"- rule: {json.dumps(f'''A0 == '' || '{'a' * 60}!'.matches('{text}')''')}\n  message: x\n"
        for text in HOSTILE
        if len(text) < 1000
    )
    (tmp_path / "Krmfile").write_text(f"openAPI:\n  definitions:\n{definitions}rules:\n{rules}")
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
    for text, imported in ((krmfile("a"), "True"), (krmfile("a").replace("pattern", "title"), "False")):
        (tmp_path / "Krmfile").write_text(text)
        command = [sys.executable, "-c", code, "set", ".", "V=a"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == imported, done.stderr
