"""The value that kustomize reads from a scalar: ``yes`` is text, ``012`` is 10, ``1e3`` is 1000, a date is text.

The rules are those of the yaml.v3 that kustomize links, and of the JSON that its values go through.
"""

from __future__ import annotations

import calendar
import math
import re

from packyard.errors import InputError
from packyard.yaml.node import Scalar
from packyard.yaml.plain import integer, number
from packyard.yaml.scalar import implicit_type

#: What one scalar can be.
Plain = str | int | float | bool | None

_CORE = "tag:yaml.org,2002:"
#: The types that text behind a tag may be read as.
_TAGS: dict[str, tuple[str, ...]] = {
    "int": ("integer",),
    "float": ("integer", "number"),
    "bool": ("boolean",),
    "null": ("null",),
}
#: What kustomize cannot read back, or reads back as something else.
_REFUSED = re.compile("[\x7f-\x9f\ufffe\uffff]")
#: The four layouts that yaml.v3 takes for a time: a zone stands behind ``T``, and none behind a blank.
_TIME = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?P<zoned>[Tt])?(?(zoned)| +)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:[.,](?P<fraction>[0-9]+))?(?(zoned)(?P<zone>Z|[-+][0-9]{2}:[0-9]{2})))?\Z"
)


def read(node: Scalar, *, flow: bool = False) -> Plain:
    """Return the value of a scalar; numbers that JSON cannot hold, and tags of others, are refused.

    Inside brackets (``flow``) a missing value is an empty text and a time of day stays as it is written, because
    kustomize writes such documents out, in quotes, and reads them again.
    """
    value: Plain
    if node.tag is None or node.tag == "!":
        plain = node.tag == "!" or node.style == "plain"
        if flow and plain and (not node.value or ":" in node.value):
            plain = False
        value = read_plain(node.value) if plain else node.value
    elif node.tag == _CORE + "str":
        value = node.value
    elif implicit_type(node.value) in _TAGS.get(node.tag.removeprefix(_CORE), ()):
        value = read_plain(node.value)
    else:
        raise InputError(node.problem(f"{node.lexeme!r} has a tag that packyard's own build cannot read"))
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(node.problem(f"{node.lexeme!r} is no number that a cluster can be given"))
    refused = _REFUSED.search(value) if isinstance(value, str) else None
    if refused:
        raise InputError(node.problem(f"holds the control character U+{ord(refused.group()):04X}"))
    return value


def read_plain(text: str) -> Plain:
    """Return the value of text that stands without quotes."""
    kind = implicit_type(text)
    if kind == "null":
        return None
    if kind == "boolean":
        return text.lower() == "true"
    if kind == "integer":
        return integer(text)
    if kind == "number" and not text.startswith("._"):
        found = number(text)
        return int(found) if isinstance(found, float) and found.is_integer() and abs(found) < (1 << 63) else found
    return _time(text) or text


def _time(text: str) -> str | None:
    """Return a date or time as kustomize writes it out, ``2020-01-01T00:00:00Z``; None where it is none."""
    found = _TIME.match(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (
        int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")
    )
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    zone = found["zone"] or "Z"
    if hour > 23 or minute > 59 or second > 59 or zone[1:3] > "23" or zone[4:] > "59":
        return None
    fraction = (found["fraction"] or "")[:9].rstrip("0")
    return (
        f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        f"{'.' + fraction if fraction else ''}{'Z' if zone[1:] == '00:00' else zone}"
    )
