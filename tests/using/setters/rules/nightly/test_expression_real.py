"""Expressions judged by the API server's own CEL: what we accept it accepts, and answers the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def differences(texts: list[str], ask: Callable[[list[str]], list[dict[str, object]]]) -> list[object]:
    found = [(text, ours(text), answer) for text, answer in zip(texts, ask(texts), strict=True)]
    return [item for item in found if item[1] and item[1] != item[2]]


def test_examples_are_answered_as_the_api_server_answers(ask: Callable[[list[str]], list[dict[str, object]]]) -> None:
    texts = [
        *("N == RATE", "N < RATE", "N + RATE", "N ? 1 : 2", "TEXT.size", "upper(TEXT)", "N = 1", "'a"),
        *("startsWith(TEXT, 'a')", "N.quantity()", "-N % M", "-N / M", "NO && N / ZERO > 1", "N / ZERO > 1 || YES"),
        *("1 < N < 9", "YES == NO == NO", "!YES == NO", "-N.size()", "1.5.size()", "true ? N : 1"),
        *("TEXT.contains('b') ? N : M + 1", "N - M - 1", "N / M * M", "2 * N % M", r"'\q'", r"'\\' == r'\'"),
        *("YES ? 1 : NO ? 2 : 3", "(YES ? YES : NO) ? 1 : 2", "YES || NO && NO", "N + M == 11 && TEXT == 'abc'"),
    ]
    assert differences(texts, ask) == []
