"""Why a definition refuses a value, for those who set it: what it takes, and the command to type.

    A takes a whole number from 1 to 8, not '9' (for example: packyard set pkg A=4)

And what is wrong with a definition itself, for those who write it. How kustomize says it is `value.faults`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packyard.core.errors import Problem, shown
from packyard.core.yaml.node import Entry, MappingNode, Node
from packyard.core.yaml.values import scalar_value
from packyard.using.setters import regexp, value
from packyard.using.setters.definition import Setter
from packyard.using.setters.exact import is_number
from packyard.using.setters.formats import FORMATS

_WORDS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
_MOST_ITEMS = 10  # shown in a message


def refusal(setter: Setter, texts: Sequence[str]) -> str:
    """Say why a definition refuses a value, or the items of a list; an empty text where it admits them."""
    return _say(setter, texts) if value.faults(setter, texts) else ""


def explain(setter: Setter, texts: Sequence[str], where: str) -> Problem:
    """Return why a definition refuses a value that it refuses; ``where`` is the folder, for the command to type."""
    broken = any(faults_of_keywords(setter.schema))
    return setter.problem(_say(setter, texts), "fix its definition" if broken else command(setter, where))


def _say(setter: Setter, texts: Sequence[str]) -> str:
    broken = next(faults_of_keywords(setter.schema), None)
    if broken:
        return f"{setter.name} takes no value: {broken[1]}"
    if not all(map(value.is_text, texts)):
        return f"{setter.name} takes text in UTF-8, not {', '.join(shown(text, quoted=True) for text in texts)}"
    given = [shown(text, quoted=True) for text in texts[:_MOST_ITEMS]] + ["…"] * (len(texts) > _MOST_ITEMS)
    return f"{setter.name} takes {describe(setter)}, not {', '.join(given) or 'an empty list'}"


def command(setter: Setter, where: str) -> str:
    """Return what to type, with the definition's example where it has one that it admits."""
    from shlex import quote  # only refusals need it

    example = setter.example
    begin = f"packyard set {quote(where.rstrip('/') or '.')} {setter.name}="
    if example is None or value.faults(setter, [example]):
        return begin + "VALUE"
    return f"for example: {begin}{quote(example)}"


def describe(setter: Setter) -> str:
    """Say what a definition admits."""
    if setter.enum_values:
        return _one_of(list(setter.enum_values))
    if not setter.is_list:
        return _describe(setter.schema)
    schema, items = setter.schema, value.items_of(setter.schema)
    size = _range(schema.get("minItems"), schema.get("maxItems"), "item")
    parts = [f"of {size}" if size else "", "without duplicates" if schema.get("uniqueItems") is True else ""]
    return " ".join(["a list", *filter(None, parts)]) + (f", each {_describe(items)}" if items else "")


def _describe(schema: Mapping[str, object]) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        known = _one_of([str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in choices])
        unread = "string" not in value.types_of(schema) and any(map(_is_read_as_other, choices))
        return known + ", which needs 'type: string' in its definition" * unread
    words = " or ".join(_WORDS.get(kind, kind) for kind in value.types_of(schema)) or "a text"
    size = _range(schema.get("minLength"), schema.get("maxLength"), "character")
    clauses = " and ".join(f"that {clause}" for clause in _clauses(schema))
    return " ".join(filter(None, [words, f"of {size}" if size else "", *_bounds(schema), clauses]))


def _is_read_as_other(choice: object) -> bool:
    """Say whether a choice is a text such as "8", which no value equals where it is read as plain YAML."""
    return isinstance(choice, str) and not isinstance(scalar_value(choice), str)


def _one_of(choices: Sequence[str]) -> str:
    return f"one of {', '.join(map(shown, choices))}"


def _range(least: object, most: object, noun: str) -> str:
    least, most = (number if is_number(number) else None for number in (least, most))
    if most is None:
        return f"at least {least} {noun}{'s' * (least != 1)}" if least else ""
    first = f"{least} to " if least and least != most else "" if least == most else "at most "
    return f"{first}{most} {noun}{'s' * (most != 1)}"


def _bounds(schema: Mapping[str, object]) -> Iterator[str]:
    low, high = (bound if is_number(bound) else None for bound in (schema.get("minimum"), schema.get("maximum")))
    above, below = (schema.get(f"exclusive{name}") is True for name in ("Minimum", "Maximum"))
    if low is not None and high is not None and not above and not below:
        yield f"from {low} to {high}"
        return
    if low is not None:
        yield f"{'more than' if above else 'of at least'} {low}"
    if high is not None:
        yield f"{'and ' if low is not None else ''}{'less than' if below else 'of at most'} {high}"


def _clauses(schema: Mapping[str, object]) -> Iterator[str]:
    """Yield the clauses that follow "that"."""
    if is_number(schema.get("multipleOf")):
        yield f"is a multiple of {schema['multipleOf']}"
    form = schema.get("format")
    if isinstance(form, str) and form in FORMATS:
        yield FORMATS[form][1]
    if isinstance(schema.get("pattern"), str):
        yield f"matches {shown(str(schema['pattern']), quoted=True)}"


def faults_of_keywords(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the keywords of a definition, by their paths in it; no value can be judged by them."""
    yield from ((path, message) for path, message, _ in value.unfit(schema))
    for below, keywords in (((), schema), (("items",), value.items_of(schema))):
        step, pattern = keywords.get("multipleOf"), keywords.get("pattern")
        if is_number(step) and step <= 0:
            yield (*below, "multipleOf"), f"multipleOf must be more than 0, found {step}"
        if isinstance(pattern, str) and (fault := regexp.fault(pattern)):
            yield (*below, "pattern"), f"the pattern {shown(pattern, quoted=True)} is invalid: {fault}"


def review(entry: Entry, setter: Setter, *, shipped: bool) -> Iterator[tuple[str, Problem]]:
    """Yield what is wrong with the definition of a setter by the name of the fault's kind, each at its place.

    In a package as ``shipped`` what is required must be explained.
    """
    definition = entry.value
    for path, message in faults_of_keywords(setter.schema):
        node: Node | None = definition
        for key in path:
            node = node.get(key) if isinstance(node, MappingNode) else None
        yield "invalid-keyword", (node or entry.key).problem(f"{message} (setter {setter.name})", "no value can be set")
    if shipped and setter.required and not setter.example and not setter.description:
        message = f"setter {setter.name} is required, and has neither an example nor a description"
        yield "required-unexplained", entry.key.problem(message, "say what it is: example: …, description: …")
