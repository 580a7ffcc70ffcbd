"""Why a definition refuses a value, for those who set it: what it takes, and the command to type.

    A takes a whole number from 1 to 8, not '9' (for example: packyard set pkg A=4)

And what is wrong with a definition itself, for those who write it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

from packyard.core.bundle import address
from packyard.core.errors import PackyardError, Problem, shown
from packyard.core.yaml.node import Entry, MappingNode, Node
from packyard.core.yaml.values import scalar_value
from packyard.using.setters import check, patterns, regexp
from packyard.using.setters.check import is_number, is_refused
from packyard.using.setters.definition import Setter

_WORDS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
#: What each format admits, behind "that".
_FORMATS = {
    "cron": "is a schedule: minute, hour, day of the month, month and weekday, as in '0 3 * * 1-5', or @daily",
    "hostname": "is the name of a host",
    "ipv4": "is an IPv4 address",
    "ipv6": "is an IPv6 address",
}
_MOST_ITEMS = 10  # shown in a message
_LARGEST = (1 << 63) - 1  # whole number of 64 bits
_MOST_DIGITS = 19  # of it
_LONGEST_MEANT = 40  # characters of what may have been meant for a number


def refusal(setter: Setter, texts: Sequence[str]) -> str:
    """Say why a definition refuses a value, or the items of a list; an empty text where it admits them."""
    return _say(setter, texts) if is_refused(setter, texts) else ""


def explain(setter: Setter, texts: Sequence[str], where: str, typed: str = "") -> Problem:
    """Return why a definition refuses a value that it refuses.

    ``where`` is the folder, for the command to type; ``typed`` is what the user typed before the values, if that was
    not `packyard set`.
    """
    broken = any(faults_of_keywords(setter.schema))
    hint = "fix its definition" if broken else _hint(setter, texts, where, typed)
    problem = setter.problem(_say(setter, texts), hint)
    pattern = setter.schema.get("pattern")
    return problem._replace(detail=f"{setter.name} must match {pattern}" if pattern else "")


def _say(setter: Setter, texts: Sequence[str]) -> str:
    if broken := next(faults_of_keywords(setter.schema), None):
        return f"{setter.name} takes no value: {broken[1]}"
    keywords = {breach.keyword for breach in check.breaches(setter, texts)}
    if "text" in keywords:
        return f"{setter.name} takes text in UTF-8, not {', '.join(shown(text, quoted=True) for text in texts)}"
    if "one" in keywords:
        return f"{setter.name} takes one value, not {len(texts)}: give it once, a text with blanks in quotes"
    if not any(texts) and not (texts and setter.is_list):
        return f"{setter.name} needs a value: {describe(setter)}"
    values = [shown(text, quoted=True) for text in texts[:_MOST_ITEMS]] + ["…"] * (len(texts) > _MOST_ITEMS)
    takes = describe(setter)
    is_large = any(check.WHOLE.fullmatch(text) and len(text.lstrip("-")) >= _MOST_DIGITS for text in texts)
    form = " in decimal digits" if keywords == {"decimal"} else ""
    is_open = "maximum" not in setter.schema and "integer" in check.types_of(setter.schema)
    form += f" of at most {_LARGEST}" * (is_large and is_open)  # no field of Kubernetes can hold more
    return f"{setter.name} takes {takes}{form}, not {', '.join(values)}"


def _hint(setter: Setter, texts: Sequence[str], where: str, typed: str) -> str:
    """Return what to type instead: the value that was probably meant, an example, or how to take a value back."""
    words = begin(where, typed)
    if not any(texts) and not typed and _can_be_taken_back(setter, where):
        return f"to go back to the shipped value: {words} --unset {setter.name}"
    meant = [_whole_number(text) or text for text in texts]
    if meant != list(texts) and not is_refused(setter, meant):
        return f"did you mean: {words} {' '.join(f'{setter.name}={quote(text)}' for text in meant)}"
    return command(setter, where, typed)


def _whole_number(text: str) -> str:
    """Return the whole number that a text was probably meant to be, in decimal digits; an empty text for others.

    ``010``, ``1e1``, ``0xa``, ``1_0``, ``10.0`` and ``+10`` are 10.
    """
    digits = text.strip()
    if len(digits) > _LONGEST_MEANT or not digits.isascii():
        return ""
    with suppress(ValueError):
        return str(int(digits, 0))
    from decimal import Decimal, InvalidOperation  # slow to import, and only refusals need it

    try:
        number = Decimal(digits)
    except InvalidOperation:
        return ""
    if not number.is_finite() or number.adjusted() >= _MOST_DIGITS or number != number.to_integral_value():
        return ""
    return str(int(number))


def begin(where: str, typed: str) -> str:
    """Return what to type before the values; see `explain`."""
    return typed or f"packyard set {address.typed(where)}"


def _can_be_taken_back(setter: Setter, where: str) -> bool:
    """Say whether a setter has another value to go back to."""
    if setter.required or setter.default is not None:
        return setter.has_value
    from packyard.core.bundle import delivery

    try:
        return delivery.values(Path(where)).get(setter.name) is not None
    except PackyardError:  # packyard.json is damaged: what it says is not needed for this
        return False


def command(setter: Setter, where: str, typed: str = "") -> str:
    """Return what to type, with the definition's example where it has one that it admits; see `explain`."""
    for example in _examples(setter):
        if example and not setter.is_list and not is_refused(setter, [example]):
            return f"for example: {begin(where, typed)} {setter.name}={quote(example)}"
    if typed:
        return f"{typed} {setter.name}=VALUE"
    return f"packyard explain {address.typed(where)} {setter.name} shows its definition"


