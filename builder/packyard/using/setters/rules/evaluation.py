"""What a checked expression is for some values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from packyard.core.errors import shown
from packyard.core.kubernetes import quantity
from packyard.core.yaml.values import whole
from packyard.using.setters import regexp
from packyard.using.setters.rules.expression import Expression

_MOST = 1 << 200  # of a whole number, or of an amount
_LONGEST = 1 << 20  # characters of a text
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")


class UndecidedError(Exception):
    """A number that the answer depends on has no value."""


class AnswerError(Exception):
    """There is no answer for these values: a division by zero, a text that is not a quantity."""


def evaluate(expression: Expression, values: Mapping[str, object]) -> Any:
    """Return what a checked expression is for these values; None stands for a number or a boolean that has none.

    As in CEL ``&&`` and ``||`` look at both sides, so that one that decides makes up for one that cannot be answered.
    """
    operator, arguments = expression.operator, expression.arguments
    if operator == "literal":
        return expression.value
    if operator == "name":
        value = values[expression.value]
        if value is None:
            raise UndecidedError(expression.value)
        if isinstance(value, AnswerError):
            raise value
        return value
    if operator == "has":
        return values[arguments[0].value] not in (None, "", ())
    if operator == "?:":
        return evaluate(arguments[1] if evaluate(arguments[0], values) else arguments[2], values)
    if operator in ("&&", "||"):
        return _logic(operator == "||", arguments, values)
    operands = [evaluate(argument, values) for argument in arguments]
    if operator == "list":
        return tuple(operands)
    try:
        return _bounded(OPERATIONS[operator](*operands))
    except (ArithmeticError, ValueError) as error:
        raise AnswerError(
            f"{operator} has no answer for {' and '.join(shown(str(value)) for value in operands)}"
        ) from error


def _bounded(result: Any) -> Any:
    """Return a result, or raise if it is too large: values may come from anyone."""
    if isinstance(result, int) and abs(result) > _MOST:
        raise OverflowError
    if isinstance(result, str) and len(result) > _LONGEST:
        raise ValueError
    return result


def _logic(decisive: bool, arguments: tuple[Expression, ...], values: Mapping[str, object]) -> bool:
    unanswered: UndecidedError | AnswerError | None = None
    for argument in arguments:
        try:
            if evaluate(argument, values) == decisive:
                return decisive
        except (UndecidedError, AnswerError) as error:
            unanswered = unanswered or error
    if unanswered:
        raise unanswered
    return not decisive


def _divide(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        return one / other
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _quantity(text: str) -> int:
    amount = quantity.parse(text)
    if amount is None:
        raise AnswerError(f"{shown(text, quoted=True)} is not a quantity")
    return amount


def _int(value: Any) -> int:
    if not isinstance(value, str):
        return int(value)
    number = whole(value)
    if number is None:
        raise AnswerError(f"{shown(value, quoted=True)} is not a whole number of 64 bits")
    return number


def _double(value: Any) -> float:
    if isinstance(value, str) and not _FLOAT.match(value):
        raise AnswerError(f"{shown(value, quoted=True)} is not a number")
    return float(value)


def _matches(text: str, pattern: str) -> bool:
    try:
        return regexp.matches(pattern, text)
    except regexp.PatternError as error:
        raise AnswerError(f"the pattern {shown(pattern, quoted=True)} has no answer: {error}") from error


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "in": lambda one, other: one in other,
    "!": lambda one: not one,
    "negate": lambda one: -one,
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": _divide,
    "%": lambda one, other: one - other * _divide(one, other),
    "size": len,
    "matches": _matches,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text,
    "quantity": _quantity,
    "int": _int,
    "double": _double,
}
