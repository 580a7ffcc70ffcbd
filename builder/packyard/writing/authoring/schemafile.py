"""The JSON file of `create-setter --schema-path`: the OpenAPI keywords of a definition.

Read as kustomize 3.8.7 reads it: keywords that it does not know, and extensions, are dropped; the others are written in
alphabetical order.
"""

import json
from collections.abc import Iterator, Mapping

from packyard.core.errors import InputError

TYPES = ("object", "array", "string", "integer", "number", "boolean", "file", "null")

_NUMBERS = frozenset(
    (
        *("maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems"),
        *("maxProperties", "minProperties", "multipleOf"),
    )
)
_KEYWORDS = frozenset(
    (
        *_NUMBERS,
        *("id", "description", "type", "nullable", "format", "title", "default", "enum", "pattern", "uniqueItems"),
        *("exclusiveMaximum", "exclusiveMinimum", "required", "items", "additionalItems", "allOf", "oneOf", "anyOf"),
        *("not", "properties", "additionalProperties", "patternProperties", "dependencies", "definitions"),
    )
)


def parse(text: str) -> dict[str, object]:
    """Read a schema file's text, empty for none."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"unable to parse schema: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError("unable to parse schema: its root must be an object")
    for key in _NUMBERS & value.keys():
        if isinstance(value[key], bool) or not isinstance(value[key], int | float):
            raise InputError(f"unable to parse schema: {key} must be a number")
    return {key: value[key] for key in sorted(value) if key in _KEYWORDS}


def declared_type(schema: Mapping[str, object], flag: str) -> str:
    """Return the type that the schema or the flag ``--type`` gives, or an empty text."""
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared] if declared else []
    if len(listed) > 1:
        raise InputError(f"only one type is supported: {', '.join(map(str, listed))}")
    of_schema = str(listed[0]) if listed else ""
    if of_schema and flag and of_schema != flag:
        raise InputError(f"type provided in type flag ({flag}) and in schema ({of_schema}) doesn't match")
    return of_schema or flag


def check_types(schema: Mapping[str, object], declared: str) -> None:
    """Refuse a type that OpenAPI does not have, in the schema itself or in that of its items."""
    for name in (declared, *_types_of_items(schema)):
        if name and name not in TYPES:
            raise InputError(f'invalid schema: type "{name}" is not supported. Must be one of: {", ".join(TYPES)}')


def _types_of_items(schema: Mapping[str, object]) -> Iterator[str]:
    items = schema.get("items")
    for item in items if isinstance(items, list) else [items]:
        if isinstance(item, Mapping):
            declared = item.get("type")
            yield from map(str, declared if isinstance(declared, list) else [declared] if declared else [])
            yield from _types_of_items(item)
