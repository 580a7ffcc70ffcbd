"""What fits together in an expression: a type for each of its parts, before any value is there."""

from __future__ import annotations

from collections.abc import Mapping

from packyard.core.errors import suggest
from packyard.using.setters import regexp
from packyard.using.setters.rules.expression import Expression, ExpressionError
from packyard.using.setters.rules.signatures import NUMBERS, ORDER, SIGNATURES

_WORDS = {
    "int": "a whole number",
    "double": "a number with a fraction",
    "bool": "true or false",
    "string": "a text",
    "quantity": "a quantity",
}


def check(expression: Expression, types: Mapping[str, str]) -> str:
    """Return the type of an expression whose names have these types, or raise `ExpressionError`."""
    operator, position = expression.operator, expression.position
    if operator == "literal":
        return {bool: "bool", int: "int", float: "double"}.get(type(expression.value), "string")
    if operator == "name":
        if expression.value not in types:
            raise ExpressionError(f"there is no setter {expression.value}", position, suggest(expression.value, types))
        return types[expression.value]
    if operator == "has":
        if [argument.operator for argument in expression.arguments] != ["name"]:
            raise ExpressionError("has takes the name of one setter", position)
        check(expression.arguments[0], types)
        return "bool"
    kinds = tuple(check(argument, types) for argument in expression.arguments)
    if operator == "list":
        if len(set(kinds)) != 1 or kinds[0] not in ("int", "double", "string"):
            raise ExpressionError("a list holds texts, or numbers of one kind, at least one", position)
        return f"list of {kinds[0]}"
    result = dict(SIGNATURES[operator]).get(kinds)
    if result is None:
        raise _misfit(operator, kinds, position)
    if operator == "matches":
        _check_pattern(expression.arguments[1])
    return result


def _misfit(operator: str, kinds: tuple[str, ...], position: int) -> ExpressionError:
    described = " and ".join(_WORDS.get(kind, f"a {kind}") for kind in kinds) or "nothing"
    hint = ""
    if "string" in kinds and operator in (*ORDER, "+", "-", "*", "/", "%"):
        hint = "quantity(NAME) reads an amount; a definition's type: integer makes a number"
    elif set(kinds) == set(NUMBERS):
        hint = "double(NAME) makes a whole number fit"
    return ExpressionError(f"{'-' if operator == 'negate' else operator} does not take {described}", position, hint)


def _check_pattern(pattern: Expression) -> None:
    if pattern.operator != "literal":
        raise ExpressionError("matches takes a pattern that is written out", pattern.position)
    fault = regexp.fault(pattern.value)
    if fault:
        raise ExpressionError(f"the pattern is wrong: {fault}", pattern.position)
