"""Expressions judged by the API server's own CEL: what we accept it accepts, and answers the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packyard.using.setters.rules.evaluation import AnswerError, evaluate
from packyard.using.setters.rules.expression import ExpressionError, parse
from packyard.using.setters.rules.types import check

VALUES: dict[str, Any] = {
    "N": 8,
    "M": 3,
    "ZERO": 0,
    "MINUS": -7,
    "RATE": 0.5,
    "HALF": -2.5,
    "YES": True,
    "NO": False,
    "TEXT": "abc",
    "EMPTY": "",
    "CPU": "1500m",
    "MEMORY": "2Gi",
    "NUMBER": "12",
}
KINDS = {int: "int", float: "double", bool: "bool", str: "string"}
TYPES = {name: KINDS[type(value)] for name, value in VALUES.items()}

#: An expression as we write it, and as CEL does.
Pair = tuple[str, str]
Strategy = st.SearchStrategy[Pair]


def alike(*texts: str) -> Strategy:
    return st.sampled_from(texts).map(lambda text: (text, text))


def join(pattern: str, *parts: Strategy) -> Strategy:
    """Put expressions for the ``@`` of a pattern, in brackets or, where precedence then decides, without."""

    def put(drawn: tuple[tuple[Pair, bool], ...]) -> Pair:
        ours = theirs = pattern
        for (one, other), is_bare in drawn:
            ours = ours.replace("@", one if is_bare else f"({one})", 1)
            theirs = theirs.replace("@", other if is_bare else f"({other})", 1)
        return ours, theirs

    return st.tuples(*(st.tuples(part, st.booleans()) for part in parts)).map(put)


def rewritten(ours: str, theirs: str, *parts: Strategy) -> Strategy:
    """Put expressions, in brackets, for the ``{0}`` of two patterns: where our spelling is not CEL's."""

    def put(drawn: tuple[Pair, ...]) -> Pair:
        return ours.format(*(one for one, _ in drawn)), theirs.format(*(other for _, other in drawn))

    return st.tuples(*parts).map(put)


def among(operators: str, *parts: Strategy) -> Strategy:
    return st.sampled_from(operators.split()).flatmap(lambda operator: join(f"@ {operator} @", *parts))


def compared(order: str, quantity: Strategy) -> Strategy:
    return rewritten(f"({{0}} {order} {{1}})", f"({{0}}.compareTo({{1}}) {order} 0)", quantity, quantity)


ORDERS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
PARTS = st.sampled_from(("startsWith", "endsWith", "contains"))


class Grammar(NamedTuple):
    """Expressions of each type."""

    text: Strategy
    whole: Strategy
    double: Strategy
    quantity: Strategy
    condition: Strategy

    def deeper(self) -> Grammar:
        """Return these expressions, and what can be made of two or three of them."""
        text, whole, double, quantity, condition = self
        number = whole | double
        return Grammar(
            text=text | join("@ + @", text, text) | join("@ ? @ : @", condition, text, text),
            whole=whole
            | among("+ - * / %", whole, whole)
            | join("size(@)", text)
            | join("(@).size()", text)
            | join("int(@)", double)
            | join("-(@)", whole)
            | join("@ ? @ : @", condition, whole, whole),
            double=double | among("+ - *", double, double) | join("double(@)", whole),
            quantity=quantity
            | rewritten("({0} + {1})", "{0}.add({1})", quantity, quantity)
            | rewritten("({0} - {1})", "{0}.sub({1})", quantity, quantity),
            condition=condition
            | among("< <= > >= == !=", whole, whole)
            | among("< <= > >=", number, number)
            | among("== !=", text, text)
            | among("&& || == !=", condition, condition)
            | ORDERS.flatmap(lambda order: compared(order, quantity))
            | PARTS.flatmap(lambda name: join(f"(@).{name}(@)", text, text))
            | join("!(@)", condition)
            | join("!@", condition)
            | join("@ in [@, @]", whole, whole, whole)
            | join("@ in [@, 'abc']", text, text)
            | join("@ ? @ : @", condition, condition, condition),
        )


