"""Whether a setter may take a value: one check, which yields each keyword that the value breaks, and its limit.

What kustomize 3.8.7 refuses is refused, and what it admits but for what is ``strict``:

RUN_NAME=      a value that is emptied is checked like any other, and a required setter cannot be emptied
CPUS 8 9       a setter that is no list takes one value
WORKERS=010    numbers are decimal digits: some readers of YAML take this for 8, others for 10, others for a text
NFS_PATH=null  without a type, pattern, length and format hold too: kustomize reads null and 5 as YAML and asks none
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeGuard

from packyard.core.errors import shown
from packyard.core.yaml.values import implicit_type, scalar_value
from packyard.using.setters.definition import Setter, full_type

WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_HOST = rf"(?i:(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*)"
_BOUNDS = ("maximum", "minimum", "multipleOf")


def is_number(value: object) -> TypeGuard[int | float]:
    """Say whether a keyword's value is a number that others can be compared with."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


_NUMBER = ("a number", is_number)
_COUNT = ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))
_FLAG = ("true or false", lambda value: isinstance(value, bool))
_TEXT = ("a text", lambda value: isinstance(value, str))
#: The type of each keyword in words, and its test.
KEYWORDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    **dict.fromkeys(_BOUNDS, _NUMBER),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _COUNT),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), _FLAG),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    "enum": ("a list", lambda value: isinstance(value, list)),
}


class Breach(NamedTuple):
    """A keyword of a definition that a value breaks, and what it asks for; kustomize admits what is ``strict``."""

    keyword: str
    limit: object = None
    strict: bool = False


def is_refused(setter: Setter, texts: Sequence[str], *, as_kustomize: bool = False) -> bool:
    """Say whether a definition refuses a value, or the items of a list; or whether kustomize 3.8.7 does."""
    return any(not (as_kustomize and breach.strict) for breach in breaches(setter, texts))


def breaches(setter: Setter, texts: Sequence[str]) -> Iterator[Breach]:
    """Yield what a value breaks: one text, or for a list setter any number."""
    for path, message in mistyped(setter.schema):
        yield Breach(path[-1], message)
        return
    if not all(map(is_text, texts)):
        yield Breach("text")
        return
    if len(texts) > 1 and not setter.is_list:
        yield Breach("one", strict=True)
    text = next(iter(texts), "")
    if setter.enum_values:
        if text not in setter.enum_values:
            yield Breach("enumValues", list(setter.enum_values))
        return
    if setter.required and not any(texts):
        yield Breach("required", strict=True)
    if not setter.is_list:
        yield from _of_value(text, setter.schema)
        if not text and setter.schema.get("nullable") is not True:
            yield from _of_nothing(setter.schema)
        return
    yield from _of_list(texts, setter.schema)
    for item in texts:
        yield from _of_value(item, items_of(setter.schema))


def is_text(value: str) -> bool:
    """Say whether a value can be written in UTF-8; other bytes of a command line, and half a surrogate pair, cannot."""
    return value.isascii() or re.search("[\ud800-\udfff]", value) is None


