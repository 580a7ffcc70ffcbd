"""Kubernetes quantities, ``1500m`` or ``1.5Gi``, as the API server understands them: whole numbers of 10^-9.

A finer amount is rounded away from zero, one beyond 2^63-1 becomes that (apimachinery, `resource.ParseQuantity`).
"""

import re

from packyard.core.errors import shown

_QUANTITY = re.compile(r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,3})|([numkMGTPE]?|[KMGTPE]i))\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_MOST = (2**63 - 1) * 10**9
_LONGEST = 1000


def parse(text: str) -> int | None:
    """Return the amount in 10^-9, or None where the text is not a quantity."""
    match = _QUANTITY.match(text)
    if match is None or not (match[2] or match[3]) or len(text) > _LONGEST:
        return None
    sign, whole, fraction, exponent, suffix = match[1], match[2], match[3] or "", match[4], match[5]
    factor, power = (1024 ** ("KMGTPE".index(suffix[0]) + 1), 0) if suffix and suffix[-1] == "i" else (1, 0)
    if factor == 1:
        power = int(exponent) if exponent else _DECIMAL[suffix or ""]
    shift = 9 + power - len(fraction)
    amount = int(whole + fraction) * factor * 10 ** max(shift, 0)
    nanos: int = min(-(-amount // 10 ** max(-shift, 0)), _MOST)
    return -nanos if sign == "-" else nanos


def thousandths(text: str) -> int:
    """Return the amount in thousandths, rounded up, for expressions; raise `ValueError` for what is no quantity."""
    amount = parse(text)
    if amount is None:
        raise ValueError(f"{shown(text, quoted=True)} is not a quantity")
    return -(-amount // 10**6)