LEAVES = Grammar(
    text=alike("TEXT", "EMPTY", "CPU", "'abc'", '"a\\n\\"b"', r"r'\d'", r"'\\'"),
    whole=alike("N", "M", "ZERO", "MINUS", "1", "0x1F", "-2", "--3", "int(NUMBER)", "int(TEXT)", "int('+5')"),
    double=alike("RATE", "HALF", "1.5", "2e3", "-0.25", "double(NUMBER)", "double('1e2')", "double(TEXT)"),
    quantity=alike(*(f"quantity({text})" for text in ("CPU", "MEMORY", "TEXT", "'2'", "'1.5'", "'2048Mi'", "'1e3'"))),
    condition=alike("YES", "NO", "true", "false", "TEXT.matches('^a.c$')", r"matches(TEXT, r'\d')", "N / ZERO == 1")
    | rewritten("has({0})", "(size({0}) > 0)", alike("TEXT", "EMPTY")),
)
EXPRESSIONS = LEAVES.deeper().deeper().deeper()


def ours(text: str) -> dict[str, object]:
    try:
        expression = parse(text)
        check(expression, TYPES)
    except ExpressionError as error:
        # cel-go takes "!!" away before it looks at the type of what follows
        return {} if "too deep" in error.message or "!!" in text else {"error": "compile"}
    try:
        return {"value": evaluate(expression, VALUES)}
    except AnswerError:
        return {"error": "evaluate"}


@pytest.fixture(scope="module")
def ask(cel: Path) -> Callable[[list[str]], list[dict[str, object]]]:
    def answers(expressions: list[str]) -> list[dict[str, object]]:
        questions = ({"expression": text, "types": TYPES, "values": VALUES} for text in expressions)
        lines = "".join(f"{json.dumps(question)}\n" for question in questions)
        done = subprocess.run([cel], input=lines, capture_output=True, text=True, check=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return [
            {"error": str(item["error"]).partition(":")[0]} if "error" in item else {"value": item["value"]}
            for item in found
        ]

    return answers


def differences(pairs: list[Pair], ask: Callable[[list[str]], list[dict[str, object]]]) -> list[object]:
    answered = ask([theirs for _, theirs in pairs])
    found = [(pair, ours(pair[0]), answer) for pair, answer in zip(pairs, answered, strict=True)]
    return [item for item in found if item[1] and item[1] != item[2]]


def test_examples_are_answered_as_the_api_server_answers(ask: Callable[[list[str]], list[dict[str, object]]]) -> None:
    texts = [
        *("N == RATE", "N < RATE", "N + RATE", "N ? 1 : 2", "TEXT.size", "upper(TEXT)", "N = 1", "'a"),
        *("startsWith(TEXT, 'a')", "N.quantity()", "-N % M", "-N / M", "NO && N / ZERO > 1", "N / ZERO > 1 || YES"),
        *("1 < N < 9", "YES == NO == NO", "!YES == NO", "-N.size()", "1.5.size()", "true ? N : 1"),
        *("TEXT.contains('b') ? N : M + 1", "N - M - 1", "N / M * M", "2 * N % M", r"'\q'", r"'\\' == r'\'"),
        *("YES ? 1 : NO ? 2 : 3", "(YES ? YES : NO) ? 1 : 2", "YES || NO && NO", "N + M == 11 && TEXT == 'abc'"),
    ]
    assert differences([(text, text) for text in texts], ask) == []


@settings(max_examples=25)
@given(data=st.data())
def test_any_expression_is_answered_as_the_api_server_answers(
    data: st.DataObject, ask: Callable[[list[str]], list[dict[str, object]]]
) -> None:
    pairs = data.draw(
        st.lists(st.one_of(EXPRESSIONS.condition, EXPRESSIONS.whole, EXPRESSIONS.double), min_size=1, max_size=20)
    )
    assert differences(pairs, ask) == []