def items_of(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of a list's items."""
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def types_of(schema: Mapping[str, object]) -> list[str]:
    """Return the types that a schema declares, by their names in OpenAPI."""
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    return [full_type(name) for name in listed if isinstance(name, str) and name]


def mistyped(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path of each keyword whose value is of another type, and what is wrong; kustomize refuses every set."""
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        for key in filter(keywords.__contains__, KEYWORDS):
            value, (wanted, fits) = keywords[key], KEYWORDS[key]
            if not fits(value):
                actual = shown(str(value), quoted=isinstance(value, str))
                actual = "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else actual
                yield (*below, key), f"{'.'.join((*below, key))} must be {wanted}, found {actual}"


def _of_value(text: str, schema: Mapping[str, object]) -> Iterator[Breach]:
    """Read the text as the type asks, a string as it is and anything else as plain YAML, and judge it.

    A value that may be null may be empty, and nothing else that reads as null.
    """
    if not text and schema.get("nullable") is True:
        return
    types = types_of(schema)
    value = text if "string" in types else scalar_value(text)
    if types and not any(_is(value, kind) for kind in types):
        yield Breach("type", types)
        return
    if isinstance(value, str):
        yield from _of_text(text, schema)
    elif text and not types and implicit_type(text) != "string":
        yield from (breach._replace(strict=True) for breach in _of_text(text, schema))
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _of_number(value, schema)
    form = _form(types, schema)
    if form and implicit_type(text) in ("integer", "number") and not form.fullmatch(text):
        yield Breach("decimal", strict=True)
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(
        value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in choices
    ):
        yield Breach("enum", choices)


def _of_nothing(schema: Mapping[str, object]) -> Iterator[Breach]:
    """Yield what an empty value breaks that kustomize does not ask of it."""
    yield from (Breach(key, schema[key], strict=True) for key in _BOUNDS if key in schema)
    yield from (breach._replace(strict=True) for breach in _of_text("", schema))


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53)
    return isinstance(value, int | float) if kind == "number" else kind == "string" and isinstance(value, str)


def _of_text(text: str, schema: Mapping[str, object]) -> Iterator[Breach]:
    yield from _of_size(len(text), schema, "Length")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        from packyard.using.setters import regexp  # slow to import, and not all definitions have a pattern

        try:
            matches = regexp.matches(pattern, text)
        except regexp.PatternError:
            matches = False
        if not matches:
            yield Breach("pattern", pattern)
    if not _has_format(text, str(schema.get("format"))):
        yield Breach("format", schema["format"], strict=not text or schema["format"] == "cron")


def _of_size(size: int, schema: Mapping[str, object], unit: str) -> Iterator[Breach]:
    most, least = schema.get(f"max{unit}"), schema.get(f"min{unit}")
    if isinstance(most, int) and size > most:
        yield Breach(f"max{unit}", most)
    if isinstance(least, int) and size < least:
        yield Breach(f"min{unit}", least)


def _has_format(text: str, name: str) -> bool:
    """Say whether a text has a format, as kustomize checks it, or is a schedule; any other format admits everything."""
    if name == "hostname":
        return re.fullmatch(_HOST, text) is not None
    if name == "cron":
        from packyard.using.setters import schedule  # seldom asked for

        return schedule.is_valid(text)
    if name not in ("ipv4", "ipv6"):
        return True
    import ipaddress  # slow to import, and seldom asked for

    with suppress(ValueError):
        return ipaddress.ip_address(text).version == int(name[-1])
    return False


def _of_number(value: float, schema: Mapping[str, object]) -> Iterator[Breach]:
    for key in ("maximum", "minimum"):
        bound, exclusive = schema.get(key), schema.get(f"exclusive{key.capitalize()}") is True
        is_beyond = is_number(bound) and not (value <= bound if key == "maximum" else value >= bound)
        if is_beyond or (exclusive and value == bound):
            yield Breach(key, bound)
    step = schema.get("multipleOf")
    if is_number(step) and (step <= 0 or not _is_multiple(value, step)):
        yield Breach("multipleOf", step)


def _is_multiple(value: float, step: float) -> bool:
    """Say whether a number is a multiple of another, as both are written: 0.3 is one of 0.1."""
    from fractions import Fraction  # slow to import, and seldom asked for

    return math.isfinite(value) and Fraction(repr(value)) % Fraction(repr(step)) == 0


def _form(types: Sequence[str], schema: Mapping[str, object]) -> re.Pattern[str] | None:
    """Return how a number of this type is written; None where the value is a text."""
    if types == ["integer"]:
        return WHOLE
    has_numbers = "number" in types or "integer" in types or (not types and any(key in schema for key in _BOUNDS))
    return _DECIMAL if has_numbers and "string" not in types else None


def _of_list(values: Sequence[str], schema: Mapping[str, object]) -> Iterator[Breach]:
    yield from _of_size(len(values), schema, "Items")
    if schema.get("uniqueItems") is True and len(set(values)) < len(values):
        yield Breach("uniqueItems")
