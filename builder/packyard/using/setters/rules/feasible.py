"""Whether any values can satisfy a rule: a proof that none can, or nothing.

Every combination of enumerated values, booleans and short ranges of whole numbers is tried; other numbers are the
interval between their bounds, texts of at most so many characters have that size, all else may be anything. So a rule
that is said never to hold never does; one that nobody can keep for another reason, such as one equation that asks too
much of two names, may go unnoticed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product

from packyard.using.setters.definition import Setter, full_type
from packyard.using.setters.exact import is_number
from packyard.using.setters.rules.evaluation import AnswerError, UndecidedError, evaluate
from packyard.using.setters.rules.expression import Expression
from packyard.using.setters.rules.rule import Rule, typed
from packyard.using.setters.rules.signatures import ORDER

_MOST_COMBINATIONS = 4096
_MOST_WORK = 40_000  # combinations times parts of the expression
_LONGEST_RANGE = 64

#: What a part of an expression may be: these truth values, a number between two bounds, or (None) anything.
_Reach = frozenset[bool] | tuple[float, float] | None
_EITHER: frozenset[bool] = frozenset((True, False))


def can_hold(rule: Rule, setters: Mapping[str, Setter]) -> bool:
    """Say whether some values may satisfy a rule that fits these setters; False is a proof that none do."""
    involved = {name: setters[name] for name in rule.names}
    parts = list(_parts(rule.expression))
    tested = {part.arguments[0].value for part in parts if part.operator == "has"}
    for fixed in _combinations(involved, tested, min(_MOST_COMBINATIONS, _MOST_WORK // len(parts))):
        if _may_be_true(_reach(rule.expression, fixed, involved)):
            return True
    return False


def _may_be_true(reach: _Reach) -> bool:
    return not isinstance(reach, frozenset) or True in reach


def _parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    for argument in expression.arguments:
        yield from _parts(argument)


def _combinations(involved: Mapping[str, Setter], tested: set[str], most: int) -> Iterator[dict[str, object]]:
    """Yield every combination of the values of the setters that have few, as far as there are not too many.

    For those that ``has`` is asked about having no value is a case of its own.
    """
    chosen: dict[str, list[object]] = {}
    size = 1
    few = {name: _values(setter) for name, setter in involved.items()}
    for name, values in sorted(few.items(), key=lambda pair: len(pair[1])):
        if values and name in tested:
            values = [*values, None]
        if values and size * len(values) <= most:
            chosen[name] = values
            size *= len(values)
    for combination in product(*chosen.values()):
        yield dict(zip(chosen, combination, strict=True))


def _values(setter: Setter) -> list[object]:
    """Return all values that a setter can have, or nothing where they are too many."""
    if setter.is_list:
        return []
    if setter.enum_values:
        return [typed(setter, text) for text in setter.enum_values]
    listed = setter.schema.get("enum")
    if isinstance(listed, list):
        return [typed(setter, value if isinstance(value, str) else str(value).lower()) for value in listed]
    if full_type(setter.type) == "boolean":
        return [False, True]
    low, high = _bounds(setter)
    if full_type(setter.type) == "integer" and 0 <= high - low < _LONGEST_RANGE:
        return list(range(math.ceil(low), math.floor(high) + 1))
    return []


def _bounds(setter: Setter) -> tuple[float, float]:
    low, high = setter.schema.get("minimum"), setter.schema.get("maximum")
    return (low if is_number(low) else -math.inf, high if is_number(high) else math.inf)


def _reach(expression: Expression, fixed: Mapping[str, object], setters: Mapping[str, Setter]) -> _Reach:
    operator = expression.operator
    if all(name.value in fixed for name in expression.names()):
        return _exactly(expression, fixed)
    if operator == "name":
        setter = setters[expression.value]
        return _bounds(setter) if full_type(setter.type) in ("integer", "number") else None
    if operator == "size":
        return _sizes(expression.arguments[0], setters)
    parts = [_reach(argument, fixed, setters) for argument in expression.arguments]
    if operator in ("&&", "||", "!"):
        return _logic(operator, parts)
    if operator == "?:":
        return _choice(*parts)
    if operator in ("==", "!=", *ORDER):
        return _comparison(operator, *parts)
    if operator in ("+", "-", "*", "negate"):
        return _arithmetic(operator, parts)
    return None


def _exactly(expression: Expression, fixed: Mapping[str, object]) -> _Reach:
    try:
        value = evaluate(expression, fixed)
    except AnswerError:
        return frozenset()
    except UndecidedError:
        return _EITHER
    if isinstance(value, bool):
        return frozenset((value,))
    return (value, value) if isinstance(value, int | float) else None


def _sizes(argument: Expression, setters: Mapping[str, Setter]) -> _Reach:
    schema = setters[argument.value].schema if argument.operator == "name" else {}
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    return (shortest if isinstance(shortest, int) else 0, longest if isinstance(longest, int) else math.inf)


def _truths(reach: _Reach) -> frozenset[bool]:
    return reach if isinstance(reach, frozenset) else _EITHER


def _logic(operator: str, parts: list[_Reach]) -> frozenset[bool]:
    sides = [_truths(part) for part in parts]
    if operator == "!":
        return frozenset(not value for value in sides[0])
    decisive = operator == "||"
    truths = {decisive} if any(decisive in side for side in sides) else set()
    return frozenset(truths | ({not decisive} if all((not decisive) in side for side in sides) else set()))


def _choice(condition: _Reach, then: _Reach, other: _Reach) -> _Reach:
    reached = [part for truth, part in ((True, then), (False, other)) if truth in _truths(condition)]
    if len(reached) == 1:
        return reached[0]
    if all(isinstance(part, frozenset) for part in reached):
        return frozenset().union(*(_truths(part) for part in reached))
    return None


def _comparison(operator: str, one: _Reach, other: _Reach) -> frozenset[bool]:
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return _EITHER
    if operator in (">", ">="):
        return _comparison(operator.replace(">", "<"), other, one)
    if operator == "<":
        may, may_not = one[0] < other[1], one[1] >= other[0]
    elif operator == "<=":
        may, may_not = one[0] <= other[1], one[1] > other[0]
    else:
        may, may_not = one[0] <= other[1] and other[0] <= one[1], not one[0] == one[1] == other[0] == other[1]
        if operator == "!=":
            may, may_not = may_not, may
    return frozenset(value for value, is_possible in ((True, may), (False, may_not)) if is_possible)


def _arithmetic(operator: str, parts: list[_Reach]) -> _Reach:
    numbers = [part for part in parts if isinstance(part, tuple)]
    if len(numbers) != len(parts):
        return None
    if operator == "negate":
        return (-numbers[0][1], -numbers[0][0])
    one, other = numbers
    if operator == "+":
        return (one[0] + other[0], one[1] + other[1])
    if operator == "-":
        return (one[0] - other[1], one[1] - other[0])
    ends = [0 if a == 0 or b == 0 else a * b for a in one for b in other]
    return (min(ends), max(ends))
