"""What packyard refuses of a value beyond what kustomize 3.8.7 refuses.

RUN_NAME=      a value that is emptied is checked like any other, and a required setter cannot be emptied
CPUS 8 9       a setter that is no list takes one value
WORKERS=010    numbers are decimal: some readers of YAML take 010 for 8, others for 10, others for a text
NFS_PATH=null  without a type, pattern, length and format hold too: kustomize reads null and 5 as YAML and asks none
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packyard.core.yaml.values import implicit_type
from packyard.using.setters.definition import Setter
from packyard.using.setters.value import faults_of_letters, items_of, types_of

_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_OTHER_BASE = re.compile(r"-?0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_BOUNDS = ("minimum", "maximum", "multipleOf")
_MOST_DIGITS = 19  # of a number of 64 bits
_LONGEST = 40  # characters of what may have been meant for a number


def refuses(setter: Setter, texts: Sequence[str]) -> bool:
    """Say whether packyard refuses a value that `value.faults` admits."""
    return (
        is_one_of_many(setter, texts)
        or is_emptied_wrongly(setter, texts)
        or is_misread(setter, texts)
        or is_no_such_text(setter, texts)
    )


def is_one_of_many(setter: Setter, texts: Sequence[str]) -> bool:
    """Say whether a setter is given several values and can hold one; kustomize takes the first and drops the others."""
    return len(texts) > 1 and not setter.is_list


def is_emptied_wrongly(setter: Setter, texts: Sequence[str]) -> bool:
    """Say whether no value is given to a setter that needs one, by what its definition admits."""
    if any(texts) or setter.enum_values:
        return False
    if setter.required:
        return True
    if setter.is_list or setter.schema.get("nullable") is True:
        return False
    return _is_needed(setter.schema)


def is_misread(setter: Setter, texts: Sequence[str]) -> bool:
    """Say whether a value is a number in another form than decimal digits, which readers of YAML take for several."""
    if setter.enum_values:
        return False
    schema = items_of(setter.schema) if setter.is_list else setter.schema
    form = _form(schema)
    return form is not None and any(_is_number(text) and not form.fullmatch(text) for text in texts)


def is_no_such_text(setter: Setter, texts: Sequence[str]) -> bool:
    """Say whether a value is read as another type than text, and as a text breaks a definition that has no type."""
    schema = items_of(setter.schema) if setter.is_list else setter.schema
    if setter.enum_values or types_of(schema):
        return False
    return any(text and implicit_type(text) != "string" and _breaks(schema, text) for text in texts)


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number in decimal digits."""
    return _WHOLE.fullmatch(text) is not None


def is_other_form(text: str) -> bool:
    """Say whether a text is read as a number, and is no whole one in decimal digits."""
    return _is_number(text) and not is_whole(text)


def is_too_large(text: str) -> bool:
    """Say whether a text is a whole number that no field of Kubernetes can hold."""
    return is_whole(text) and len(text.lstrip("-")) >= _MOST_DIGITS


def whole_number(text: str) -> str:
    """Return the whole number that a text was probably meant to be, in decimal digits; an empty text for others.

    ``010``, ``1e1``, ``0xa``, ``1_0``, ``10.0`` and ``+10`` are 10.
    """
    digits = text.strip().replace("_", "").replace(",", "").removeprefix("+")
    if len(digits) > _LONGEST or not digits.isascii():
        return ""
    if _OTHER_BASE.fullmatch(digits):
        return str(int(digits, 0))
    from decimal import Decimal, InvalidOperation  # slow to import, and only refusals need it

    try:
        number = Decimal(digits)
    except InvalidOperation:
        return ""
    if not number.is_finite() or number.adjusted() >= _MOST_DIGITS or number != number.to_integral_value():
        return ""
    return str(int(number))


def _is_needed(schema: Mapping[str, object]) -> bool:
    """Say whether a definition has something against an empty text."""
    return any(key in schema for key in _BOUNDS) or _breaks(schema, "")


def _breaks(schema: Mapping[str, object], text: str) -> bool:
    """Say whether the length, the pattern or the format of a definition has something against a text."""
    if any(faults_of_letters("", text, schema)):
        return True
    if "format" not in schema:
        return False
    from packyard.using.setters import formats  # not all definitions have a format

    return not formats.admits(str(schema["format"]), text)


def _form(schema: Mapping[str, object]) -> re.Pattern[str] | None:
    """Return how a number of this type is written; None where the value is a text."""
    types = types_of(schema)
    if types == ["integer"]:
        return _WHOLE
    if "string" in types:
        return None
    is_number = "number" in types or "integer" in types or (not types and any(key in schema for key in _BOUNDS))
    return _DECIMAL if is_number else None


def _is_number(text: str) -> bool:
    return bool(text) and implicit_type(text) in ("integer", "number")
