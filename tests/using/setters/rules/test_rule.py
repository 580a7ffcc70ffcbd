"""Rules of a Krmfile: what is read, when they hold, and what is said where they do not."""

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.core.yaml.node import Source
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules.rule import find_broken, read
from using.setters import judged

DEFINITIONS = tiny.text("rules/definitions.yaml")


def krmfile(rules: str) -> Krmfile:
    return Krmfile(Source("Krmfile", f"{rules}\n{DEFINITIONS}"))


def problems(rules: str) -> list[str]:
    found = krmfile(rules)
    try:
        return [str(problem) for problem in find_broken(found.root, found.definitions.setters)]
    except InputError as error:
        return [str(problem) for problem in error.problems]


def one(rule: str) -> str:
    return f"rules:\n- rule: {rule}\n  message: That is so."


@pytest.mark.parametrize(("rule", "holds"), judged.cases("rules"))
def test_a_rule_holds_is_broken_or_waits_for_what_is_required(rule: str, holds: bool | None) -> None:
    found = krmfile(one(rule))
    (only,) = read(found.root)
    assert only.misfit(found.definitions.setters) is None
    assert only.holds(found.definitions.setters) is holds
    assert (only.broken(found.definitions.setters) is None) == (holds is not False)


AMOUNT = "(quantity(NAME) reads an amount; a definition's type: integer makes a number)"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("rules: yes", "1:8: rules must be a list of {rule: …, message: …}"),
        ("rules:\n- N > M", "2:3: rules: must be a mapping"),
        ("rules:\n- rule: N > M", "2:3: rules.message: is missing"),
        ("rules:\n- rule: ''\n  message: M", "2:9: rules.rule: is empty"),
        (f"{one('N > M')}\n  mesage: x", "4:3: rules.mesage: is not a known key (did you mean 'message'?)"),
        (one("1 < 2"), "2:9: the rule 1 < 2 names no setter"),
        (one("N > MM"), "2:13: rule: there is no setter MM (did you mean 'M'?)"),
        (one("N <> M"), "2:12: rule: '>' is not expected here"),
        (one('"N > TEXT"'), f"2:12: rule: > does not take a whole number and a text {AMOUNT}"),
        (one("N + M"), "2:9: the rule N + M must be true or false: it compares nothing"),
        (
            "rules:\n- message: x\n  rule: |\n    N\n    > TEXT",
            f"3:9: rule: > does not take a whole number and a text {AMOUNT}",
        ),
    ],
)
def test_a_bad_rule_is_refused_by_its_place(rules: str, expected: str) -> None:
    assert problems(rules) == [f"Krmfile:{expected}"]
