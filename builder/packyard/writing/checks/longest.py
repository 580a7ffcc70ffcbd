"""The longest text that a definition can yield, by its maxLength, enum, maximum, and rules on its size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packyard.using.setters.definition import Definitions, Setter, Substitution, full_type
from packyard.using.setters.numbers import is_number
from packyard.using.setters.rules.rule import Rule

#: What a format limits, in characters.
_FORMATS = {"hostname": 253, "ipv4": 15}
_SIZE = re.compile(r"(?:size\()?(\w+)(?:\)|\.size\(\)) <= ([0-9]+)")
_MOST = 1000  # characters of one value, which is too much for any name


def limited(definitions: Definitions, rules: Iterable[Rule]) -> Definitions:
    """Return definitions in which a rule on the size of one setter, ``size(NAME) <= 24``, is its maxLength."""
    setters = dict(definitions.setters)
    for rule in rules:
        if (size := _SIZE.fullmatch(rule.text)) and (setter := setters.get(size[1])):
            most = int(size[2])
            limit = setter.schema.get("maxLength")
            length = min(most, limit) if isinstance(limit, int) else most
            setters[setter.name] = setter._replace(schema={**setter.schema, "maxLength": length})
    return definitions.with_setters(setters)


def longest(definition: Setter | Substitution, definitions: Definitions) -> tuple[int, list[str]]:
    """Return the length of the longest text, without the setters that have no limit, and these.

    Raises as `Definitions.expand` does.
    """
    limits = {name: _limit(definitions.setters[name]) for name in sorted(definitions.setters_of(definition))}
    texts = {name: "x" * min(limit or 0, _MOST) for name, limit in limits.items()}
    filled = {name: definitions.setters[name]._replace(value=text, enum_values={}) for name, text in texts.items()}
    if isinstance(definition, Setter):
        text = texts[definition.name]
    else:
        text = definitions.with_setters(filled).expand(definition)
    return len(text), [name for name, limit in limits.items() if limit is None]


def _limit(setter: Setter) -> int | None:
    """Return the length of the longest value of a setter; None where nothing limits it."""
    if setter.enum_values:
        return max(map(len, setter.enum_values.values()))
    schema = setter.schema
    limits = [_FORMATS.get(str(schema.get("format"))), schema.get("maxLength")]
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices:
        limits.append(max(len(str(choice)) for choice in choices))
    if full_type(setter.type) == "integer" and is_number(schema.get("maximum")):
        limits.append(max(len(str(int(each))) for each in map(schema.get, ("maximum", "minimum")) if is_number(each)))
    return min((limit for limit in limits if isinstance(limit, int)), default=None)
