"""Substitutions: each is resolved once, with bounds on depth and length."""

import pytest

from packyard.core.errors import InputError
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution


def outcome(expand: object, *arguments: object) -> str:
    try:
        return str(expand(*arguments))  # type: ignore[operator]
    except InputError as error:
        return f"refused: {error}"


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
    ids=lambda value: str(value)[:40],
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


def test_a_marker_of_what_is_not_defined_is_refused() -> None:
    substitution = Substitution("S", "m", (("m", DefinitionRef("setter", "A")),))
    message = "marker 'm' of substitution 'S' refers to setter 'A', which is not defined"
    with pytest.raises(InputError, match=message):
        Definitions({}, {"S": substitution}).expand(substitution)
