"""What a value may be, and how it is written into a field.

The rules are the OpenAPI keywords of the setter's definition, worded as kustomize 3.8.7 words them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from packyard.setters import formats
from packyard.setters.definition import Setter
from packyard.text.node import Scalar
from packyard.text.plain import scalar_value
from packyard.text.scalar import (
    double_quoted,
    fits_plain,
    implicit_type,
    is_plain_text,
    single_quoted,
)
from packyard.text.span import properties

_ALIASES = {"int": "integer", "bool": "boolean"}
#: The types whose values stand without quotes.
PLAIN_TYPES = ("integer", "number", "boolean")


def faults(setter: Setter, values: Sequence[str]) -> list[str]:
    """Say everything that the definition has against ``values``: one, or for a list setter any number."""
    if setter.enum_values:
        if values[0] in setter.enum_values:
            return []
        known = ",".join(setter.enum_values)
        return [f"{values[0]} does not match the possible values for {setter.name}: [{known}]"]
    if not setter.is_list:
        return list(_faults(setter.name, _typed(values[0], setter.schema), setter.schema))
    items = setter.schema.get("items")
    items = items if isinstance(items, Mapping) else {}
    found = list(_faults_of_list(setter.name, values, setter.schema))
    for index, value in enumerate(values):
        found += _faults(f"{setter.name}.{index}", _typed(value, items), items)
    return found


def _types(schema: Mapping[str, object]) -> list[str]:
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    return [_ALIASES.get(name, name) for name in listed if isinstance(name, str)]


def _typed(text: str, schema: Mapping[str, object]) -> object:
    """Read the text as the definition's type asks: a string as it is, anything else as plain YAML."""
    if "string" in _types(schema):
        return text
    return scalar_value(text)


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "number"}.get(type(value), "string")


def _faults(name: str, value: object, schema: Mapping[str, object]) -> Iterator[str]:
    where = f"{name} in body"
    if value is None and schema.get("nullable") is True:
        return
    types = _types(schema)
    if types and not any(_is(value, kind) for kind in types):
        yield f'{where} must be of type {",".join(types)}: "{_type_name(value)}"'
        return
    if isinstance(value, str):
        yield from _faults_of_text(where, value, schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _faults_of_number(where, value, schema)
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield f"{where} should be one of [{' '.join(str(choice) for choice in choices)}]"


def _is(value: object, kind: str) -> bool:
    if kind == "integer":
        return not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        )
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return _type_name(value) == kind


def _faults_of_text(where: str, value: str, schema: Mapping[str, object]) -> Iterator[str]:
    longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if isinstance(longest, int) and len(value) > longest:
        yield f"{where} should be at most {longest} chars long"
    if isinstance(shortest, int) and len(value) < shortest:
        yield f"{where} should be at least {shortest} chars long"
    if isinstance(pattern, str) and not matches(pattern, value):
        yield f"{where} should match '{pattern}'"
    if value and not formats.admits(str(schema.get("format", "")), value):
        yield f'{where} must be of type {schema["format"]}: "{value}"'


def _faults_of_number(where: str, value: float, schema: Mapping[str, object]) -> Iterator[str]:
    form = str(schema.get("format", ""))
    if form in ("port", "uid") and not formats.admits(form, str(value)):
        yield f'{where} must be of type {form}: "{value}"'
    most, least, step = schema.get("maximum"), schema.get("minimum"), schema.get("multipleOf")
    if isinstance(most, int | float) and (value > most or (schema.get("exclusiveMaximum") is True and value == most)):
        yield f"{where} should be less than {'' if schema.get('exclusiveMaximum') is True else 'or equal to '}{most}"
    if isinstance(least, int | float) and (
        value < least or (schema.get("exclusiveMinimum") is True and value == least)
    ):
        bound = "" if schema.get("exclusiveMinimum") is True else "or equal to "
        yield f"{where} should be greater than {bound}{least}"
    if isinstance(step, int | float) and step > 0 and value % step:
        yield f"{where} should be a multiple of {step}"


def _faults_of_list(name: str, values: Sequence[str], schema: Mapping[str, object]) -> Iterator[str]:
    most, least = schema.get("maxItems"), schema.get("minItems")
    if isinstance(most, int) and len(values) > most:
        yield f"{name} in body should have at most {most} items"
    if isinstance(least, int) and len(values) < least:
        yield f"{name} in body should have at least {least} items"
    if schema.get("uniqueItems") is True and len(set(values)) < len(values):
        yield f"{name} in body shouldn't contain duplicates"


def matches(pattern: str, value: str) -> bool:
    """Search as Go's RE2 does, whose ``$`` does not stand before a last line break."""
    if value.endswith("\n"):
        value += "\0"
    return re.search(pattern.replace(r"\z", r"\Z"), value) is not None


def lexeme(old: Scalar, value: str, wanted: str | None, *, flow: bool) -> str:
    """Write ``value`` for the field that now shows ``old``, so that kustomize reads the type that is wanted.

    ``wanted`` is string, a plain type (integer, number, boolean), or None where nobody knows: then quotes stay as they
    are, and a plain number, boolean or null may become another. Quotes that are there only because a value forces them
    are single ones, and go again with that value, so that setting the old value back restores the bytes. A tag and an
    anchor of the field stay.
    """
    front = properties(old)
    plain = old.style not in "'\""
    if wanted in PLAIN_TYPES and implicit_type(value) not in ("string", "null"):
        return front + value
    if wanted in PLAIN_TYPES and not value:
        return front + '""'  # as a required setter with a type ships
    if wanted is None and plain and old.tag is None and implicit_type(old.value) != "string":
        if implicit_type(value) in PLAIN_TYPES:
            return front + value
    elif old.tag is not None and plain and fits_plain(value, flow=flow):
        return front + value
    if old.style == '"' or (
        old.style == "'" and (is_plain_text(old.value, flow=flow) or not is_plain_text(value, flow=flow))
    ):
        return front + (double_quoted(value) if old.style == '"' else single_quoted(value))
    return front + (value if is_plain_text(value, flow=flow) else single_quoted(value))
