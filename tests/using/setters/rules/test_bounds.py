"""Rules that strangers wrote: whatever they say, they are answered or refused soon."""

from __future__ import annotations

import random

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml.node import Source
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules.expression import ExpressionError, parse
from packyard.using.setters.rules.review import review
from packyard.using.setters.rules.rule import find_broken, read
from sample import tries

EXAMPLES = tries(400)

DEFINITIONS = """\
openAPI:
  definitions:
    io.k8s.cli.setters.N: {type: integer, x-k8s-cli: {setter: {name: N, value: "9223372036854775807"}}}
    io.k8s.cli.setters.D: {type: number, x-k8s-cli: {setter: {name: D, value: ".nan"}}}
    io.k8s.cli.setters.T: {x-k8s-cli: {setter: {name: T, value: "TEXT"}}}
    io.k8s.cli.setters.B: {type: boolean, x-k8s-cli: {setter: {name: B, value: "true"}}}
    io.k8s.cli.setters.L: {type: array, x-k8s-cli: {setter: {name: L, listValues: [a, b]}}}
""".replace("TEXT", "9" * 5000)

LEAVES = ["N", "D", "T", "B", "L", "0", "1", "9223372036854775807", "1.5", "1e308", "0x7fffffffffffffff", "'a'", "true"]
FORMS = [
    *("(% + %)", "(% - %)", "(% * %)", "(% / %)", "(-%)", "(!%)", "(% ? % : %)"),
    *("(% == %)", "(% < %)", "(% && %)", "(% || %)", "(% in [%, %])", "int(%)", "double(%)", "quantity(%)", "size(%)"),
    *("%.matches('(a|aa)+$')", "%.matches('^(a+)+$')", "%.startsWith(%)", "%.contains(%)", "has(%)", "[%]"),
]


def expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(LEAVES)
    parts = chance.choice(FORMS).split("%")
    return "".join(
        part + (expression(chance, depth - 1) if index < len(parts) - 1 else "") for index, part in enumerate(parts)
    )


def outcome(rule: str) -> list[str]:
    """Return what is wrong with a rule for the values and for any values."""
    krmfile = Krmfile(Source("Krmfile", f"rules:\n- rule: |-\n    {rule}\n  message: x\n{DEFINITIONS}"))
    setters = krmfile.definitions.setters
    try:
        found = [str(problem) for problem in find_broken(krmfile.root, setters)]
        return found + [str(problem) for item in read(krmfile.root) for _, problem in review(item, setters)]
    except InputError as error:
        return [str(error)]


def test_any_rule_has_an_answer_or_a_problem() -> None:
    chance = random.Random(58)
    answered = 0
    for _ in range(EXAMPLES):
        found = outcome(expression(chance, chance.randint(1, 6)))
        answered += not found
        assert all(len(text) < 2000 for text in found)
    assert answered


@pytest.mark.parametrize(
    "rule",
    [
        *("(" * 990 + "N" + ")" * 990 + " > 0", "!" * 1990 + "B", "-" * 1900 + "N > 0", "[" * 990 + "N" + "]" * 990),
        *(
            "int(" * 400 + "N" + ")" * 400 + " > 0",
            "N" + ".size()" * 250 + " > 0",
            "N +" * 600 + " 1",
        ),
        *("B" + " || B" * 390, "B" + " && !B" * 300, "N == " + "9" * 1900, "D < 1e400", "N < 0x" + "f" * 1500),
    ],
)
def test_deep_long_and_large_rules_are_refused_by_name(rule: str) -> None:
    with pytest.raises(ExpressionError, match=r"too deep|not fit into 64 bits|longer than 2000|is not expected here"):
        parse(rule)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("int(D) > 0", "int has no answer for nan"),
        ("int(D / 0.0) > 0", "/ has no answer for nan and 0.0"),
        ("int(1e308) > 0 && N > 0", "int has no answer for 1e+308"),
        ("int(T) > 0", "is not a whole number of 64 bits"),
        ("quantity(T) > quantity('1')", "is not a quantity"),
        ("N" + " * N" * 30 + " > 0", "* has no answer for"),
        ("double('1_0') > 1.0 && N > 0", "'1_0' is not a number"),
        ("N % 0 == 1", "% has no answer for 9223372036854775807 and 0"),
    ],
)
def test_what_has_no_answer_breaks_the_rule(rule: str, says: str) -> None:
    found = outcome(rule)
    assert any(says in text for text in found)


def test_texts_that_double_have_a_bound() -> None:
    found = outcome("+".join(["T"] * 38) + " == ''")
    assert found
    doubling = "T"
    for _ in range(8):
        doubling = f"({doubling}+{doubling})"
    assert len(doubling) < 2000
    assert any("+ has no answer for" in text for text in outcome(f"{doubling} == ''"))


def test_a_krmfile_has_a_hundred_rules_at_most() -> None:
    rules = "- {rule: N > 0, message: x}\n"
    assert len(read(Krmfile(Source("Krmfile", f"rules:\n{rules * 100}{DEFINITIONS}")).root)) == 100
    with pytest.raises(InputError, match=r"Krmfile:2:1: a Krmfile has at most 100 rules, found 101"):
        read(Krmfile(Source("Krmfile", f"rules:\n{rules * 101}{DEFINITIONS}")).root)
