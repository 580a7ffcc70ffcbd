"""Faults between definitions, comments and fields."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tiny

Found = Callable[..., list[str]]


def krmfile(*definitions: str) -> str:
    """Return a Krmfile with a definition a line, the first on line 5."""
    lines = ["apiVersion: config.k8s.io/v1alpha1", "kind: Krmfile", "openAPI:", "  definitions:"]
    for definition in definitions:
        name, _, body = definition.partition(" ")
        lines.append(f"    io.k8s.cli.{name}: {{x-k8s-cli: {{{name.split('s.')[0]}: {body}}}}}")
    return "\n".join(lines) + "\n"


def setter(name: str, value: str = '"1"', more: str = "") -> str:
    return f"setters.{name} {{name: {name}, value: {value}{more}}}"


def substitution(name: str, pattern: str, **markers: str) -> str:
    values = ", ".join(
        f"{{marker: '${{{marker}}}', ref: '#/definitions/io.k8s.cli.{ref}'}}" for marker, ref in markers.items()
    )
    return f"substitutions.{name} {{name: {name}, pattern: '{pattern}', values: [{values}]}}"


TAG = setter("TAG")
USE_TAG = 'a: "1" # {"$openapi":"TAG"}\n'


def test_a_setter_that_only_a_substitution_of_a_substitution_uses_is_used(found: Found) -> None:
    inner = substitution("INNER", "${TAG}-x", TAG="setters.TAG")
    outer = substitution("OUTER", "a:${INNER}", INNER="substitutions.INNER")
    assert found(krmfile(TAG, inner, outer), a_yaml='a: a:1-x # {"$openapi":"OUTER"}\n') == []


def test_an_exception_is_not_called_needless_where_another_file_cannot_be_read(found: Found) -> None:
    sound = f"# packyard: allow moving-tag: why\n{USE_TAG}"
    assert found(krmfile(TAG), a_yaml=sound) == ["a.yaml:1:1 error exception-not-needed"]
    assert found(krmfile(TAG), a_yaml=sound, b_yaml="b: [\n") == ["b.yaml:2:1 error unreadable"]


LISTED = """\
openAPI:
  definitions:
    io.k8s.cli.setters.ARGS:
      type: array
      x-k8s-cli: {setter: {name: ARGS, listValues: [a, b]}}
"""


def test_compares_lists_as_lists(found: Found) -> None:
    assert found(LISTED, a_yaml='args: # {"$openapi":"ARGS"}\n- a\n- b\n') == []
    assert found(LISTED, a_yaml='args: # {"$openapi":"ARGS"}\n- a\n') == ["a.yaml:2:1 error value-disagrees"]


REQUIRED = ", required: true"


@pytest.mark.parametrize(
    ("definition", "field", "expected"),
    [
        (setter("TAG", '""', REQUIRED), '""', []),
        (setter("TAG", '""', REQUIRED + ", isSet: true"), '""', ["Krmfile:5:89 error required-but-set"]),
        (setter("TAG", '"1"', REQUIRED + ", isSet: true"), '"1"', ["Krmfile:5:90 error required-but-set"]),
        (setter("TAG", '"1"', REQUIRED), '"1"', ["Krmfile:5:62 warning required-with-value"]),
        (setter("TAG", '"1"', ", isSet: true"), '"1"', []),
    ],
)
def test_a_required_setter_ships_empty(found: Found, definition: str, field: str, expected: list[str]) -> None:
    text = f'a: {field} # {{"$openapi":"TAG"}}\n'
    explained = krmfile(definition).replace("}}}\n", "}}, description: What it is.}\n")
    assert found(explained, a_yaml=text) == expected
    assert found(explained, shipped=False, a_yaml=text) == []


RULES = tiny.text("checks/rules/Krmfile")


def test_a_users_copy_has_to_keep_the_rules_by_its_values_alone(found: Found) -> None:
    file = 'n: 1 # {"$openapi":"N"}\n'
    assert found(f"{RULES}  rule: N < 4\n", a_yaml=file, shipped=False) == []
    assert found(f"{RULES}  rule: N > 1\n", a_yaml=file, shipped=False) == ["Krmfile:10:9 error broken-rule"]
