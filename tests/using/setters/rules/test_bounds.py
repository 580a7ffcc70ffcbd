"""Rules that strangers wrote: whatever they say, they are answered or refused soon."""

import random

import pytest

from packyard.core.errors import InputError
from packyard.core.yaml.node import Source
from packyard.using.setters.krmfile import Krmfile
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
""".replace("TEXT", "9" * 70_000)

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
        return found + [str(problem) for item in read(krmfile.root) for _, problem in item.review(setters)]
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
    ("rule", "says"),
    [
        ("(" * 990 + "N" + ")" * 990 + " > 0", "too deep"),
        ("N +" * 600 + " 1", "too deep"),
        ("int(" * 300 + "N" + ")" * 300 + " > 0", "too deep"),
        ("N > " + "0" * 2000, "longer than 2000"),
        ("N < 0x" + "f" * 1500, "invalid hex int literal"),
        ("[1, 2].all(x, x < N)", "no setter x"),
        ("[N].map(N, N) == [N]", "no function 'map'"),
        ("int(D) > 0", "out of int64 range"),
        ("int(1e308) > 0 && N > 0", "out of int64 range"),
        ("N * N > 0", "overflow"),
        ("quantity('x') > 1 && N > 0", "'x' is not a quantity"),
        ("N % 0 == 1", "modulus by zero"),
        ("T == T", "T is longer than 65536 characters"),
        (f"'{'a' * 60}!'.matches('^{'(a*)*' * 200}$') && N > 0", "the rule is"),
    ],
)
def test_a_rule_of_any_length_is_answered_or_refused(rule: str, says: str) -> None:
    assert any(says in text for text in outcome(rule))


def test_a_krmfile_has_a_hundred_rules_at_most() -> None:
    rules = "- {rule: N > 0, message: x}\n"
    assert len(read(Krmfile(Source("Krmfile", f"rules:\n{rules * 100}{DEFINITIONS}")).root)) == 100
    with pytest.raises(InputError, match=r"Krmfile:2:1: a Krmfile has at most 100 rules, found 101"):
        read(Krmfile(Source("Krmfile", f"rules:\n{rules * 101}{DEFINITIONS}")).root)
