"""The values of nodes, as `kustomize cfg` reads them: ``yes`` is text, ``08`` is 8, a date is text.

base: &b {cpu: 4}
job: {<<: *b, gpu: 1}      ->  {"base": {"cpu": 4}, "job": {"cpu": 4, "gpu": 1}}, and job.cpu stands in line 1

Merge keys are read; aliases only where `aliases` followed them before. Digits become numbers here alone: whole numbers
of at most 64 bits, beyond them what yaml.v3 makes of the digits.
"""

from __future__ import annotations

import re

from packyard.yaml.node import Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.yaml.scalar import BOOLEANS, implicit_type

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    Read = TypeVar("Read")

_DECIMAL = re.compile(r"[-+]?[0-9]+\Z")
_INFINITY = float("inf")
_TYPED = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


def to_value(node: Node | None) -> object:
    """Return text, numbers, booleans, None, lists and dicts."""
    if isinstance(node, Scalar):
        typed = node.tag in _TYPED if node.tag is not None else node.style == "plain"
        return scalar_value(node.value) if typed else node.value
    if isinstance(node, SequenceNode):
        return [to_value(item.value) for item in node.items]
    if not isinstance(node, MappingNode):
        return None
    value = {entry.name: to_value(entry.value) for entry in node.entries if not is_merge(entry)}
    return merged(value, (to_value(entry.value) for entry in node.entries if is_merge(entry)))


def merged(value: dict[str, Read], others: Iterable[object]) -> dict[str, Read]:
    """Give a mapping what merge keys bring, each a mapping or a list of them: the first one wins."""
    for other in others:
        for each in other if isinstance(other, list) else [other]:
            for name, member in each.items() if isinstance(each, dict) else ():
                value.setdefault(name, member)
    return value


def is_merge(entry: Entry) -> bool:
    """Say whether an entry's key is ``<<``, without quotes."""
    return isinstance(entry.key, Scalar) and entry.key.value == "<<" and entry.key.style == "plain"


def is_null(node: Node | None) -> bool:
    """Say whether a node is null, for example ``~`` or nothing at all."""
    return isinstance(node, Scalar) and (type_of(node) == "null" or node.tag == "tag:yaml.org,2002:null")


def type_of(scalar: Scalar) -> str:
    """Return the type that a scalar is read as, a string if it has quotes or a tag."""
    return implicit_type(scalar.value) if scalar.style == "plain" and scalar.tag is None else "string"


def nearest(root: Node, path: Sequence[str | int]) -> tuple[Entry | None, Node]:
    """Return the node at a path, and the entry that it is the value of; if it is missing, the nearest above."""
    entry: Entry | None = None
    node = root
    for step in path:
        if isinstance(step, int):
            inner = node.items[step : step + 1] if isinstance(node, SequenceNode) else []
            if not inner:
                break
            entry, node = None, inner[0].value
        else:
            found = _entry(node, step)
            if found is None:
                break
            entry, node = found, found.value
    return entry, node


def _entry(node: Node, name: str) -> Entry | None:
    """Return the entry of a mapping, or else the first that a merge key brings."""
    if not isinstance(node, MappingNode):
        return None
    own = next((entry for entry in node.entries if entry.name == name and not is_merge(entry)), None)
    if own is not None:
        return own
    merged = [entry.value for entry in node.entries if is_merge(entry)]
    flat = [item.value for other in merged if isinstance(other, SequenceNode) for item in other.items]
    found = (_entry(other, name) for other in (*merged, *flat))
    return next((entry for entry in found if entry is not None), None)


def scalar_value(text: str) -> object:
    """Return what plain ``text`` is read as."""
    kind = implicit_type(text)
    if kind == "integer":
        return integer(text)
    if kind == "number":
        return number(text)
    return None if kind == "null" else BOOLEANS.get(text, text)


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
