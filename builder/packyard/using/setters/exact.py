"""Numbers compared as decimals, as they are written: 0.3 is a multiple of 0.1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from decimal import Decimal

#: The most that a whole number of 32 bits can be, as Kubernetes has for replicas and for users.
LIMIT = (1 << 31) - 1
_LONGEST = 400  # characters of a number, which is rounded as a float beyond


def is_number(value: object) -> TypeGuard[int | float]:
    """Say whether a keyword's value is a number that others can be compared with."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value)
    )


def without_limit(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return a definition without a maximum that is the limit of Kubernetes, which few readers need to know."""
    return {key: value for key, value in schema.items() if key != "maximum" or value != LIMIT}


def is_within(value: float, text: str, bound: float, *, most: bool, exclusive: bool) -> bool:
    """Say whether a number is not beyond a bound, the highest or the lowest; nan is beyond every bound."""
    if math.isnan(value):
        return False
    number, limit = _exact(value, text), _exact(bound)
    return (number == limit and not exclusive) or (number < limit if most else number > limit)


def is_multiple(value: float, text: str, step: float) -> bool:
    """Say whether a number is a multiple of another, which is more than zero."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    if not math.isfinite(value):
        return False
    from decimal import Context

    return Context(prec=2000).remainder(_decimal(value, text), _decimal(step)) == 0


def _exact(value: float, text: str = "") -> int | Decimal:
    return value if isinstance(value, int) else _decimal(value, text)


def _decimal(value: float, text: str = "") -> Decimal:
    """Return the number that a text states, or that a float is written as."""
    from decimal import Decimal  # slow to import, and seldom asked for

    written = isinstance(value, float) and math.isfinite(value) and 0 < len(text) <= _LONGEST and value != 0
    return Decimal(text.replace("_", "") if written else repr(value))
