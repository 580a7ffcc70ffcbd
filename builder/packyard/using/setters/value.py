"""What a value may be; how it is written into a field is `core.yaml.edit`.

The rules are the OpenAPI keywords of the setter's definition, worded as kustomize 3.8.7 words them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from packyard.core.errors import InputError, Problem, shown
from packyard.core.yaml.values import scalar_value
from packyard.using.setters.definition import Setter, full_type
from packyard.using.setters.exact import is_multiple, is_number, is_within


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_NUMBER = ("a number", "float64", is_number)
_COUNT = ("a whole number", "int64", _is_count)
_FLAG = ("true or false", "bool", lambda value: isinstance(value, bool))
_TEXT = ("a text", "string", lambda value: isinstance(value, str))
#: The type of each keyword: in words, by its name in Go, and its test.
_KEYWORDS: dict[str, tuple[str, str, Callable[[object], bool]]] = {
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems"), _COUNT),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), _FLAG),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    "enum": ("a list", "[]interface {}", lambda value: isinstance(value, list)),
}


class ValuesError(InputError):
    """Definitions do not admit the values that were given: ``refused`` are the setters, each with its values."""

    def __init__(self, refused: Sequence[tuple[Setter, Sequence[str]]], *problems: Problem) -> None:
        super().__init__(*problems)
        self.refused = refused


def faults(setter: Setter, values: Sequence[str]) -> list[str]:
    """Say everything that the definition has against ``values``: one, or for a list setter any number."""
    before = fault_before_schema(setter, values)
    return [before] if before else faults_by_schema(setter, values)


def fault_before_schema(setter: Setter, values: Sequence[str]) -> str:
    """Say what kustomize refuses values for before it asks the schema; an empty text where it asks."""
    for _, _, fault in unfit(setter.schema):
        return fault
    if not all(map(is_text, values)):
        return "yaml: invalid leading UTF-8 octet"
    first = next(iter(values), "")
    if setter.enum_values and first not in setter.enum_values:
        choices = ",".join(setter.enum_values)
        return f"{first} does not match the possible values for {setter.name}: [{choices}]"
    return ""


def faults_by_schema(setter: Setter, values: Sequence[str]) -> list[str]:
    """Say what the schema of the definition has against values; it is not asked about names in ``enumValues``."""
    if setter.enum_values:
        return []
    if not setter.is_list:
        return list(_faults(setter.name, next(iter(values), ""), setter.schema))
    items = items_of(setter.schema)
    all_faults = list(_faults_of_list(setter.name, values, setter.schema))
    for index, value in enumerate(values):
        all_faults += _faults(f"{setter.name}.{index}", value, items)
    return all_faults


def is_text(value: str) -> bool:
    """Say whether a value can be written in UTF-8; other bytes of a command line, and half a surrogate pair, cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def items_of(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of a list's items."""
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def unfit(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield each keyword whose value is of another type: its path, and what is wrong in words and as kustomize says it.

    No value can be judged by them; kustomize refuses every set.
    """
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        for key in filter(keywords.__contains__, _KEYWORDS):
            keyword_value, (wanted, kind, fits) = keywords[key], _KEYWORDS[key]
            if not fits(keyword_value):
                path = (*below, key)
                field = f"Go struct field SwaggerProps.definitions.SchemaProps.{'.'.join(path)} of type {kind}"
                yield (
                    path,
                    f"{'.'.join(path)} must be {wanted}, found {_shown(keyword_value)}",
                    f"json: cannot unmarshal {_in_json(keyword_value)} into {field}",
                )


def types_of(schema: Mapping[str, object]) -> list[str]:
    """Return the types that a schema declares, by their names in OpenAPI."""
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    return [full_type(name) for name in listed if isinstance(name, str) and name]


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "number"}.get(type(value), "string")


def _faults(name: str, text: str, schema: Mapping[str, object]) -> Iterator[str]:
    """Read the text as the type asks, a string as it is and anything else as plain YAML, and judge it.

    A value that may be null may be empty, and nothing else that reads as null.
    """
    where = f"{name} in body"
    if not text and schema.get("nullable") is True:
        return
    types = types_of(schema)
    value = text if "string" in types else scalar_value(text)
    if types and not any(_is(value, kind) for kind in types):
        yield f'{where} must be of type {",".join(types)}: "{_type_name(value)}"'
        return
    if isinstance(value, str):
        yield from _faults_of_text(where, value, schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _faults_of_number(name, text, value, schema)
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_is_same(value, choice) for choice in choices):
        yield f"{where} should be one of [{' '.join(map(_in_go, choices))}]"


def _is(value: object, kind: str) -> bool:
    if kind == "integer":
        return not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53)
        )
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return _type_name(value) == kind


def _is_same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _faults_of_text(where: str, value: str, schema: Mapping[str, object]) -> Iterator[str]:
    yield from islice(faults_of_letters(where, value, schema), 1)  # as kustomize, which stops at the first
    if value and "format" in schema:
        from packyard.using.setters import formats  # not all definitions have a format

        if not formats.admits(str(schema["format"]), value):
            yield f'{where} must be of type {schema["format"]}: "{value}"'


def faults_of_letters(where: str, value: str, schema: Mapping[str, object]) -> Iterator[str]:
    """Say what the length and the pattern of a definition have against a text, an empty one too."""
    longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if isinstance(longest, int) and len(value) > longest:
        yield f"{where} should be at most {longest} chars long"
    if isinstance(shortest, int) and len(value) < shortest:
        yield f"{where} should be at least {shortest} chars long"
    if isinstance(pattern, str):
        from packyard.using.setters import regexp  # slow to import, and not all definitions have a pattern

        try:
            if not regexp.matches(pattern, value):
                yield f"{where} should match '{pattern}'"
        except regexp.PatternError as error:
            yield f"{where} should match '{pattern}, but pattern is invalid: error parsing regexp: {error}'"


def _faults_of_number(name: str, text: str, value: float, schema: Mapping[str, object]) -> Iterator[str]:
    where = f"{name} in body"
    form = str(schema.get("format", ""))
    if form in ("port", "uid"):
        from packyard.using.setters import formats

        if not formats.admits(form, str(value)):
            yield f'{where} must be of type {form}: "{value}"'
    for key, word in (("maximum", "less"), ("minimum", "greater")):
        bound = schema.get(key)
        if is_number(bound):
            exclusive = schema.get(f"exclusive{key.capitalize()}") is True
            if not is_within(value, text, bound, most=key == "maximum", exclusive=exclusive):
                yield f"{where} should be {word} than {'' if exclusive else 'or equal to '}{_beside(value, bound)}"
    step = schema.get("multipleOf")
    if is_number(step) and step <= 0:
        yield f"factor MultipleOf declared for {name} must be positive: {_in_go(step)}"
    elif is_number(step) and not is_multiple(value, text, step):
        yield f"{where} should be a multiple of {_beside(value, step)}"


def _beside(value: float, bound: float) -> str:
    """Write a bound as kustomize does beside a value: as a whole number beside a whole number."""
    return str(int(float(bound))) if isinstance(value, int) else _in_go(bound)


def _in_go(value: object) -> str:
    """Write a value of JSON as Go prints it, where every number is a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    from decimal import Decimal  # slow to import, and only refusals need it

    sign, digits, _ = (number := Decimal(repr(float(value))).normalize()).as_tuple()
    exponent = number.adjusted()
    if not number or -4 <= exponent < 6:
        return f"{number:f}"
    fraction = "".join(map(str, digits[1:]))
    return f"{'-' * sign}{digits[0]}{'.' * bool(fraction)}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _faults_of_list(name: str, values: Sequence[str], schema: Mapping[str, object]) -> Iterator[str]:
    most, least = schema.get("maxItems"), schema.get("minItems")
    if isinstance(most, int) and len(values) > most:
        yield f"{name} in body should have at most {most} items"
    if isinstance(least, int) and len(values) < least:
        yield f"{name} in body should have at least {least} items"
    if schema.get("uniqueItems") is True and len(set(values)) < len(values):
        yield f"{name} in body shouldn't contain duplicates"


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(str(value), quoted=isinstance(value, str))


def _in_json(value: object) -> str:
    """Name the type of a value as Go's reader of JSON does; and of a fraction its text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {value}" if isinstance(value, float) else "number"
    return {str: "string", bool: "bool", list: "array", dict: "object"}.get(type(value), "null")
