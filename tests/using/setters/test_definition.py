"""Substitutions: what they yield, each resolved once, with bounds on depth and length."""

from __future__ import annotations

import random

import pytest

from packyard.core.errors import InputError
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution
from sample import tries

EXAMPLES = tries(2000)


def plainly(definitions: Definitions, substitution: Substitution, within: tuple[str, ...] = ()) -> str:
    """Expand as kustomize does, every time anew."""
    if substitution.name in within:
        raise InputError(substitution.problem(f"cyclic substitution detected with name {substitution.name}"))
    text = substitution.pattern
    for marker, reference in substitution.markers:
        target = definitions.resolve(reference) if reference else None
        if target is None:
            what = f"{reference.kind} {reference.name!r}, which is not defined" if reference else "nothing"
            message = f"marker {marker!r} of substitution {substitution.name!r} refers to {what}"
            raise InputError(substitution.problem(message))
        new = target.text if isinstance(target, Setter) else plainly(definitions, target, (*within, substitution.name))
        text = text.replace(marker, new)
    return text


def names(definitions: Definitions, substitution: Substitution) -> set[str]:
    """Return the setters that a substitution without faults is made of."""
    found: set[str] = set()
    for _, reference in substitution.markers:
        target = definitions.resolve(reference) if reference else None
        assert target is not None
        found |= {target.name} if isinstance(target, Setter) else names(definitions, target)
    return found


def graph(chance: random.Random) -> Definitions:
    """Return a few setters, and substitutions of these and of one another, some of them broken."""
    setters = {name: Setter(name, chance.choice(["", "x", "${m0}", "ab"])) for name in ("A0", "A1", "A2")}
    size = chance.randint(1, 7)
    substitutions: dict[str, Substitution] = {}
    for number in range(size):
        markers: list[tuple[str, DefinitionRef | None]] = []
        for _ in range(chance.randint(0, 3)):
            kind = chance.random()
            reference: DefinitionRef | None = None
            if kind < 0.4:
                reference = DefinitionRef("setter", f"A{chance.randint(0, 3 if kind < 0.03 else 2)}")
            elif kind < 0.98:
                before = max(0, number - 1)
                reference = DefinitionRef("substitution", f"S{chance.randint(0, size - 1 if kind < 0.5 else before)}")
            markers.append((chance.choice(["${m0}", "${m1}", "m", "x"]), reference))
        pattern = chance.choice(["${m0}-${m1}", "m", "", "x${m0}"])
        substitutions[f"S{number}"] = Substitution(f"S{number}", pattern, tuple(markers))
    return Definitions(setters, substitutions)


def outcome(expand: object, *arguments: object) -> str:
    try:
        return str(expand(*arguments))  # type: ignore[operator]
    except InputError as error:
        return f"refused: {error}"


def test_yields_what_it_yields_when_it_is_expanded_plainly_in_whatever_order_it_is_asked() -> None:
    chance = random.Random(21)
    refused = 0
    for _ in range(EXAMPLES):
        definitions = graph(chance)
        asked = list(definitions.substitutions.values())
        chance.shuffle(asked)
        for substitution in asked:
            expected = outcome(plainly, definitions, substitution)
            assert outcome(definitions.expand, substitution) == expected
            if expected.startswith("refused"):
                refused += 1
                assert outcome(definitions.setters_of, substitution) == expected
            else:
                assert definitions.setters_of(substitution) == names(definitions, substitution)
    assert refused > EXAMPLES / 10


def chain(length: int, pattern: str, markers: tuple[str, ...]) -> Definitions:
    """Return substitutions each of which is made of the one before, by each of its markers."""
    substitutions = {}
    for number in range(length):
        below = DefinitionRef("substitution", f"S{number - 1}") if number else DefinitionRef("setter", "A")
        listed = tuple((marker, below) for marker in markers)
        substitutions[f"S{number}"] = Substitution(f"S{number}", pattern, listed)
    return Definitions({"A": Setter("A", "2")}, substitutions)


@pytest.mark.parametrize(
    ("length", "pattern", "markers", "expected"),
    [
        (40, "x", ("a", "b"), "x"),
        (100, "${x}", ("${x}",), "2"),
        (20, "${x}${x}", ("${x}",), "2" * 2**20),
        (40, "${x}${x}", ("${x}",), "refused: substitution S20 yields more than 1048576 characters"),
        (1000, "${x}", ("${x}",), "refused: substitution S999 holds more than 99 others, one within another"),
        (5000, "x", ("a", "b"), "refused: substitution S4999 holds more than 99 others, one within another"),
        (1, "x" * 1000, ("",), "2" + "x2" * 1000),
    ],
)
def test_depth_and_length_have_bounds(length: int, pattern: str, markers: tuple[str, ...], expected: str) -> None:
    definitions = chain(length, pattern, markers)
    found = outcome(definitions.expand, definitions.substitutions[f"S{length - 1}"])
    assert found.partition(" (")[0] == expected


def test_many_fields_with_long_texts_are_refused_together() -> None:
    definitions = chain(20, "${x}${x}", ("${x}",))
    long = {f"L{number}": Substitution(f"L{number}", "m", (("m", DefinitionRef("", "S19")),)) for number in range(100)}
    definitions = Definitions(definitions.setters, {**definitions.substitutions, **long})
    found = [outcome(definitions.expand, substitution)[:60] for substitution in long.values()]
    assert found[0] == "2" * 60
    assert found[-1] == "refused: fields have more than 16777216 characters by substitutions"[:60]
