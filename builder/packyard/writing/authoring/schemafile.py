"""The JSON file of `create-setter --schema-path`: the OpenAPI keywords of a definition.

Read as kustomize 3.8.7 reads it: keywords that it does not know, and extensions, are dropped; the others are written in
alphabetical order.
"""

import json
from collections.abc import Mapping

from packyard.core.errors import InputError, Problem, refuse
from packyard.using.setters import check

TYPES = ("object", "array", "string", "integer", "number", "boolean", "file", "null")

_KEYWORDS = frozenset(
    (
        *check.KEYWORDS,
        *("id", "description", "type", "title", "default", "required", "items", "additionalItems", "allOf", "oneOf"),
        *("anyOf", "not", "properties", "additionalProperties", "patternProperties", "dependencies", "definitions"),
    )
)


def parse(text: str) -> dict[str, object]:
    """Read a schema file's text, empty for none."""
    try:
        value = json.loads(text or "{}", object_pairs_hook=lambda pairs: dict(sorted(pairs))) or {}
    except ValueError as error:
        raise InputError(f"unable to parse schema: {error}") from error
    if not isinstance(value, dict):
        raise InputError("unable to parse schema: its root must be an object")
    refuse(Problem(f"unable to parse schema: {message}") for _, message in check.mistyped(value))
    return {key: value[key] for key in value if key in _KEYWORDS}


def declared_type(schema: Mapping[str, object], flag: str) -> str:
    """Return the type that the schema or the flag ``--type`` gives, or an empty text."""
    listed = _types(schema)
    if len(listed) > 1:
        raise InputError(f"only one type is supported: {', '.join(listed)}")
    if flag and listed and listed != [flag]:
        raise InputError(f"--type {flag} and the type {listed[0]} of --schema-path disagree: give one of them")
    return "".join(listed) or flag


def check_types(schema: Mapping[str, object], declared: str = "") -> None:
    """Refuse a type that OpenAPI does not have, in the schema itself or in that of its items."""
    for name in (declared, *_types(schema)):
        if name and name not in TYPES:
            raise InputError(f'invalid schema: type "{name}" is not supported. Must be one of: {", ".join(TYPES)}')
    items = schema.get("items")
    for below in items if isinstance(items, list) else [items]:
        if isinstance(below, Mapping):
            check_types(below)


def _types(schema: Mapping[str, object]) -> list[str]:
    declared = schema.get("type")
    return [str(name) for name in (declared if isinstance(declared, list) else [declared]) if name]
