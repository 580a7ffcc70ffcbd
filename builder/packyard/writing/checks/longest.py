"""The longest text that a definition can yield, by its maxLength, enum, maximum, and rules on its size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packyard.using.setters.definition import Definitions, Setter, Substitution, full_type
from packyard.using.setters.numbers import is_number
from packyard.using.setters.rules.rule import Rule

#: What a format limits, in characters.
_FORMATS = {"dns-label": 63, "dns-subdomain": 253, "hostname": 253, "port": 5, "uid": 10, "ipv4": 15}
_MOST_SETTERS = 100


@dataclass(frozen=True, slots=True)
class Length:
    """A number of characters: those of the fixed ``text``, and ``parts``: a setter, its most characters, how often.

    The most characters of a setter without a limit are None.
    """

    text: int
    parts: tuple[tuple[str, int | None, int], ...] = ()

    @property
    def most(self) -> int:
        """The length of the longest text, without the parts that have no limit."""
        return self.text + sum((length or 0) * times for _, length, times in self.parts)

    @property
    def unlimited(self) -> list[str]:
        """The setters that have no limit."""
        return [name for name, length, _ in self.parts if length is None]

    def __str__(self) -> str:
        parts = [
            " + ".join([f"{name} {length}"] * times) if times < 5 else f"{times} x {name} {length}"
            for name, length, times in self.parts
        ]
        return " + ".join([*parts, str(self.text)] if self.text else parts)


def limited(definitions: Definitions, rules: Iterable[Rule]) -> Definitions:
    """Return definitions in which a rule on the size of one setter, ``size(NAME) <= 24``, is its maxLength."""
    setters = dict(definitions.setters)
    for rule in rules:
        sides = rule.expression.arguments
        if rule.expression.operator == "<=" and [side.operator for side in sides] == ["size", "literal"]:
            setter = setters.get(sides[0].arguments[0].value)
            if setter and isinstance(most := sides[1].value, int):
                limit = _length(setter.schema)
                length = most if limit is None else min(most, limit)
                setters[setter.name] = setter._replace(schema={**setter.schema, "maxLength": length})
    return definitions.with_setters(setters)


def longest(definition: Setter | Substitution, definitions: Definitions) -> Length:
    """Return the length of the longest text that a definition can yield; raises as `Definitions.setters_of` does.

    It is 0 for a definition that is made of very many setters.
    """
    if len(definitions.setters_of(definition)) > _MOST_SETTERS:  # which rejects a cycle, and what is nested too deep
        return Length(0)
    return _longest(definition, definitions, {})


def _longest(definition: Setter | Substitution, definitions: Definitions, lengths: dict[str, Length]) -> Length:
    """Return the length; ``lengths`` has those of substitutions that were met before."""
    if isinstance(definition, Setter):
        return Length(0, ((definition.name, _of_setter(definition), 1),))
    if definition.name in lengths:
        return lengths[definition.name]
    text = definition.pattern
    parts: dict[str, tuple[int | None, int]] = {}
    fixed = 0
    for marker, reference in definition.markers:
        target = definitions.resolve(reference) if reference else None
        count = text.count(marker)
        if target is not None and count:
            inner = _longest(target, definitions, lengths)
            for name, length, times in inner.parts:
                parts[name] = length, parts.get(name, (None, 0))[1] + times * count
            fixed += inner.text * count
            text = text.replace(marker, "")
    listed = tuple((name, length, times) for name, (length, times) in parts.items())
    lengths[definition.name] = Length(fixed + len(text), listed)
    return lengths[definition.name]


def _of_setter(setter: Setter) -> int | None:
    if setter.enum_values:
        return max(map(len, setter.enum_values.values()))
    schema = setter.schema
    limits = [_FORMATS[form] for form in [schema.get("format")] if isinstance(form, str) and form in _FORMATS]
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices:
        limits.append(max(len(str(choice)) for choice in choices))
    if (length := _length(schema)) is not None:
        limits.append(length)
    if full_type(setter.type) == "integer":
        limits += _digits(schema)
    return min(limits, default=None)


def _length(schema: Mapping[str, object]) -> int | None:
    length = schema.get("maxLength")
    return length if isinstance(length, int) else None


def _digits(schema: Mapping[str, object]) -> list[int]:
    most, least = schema.get("maximum"), schema.get("minimum")
    if not is_number(most):
        return []
    return [max(len(str(int(bound))) for bound in (most, least) if is_number(bound))]
