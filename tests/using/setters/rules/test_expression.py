"""The language of rules: what expressions mean, and what is wrong with those that mean nothing."""

from typing import Any

import pytest

from packyard.using.setters.rules import expression
from packyard.using.setters.rules.expression import AnswerError, ExpressionError, UndecidedError
from using.setters import judged

VALUES: dict[str, Any] = {
    "N": 8,
    "M": 3,
    "ZERO": 0,
    "RATE": 0.5,
    "YES": True,
    "NO": False,
    "TEXT": "abc",
    "EMPTY": "",
    "CPU": "1500m",
    "MEMORY": "2Gi",
    "LIST": ["a", "b"],
    "NONE": None,
    "BAD": "x",
}
TYPES = {
    **dict.fromkeys(("N", "M", "ZERO", "NONE", "BAD"), "int"),
    "RATE": "double",
    "YES": "bool",
    "NO": "bool",
    "LIST": "list<string>",
    **dict.fromkeys(("TEXT", "EMPTY", "CPU", "MEMORY"), "string"),
}


def answer(text: str) -> Any:
    names = {name for name, _ in expression.names(text)}
    types = {name: TYPES[name] for name in names}
    expression.check(text, types)
    return expression.evaluate(text, types, {name: VALUES[name] for name in names})


@pytest.mark.parametrize(("text", "expected"), judged.cases("expressions"))
def test_an_expression_is(text: str, expected: object) -> None:
    found = answer(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", judged.cases("expressions-decided"))
def test_a_side_that_decides_makes_up_for_one_that_has_no_answer(text: str) -> None:
    assert answer(text) is False
    assert answer(f"!({text}) || NONE > 1") is True


@pytest.mark.parametrize("text", judged.cases("expressions-undecided"))
def test_a_number_without_a_value_leaves_it_undecided(text: str) -> None:
    with pytest.raises(UndecidedError):
        answer(text)


@pytest.mark.parametrize("text", judged.cases("expressions-without-answer"))
def test_there_may_be_no_answer(text: str) -> None:
    with pytest.raises(AnswerError):
        answer(text)


@pytest.mark.parametrize(("text", "position", "says"), judged.cases("expressions-wrong"))
def test_says_what_is_wrong_and_where(text: str, position: int, says: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression.check(text, TYPES)
    assert says in raised.value.message
    assert raised.value.position == position


def test_names_are_those_of_setters_alone() -> None:
    text = "has(A) ? size(B) > 1 : C in [D, 'E'] && true && F.startsWith('G')"
    assert [name for name, _ in expression.names(text)] == ["A", "B", "C", "D", "F"]
