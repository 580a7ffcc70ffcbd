"""Numbers, told from what other readers of YAML take for one.

Some readers of YAML take 010 for 8, others for 10, others for a text: a number is decimal digits.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TypeGuard

WHOLE = re.compile(r"0|-?[1-9][0-9]*")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_MOST_DIGITS = 19  # of a number of 64 bits
_LONGEST_MEANT = 40  # characters of what may have been meant for a number


def is_number(value: object) -> TypeGuard[int | float]:
    """Say whether a keyword's value is a number that others can be compared with."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def is_multiple(value: float, step: float) -> bool:
    """Say whether a number is a multiple of another, as both are written: 0.3 is one of 0.1."""
    from fractions import Fraction  # slow to import, and seldom asked for

    return math.isfinite(value) and Fraction(repr(value)) % Fraction(repr(step)) == 0


def is_too_large(text: str) -> bool:
    """Say whether a text is a whole number that no field of Kubernetes can hold."""
    return WHOLE.fullmatch(text) is not None and len(text.lstrip("-")) >= _MOST_DIGITS


def whole_number(text: str) -> str:
    """Return the whole number that a text was probably meant to be, in decimal digits; an empty text for others.

    ``010``, ``1e1``, ``0xa``, ``1_0``, ``10.0`` and ``+10`` are 10.
    """
    digits = text.strip()
    if len(digits) > _LONGEST_MEANT or not digits.isascii():
        return ""
    with suppress(ValueError):
        return str(int(digits, 0))
    from decimal import Decimal, InvalidOperation  # slow to import, and only refusals need it

    try:
        number = Decimal(digits)
    except InvalidOperation:
        return ""
    if not number.is_finite() or number.adjusted() >= _MOST_DIGITS or number != number.to_integral_value():
        return ""
    return str(int(number))
