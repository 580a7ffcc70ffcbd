"""Nodes to plain values, read as kustomize reads them: ``yes`` is text, ``08`` is 8, a date is text."""

from __future__ import annotations

import re

from packyard.text.node import Mapping, Node, Scalar, Sequence
from packyard.text.scalar import implicit_type

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Mapping as MappingOf

_NOTHING: MappingOf[tuple[int, int], object] = {}
_OCTAL = re.compile(r"([-+]?)0[oO]?([0-7]+)\Z")


def to_value(node: Node | None, instead: MappingOf[tuple[int, int], object] = _NOTHING) -> object:
    """Return text, numbers, booleans, None, lists and dicts; aliases and merge keys are not followed.

    ``instead`` has values for nodes by their spans.
    """
    if instead and node is not None and (node.start, node.end) in instead:
        return instead[node.start, node.end]
    if isinstance(node, Scalar):
        return scalar_value(node.value) if node.style == "plain" and node.tag is None else node.value
    if isinstance(node, Mapping):
        return {entry.name: to_value(entry.value, instead) for entry in node.entries}
    if isinstance(node, Sequence):
        return [to_value(item.value, instead) for item in node.items]
    return None


def scalar_value(text: str) -> object:
    """Return what plain ``text`` is read as."""
    kind = implicit_type(text)
    if kind == "integer":
        digits = text.replace("_", "")
        octal = _OCTAL.match(digits)
        return int(octal.group(1) + octal.group(2), 8) if octal else int(digits, 0)
    if kind == "number":
        return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    return {"boolean": text.lower() == "true", "null": None}.get(kind, text)
