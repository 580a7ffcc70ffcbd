"""What a checked expression is for some values."""

from __future__ import annotations

import re

from packyard.setters.rules import quantity
from packyard.setters.rules.expression import Expression
from packyard.setters.value import matches

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class UndecidedError(Exception):
    """A number that the answer depends on has no value."""


class AnswerError(Exception):
    """There is no answer for these values: a division by zero, a text that is no quantity."""


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
    given = [evaluate(argument, values) for argument in arguments]
    if operator == "list":
        return tuple(given)
    try:
        return _OPERATIONS[operator](*given)
    except (ZeroDivisionError, OverflowError) as error:
        raise AnswerError(f"{operator} has no answer for {' and '.join(map(str, given))}") from error


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
    found = quantity.parse(text)
    if found is None:
        raise AnswerError(f"{text!r} is no quantity")
    return found


def _int(value: Any) -> int:
    if isinstance(value, str) and not re.fullmatch(r"[-+]?[0-9]+", value):
        raise AnswerError(f"{value!r} is no whole number")
    return int(value)


def _double(value: Any) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise AnswerError(f"{value!r} is no number") from error


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
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
    "matches": lambda text, pattern: matches(pattern, text),
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text,
    "quantity": _quantity,
    "int": _int,
    "double": _double,
}