def _examples(setter: Setter) -> Iterator[str | None]:
    """Yield values that a definition may admit, the author's own before those that its keywords name."""
    yield from (setter.example, setter.default, setter.value, patterns.example(setter.schema))
    yield from patterns.choices(setter)
    yield from (str(setter.schema[key]) for key in ("minimum", "maximum") if key in setter.schema)


def describe(setter: Setter) -> str:
    """Say what a definition admits."""
    if setter.enum_values:
        return _one_of(list(setter.enum_values))
    if not setter.is_list:
        return _describe(setter.schema)
    schema, items = setter.schema, check.items_of(setter.schema)
    size = _range(schema.get("minItems"), schema.get("maxItems"), "item")
    parts = [f"of {size}" if size else "", "without duplicates" if schema.get("uniqueItems") is True else ""]
    return " ".join(["a list", *filter(None, parts)]) + (f", each {_describe(items)}" if items else "")


def _describe(schema: Mapping[str, object]) -> str:
    if chosen := patterns.alternatives(schema):
        return _one_of(chosen)
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        listed = _one_of([str(choice).lower() if isinstance(choice, bool) else str(choice) for choice in choices])
        # A text such as "8", which no value equals where it is read as plain YAML.
        others = [text for text in choices if isinstance(text, str) and not isinstance(scalar_value(text), str)]
        unread = "string" not in check.types_of(schema) and bool(others)
        return listed + ", which needs 'type: string' in its definition" * unread
    size = _range(schema.get("minLength"), schema.get("maxLength"), "character")
    if pattern_words := patterns.words(schema):
        return pattern_words + f", {size}" * bool(size)
    words = " or ".join(_WORDS.get(kind, kind) for kind in check.types_of(schema)) or "a text"
    clauses = " and ".join(f"that {clause}" for clause in _clauses(schema))
    return " ".join(filter(None, [words, f"of {size}" if size else "", *_bounds(schema), clauses]))


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
    if isinstance(form, str) and form in _FORMATS:
        yield _FORMATS[form]
    if isinstance(schema.get("pattern"), str):
        yield "has the form that its definition asks for"


def faults_of_keywords(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the keywords of a definition, by their paths in it; no value can be judged by them."""
    yield from check.mistyped(schema)
    for below, keywords in (((), schema), (("items",), check.items_of(schema))):
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
