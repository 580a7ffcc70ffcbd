"""Nodes to plain values, read as kustomize reads them: ``yes`` is text, ``08`` is 8, a date is text.

Digits become numbers here alone: whole numbers of at most 64 bits, beyond them what yaml.v3 makes of the digits.
"""

from __future__ import annotations

import re

from packyard.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.yaml.scalar import implicit_type

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Mapping[tuple[int, int], object] = {}
_DECIMAL = re.compile(r"[-+]?[0-9]+\Z")
_INFINITY = float("inf")


def to_value(node: Node | None, instead: Mapping[tuple[int, int], object] = _NOTHING) -> object:
    """Return text, numbers, booleans, None, lists and dicts; aliases and merge keys are not followed.

    ``instead`` has values for nodes by their spans.
    """
    if instead and node is not None and (node.start, node.end) in instead:
        return instead[node.start, node.end]
    if isinstance(node, Scalar):
        return scalar_value(node.value) if node.style == "plain" and node.tag is None else node.value
    if isinstance(node, MappingNode):
        return {entry.name: to_value(entry.value, instead) for entry in node.entries}
    if isinstance(node, SequenceNode):
        return [to_value(item.value, instead) for item in node.items]
    return None


def scalar_value(text: str) -> object:
    """Return what plain ``text`` is read as."""
    kind = implicit_type(text)
    if kind == "integer":
        return integer(text)
    if kind == "number":
        return number(text)
    return {"boolean": text.lower() == "true", "null": None}.get(kind, text)


def integer(text: str) -> int | float | str:
    """Return what the text of a whole number is read as: beyond 64 bits decimal ones are inexact, others stay text."""
    digits = text.replace("_", "")
    body = digits.lstrip("+-").lower()
    base = {"0x": 16, "0o": 8, "0b": 2}.get(body[:2], 8 if body[0] == "0" else 10)
    found = _read(body.removeprefix("0o") if base == 8 else body, base)
    if found is not None:
        found = -found if digits[0] == "-" else found
        if -(1 << 63) <= found < (1 << 63) or (digits[0] not in "+-" and found < (1 << 64)):
            return found
    return number(text) if _DECIMAL.match(digits) else text


def number(text: str) -> float | str:
    """Return what a decimal number is read as, ``.inf`` and ``.nan`` among them; one that is too large is text."""
    digits = text.replace("_", "")
    named = digits.lower().lstrip("+-")
    if named in (".inf", ".nan"):
        return float(digits.replace(".", "", 1))
    rounded = float(digits)
    return text if abs(rounded) == _INFINITY else rounded


def whole(digits: str) -> int | None:
    """Return the number of 64 bits that decimal digits stand for, with a sign or without; None for any other text."""
    found = _read(digits.lstrip("+-"), 10) if _DECIMAL.match(digits) else None
    if found is None:
        return None
    found = -found if digits[0] == "-" else found
    return found if -(1 << 63) <= found < (1 << 63) else None


def _read(digits: str, base: int) -> int | None:
    """Read digits of a base, with its prefix or without, unless there are too many for 64 bits."""
    digits = digits.removeprefix({16: "0x", 2: "0b"}.get(base, "")).lstrip("0")
    return None if len(digits) > 64 else int(digits or "0", base)
