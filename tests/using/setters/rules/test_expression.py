"""The language of rules: what expressions mean, and what is wrong with those that mean nothing."""

from __future__ import annotations

from typing import Any

import pytest

from packyard.using.setters.rules.evaluation import OPERATIONS, AnswerError, UndecidedError, evaluate
from packyard.using.setters.rules.expression import ExpressionError, parse
from packyard.using.setters.rules.signatures import SIGNATURES
from packyard.using.setters.rules.types import check

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
    "LIST": ("a", "b"),
    "NONE": None,
    "BAD": AnswerError("'x' is not of type integer"),
}
TYPES = {
    **dict.fromkeys(("N", "M", "ZERO", "NONE", "BAD"), "int"),
    "RATE": "double",
    "YES": "bool",
    "NO": "bool",
    "LIST": "list of string",
    **dict.fromkeys(("TEXT", "EMPTY", "CPU", "MEMORY"), "string"),
}


def answer(text: str) -> Any:
    expression = parse(text)
    check(expression, TYPES)
    return evaluate(expression, VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N", 8),
        ("N + M * 2", 14),
        ("(N + M) * 2", 22),
        ("N - M - 1", 4),
        ("-N / M", -2),
        ("-N % M", -2),
        ("N % M == 2 && N / M == 2", True),
        ("0x10 + 1", 17),
        ("double(N) * RATE", 4.0),
        ("int(RATE * 3.0)", 1),
        ("int('-12') + 1", -11),
        ("N > RATE && RATE < N", True),
        ("N <= 8 && N >= 8 && !(N < 8) && N != 9", True),
        ("YES && !NO", True),
        ("NO || YES", True),
        ("!NO == YES", True),
        ("YES ? N : M", 8),
        ("NO ? 1 : YES ? 2 : 3", 2),
        ("TEXT == 'abc' && TEXT != \"abd\"", True),
        ("TEXT + '-' + TEXT", "abc-abc"),
        ("size(TEXT) == 3 && TEXT.size() == 3 && size(LIST) == 2", True),
        ("TEXT.startsWith('ab') && TEXT.endsWith('bc') && TEXT.contains('b')", True),
        (r"TEXT.matches('^a.c$') && !matches(TEXT, r'\d')", True),
        ("TEXT in ['x', 'abc'] && !(N in [1, 2]) && 'a' in LIST", True),
        ("quantity(CPU) < quantity('2') && quantity(MEMORY) == quantity('2048Mi')", True),
        ("quantity(CPU) * 2 == quantity('3') && quantity(CPU) + quantity('500m') == quantity('2')", True),
        ("has(N) && has(TEXT) && has(LIST) && !has(EMPTY) && !has(NONE)", True),
        (r"'it\'s' == " + '"it\'s"', True),
        ("\n N\n >= 1 ", True),
    ],
)
def test_an_expression_is(text: str, expected: object) -> None:
    found = answer(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", ["NO && NONE > 1", "NONE > 1 && NO", "NO && BAD > 1", "N / ZERO > 1 && NO"])
def test_a_side_that_decides_makes_up_for_one_that_has_no_answer(text: str) -> None:
    assert answer(text) is False
    assert answer(f"!({text}) || NONE > 1") is True


@pytest.mark.parametrize("text", ["NONE > 1", "NONE > 1 || NO", "NONE > 1 && YES", "NONE > 1 ? YES : YES"])
def test_a_number_without_a_value_leaves_it_undecided(text: str) -> None:
    with pytest.raises(UndecidedError):
        answer(text)


@pytest.mark.parametrize("text", ["N / ZERO", "N % ZERO", "BAD", "quantity(TEXT)", "int(TEXT)", "double(TEXT)"])
def test_there_may_be_no_answer(text: str) -> None:
    with pytest.raises(AnswerError):
        answer(text)


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 0, "a value is expected here, not the end"),
        ("N >", 3, "a value is expected here, not the end"),
        ("N = 1", 2, "'=' is not expected"),
        ("N > 1 M", 6, "'M' is not expected here"),
        ("(N > 1", 6, "')' is expected here, not the end"),
        ("N ? M", 5, "':' is expected here"),
        ("N in [1, 2", 10, "',' is expected here"),
        ("'abc", 0, '"\'" is not expected'),
        (r"'a\q'", 2, "is not a known escape"),
        ("upper(TEXT)", 0, "no function 'upper'"),
        ("TEXT.size", 9, "'(' is expected here"),
        ("TEXT.upper()", 5, "no function 'upper'"),
        ("N > OTHER", 4, "there is no setter OTHER"),
        ("TEXT <= CPU", 5, "<= does not take a text and a text"),
        ("N == TEXT", 2, "== does not take a whole number and a text"),
        ("N == RATE", 2, "== does not take a whole number and a number with a fraction"),
        ("N * RATE", 2, "* does not take a whole number and a number with a fraction"),
        ("-TEXT", 0, "- does not take a text"),
        ("!N", 0, "! does not take a whole number"),
        ("N && YES", 2, "&& does not take a whole number and true or false"),
        ("1 < N < 9", 6, "< does not take true or false and a whole number"),
        ("YES ? N : TEXT", 4, "?: does not take"),
        ("has(N > 1)", 0, "has takes the name of one setter"),
        ("has()", 0, "has takes the name of one setter"),
        ("N in [1, 'a']", 5, "a list holds texts, or numbers of one kind"),
        ("N in []", 5, "a list holds texts"),
        ("size(TEXT, N)", 0, "size does not take a text and a whole number"),
        ("TEXT.matches(CPU)", 13, "a pattern that is written out"),
        ("TEXT.matches('(')", 13, "the pattern is wrong"),
        ("(" * 60 + "N" + ")" * 60, 40, "too deep"),
        ("!" * 60 + "YES", 20, "too deep"),
        (" + ".join(["N"] * 60) + " > 1", 158, "too deep"),
        ("YES ? 1 : " * 60 + "1", 400, "too deep"),
        ("N" * 3000, 0, "longer than 2000"),
    ],
)
def test_says_what_is_wrong_and_where(text: str, position: int, says: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        check(parse(text), TYPES)
    assert says in raised.value.message
    assert raised.value.position == position


def test_names_are_those_of_setters_alone() -> None:
    assert [name.value for name in parse("has(A) ? size(B) > 1 : C in [D, 'E'] && true").names()] == [
        "A",
        "B",
        "C",
        "D",
    ]


def test_each_operator_and_function_has_types_and_code() -> None:
    assert set(SIGNATURES) == {*OPERATIONS, "&&", "||", "?:"}  # of these not every argument is evaluated
