"""Faults that rules of an API server find in YAML, and what several of these rules look for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from packyard.core.yaml.node import Entry, MappingNode, Node
from packyard.core.yaml.values import to_value

#: Where, what, and a hint.
Fault = tuple[Node | Entry, str, str]


def twice(listed: Iterable[MappingNode], what: str, *fields: str) -> Iterator[Fault]:
    """Find what has the same fields as another of a list."""
    earlier: set[tuple[str, ...]] = set()
    for item in listed:
        values = tuple(item.text(field) for field in fields)
        if values[0] and values in earlier:
            yield item, f"{what} {values[0]!r} occurs twice", "give each its own"
        earlier.add(values)


def one(holder: MappingNode, fields: Sequence[str], what: str) -> Iterator[Fault]:
    """Find what has not exactly one of some fields."""
    there = given(holder, fields)
    if not there:
        yield holder, f"{what} has none of {', '.join(fields)}", "add one"
    elif len(there) > 1:
        yield from at(holder, there[1], f"{what} has {there[0]} and {there[1]}", "remove one")


def given(holder: MappingNode, fields: Iterable[str]) -> list[str]:
    """Return which of some fields have a value; an empty list is none."""
    return [field for field in fields if to_value(holder.get(field)) not in (None, [])]


def at(holder: MappingNode, field: str, message: str, hint: str) -> Iterator[Fault]:
    """Yield a fault of a field."""
    yield holder.get(field) or holder, message, hint
