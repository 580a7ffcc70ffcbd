"""Faults between definitions, comments and fields."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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


def test_a_package_without_faults_has_no_findings(found: Found) -> None:
    definitions = krmfile(TAG, substitution("IMAGE", "nginx:${TAG}", TAG="setters.TAG"))
    assert found(definitions, a_yaml='image: nginx:1 # {"$openapi":"IMAGE"}\n') == []


def test_finds_a_comment_that_resolves_to_nothing(found: Found) -> None:
    files = 'a: 1 # {"$openapi":"TAGG"}\nb: # {"$ref":"#/definitions/io.k8s.cli.substitutions.TAG"}\n- x\n' + USE_TAG
    assert found(krmfile(TAG), a_yaml=files.replace('a: "1"', 'c: "1"')) == [
        "a.yaml:1:6 error unresolved-comment",
        "a.yaml:2:4 error unresolved-comment",
    ]


def test_finds_a_comment_that_binds_nothing_where_it_stands(found: Found) -> None:
    text = f'# {{"$openapi":"TAG"}}\n\n{USE_TAG}m: # {{"$openapi":"TAG"}}\n  x: 1\n'
    assert found(krmfile(TAG), a_yaml=text) == [
        "a.yaml:1:1 warning unbound-comment",
        "a.yaml:4:4 warning unbound-comment",
    ]


def test_finds_a_comment_behind_the_header_of_a_block_scalar(found: Found) -> None:
    text = f'{USE_TAG}m: |- # {{"$openapi":"TAG"}}\n  x\n# {{"$openapi":"TAG"}}\nn: >-  # a note\n  x\n'
    assert "a.yaml:2:7 warning unbound-comment" in found(krmfile(TAG), a_yaml=text)


def test_an_ordinary_comment_is_no_finding(found: Found) -> None:
    assert found(krmfile(TAG), a_yaml='# {"a": 1}\n' + USE_TAG + "# see {TAG}\n") == []


def test_finds_definitions_that_reach_no_field(found: Found) -> None:
    definitions = krmfile(TAG, setter("DEAD"), substitution("GONE", "${DEAD}", DEAD="setters.DEAD"))
    assert found(definitions, a_yaml=USE_TAG) == [
        "Krmfile:6:5 error unused-definition",
        "Krmfile:7:5 error unused-definition",
    ]


def test_a_setter_that_only_a_substitution_of_a_substitution_uses_is_used(found: Found) -> None:
    inner = substitution("INNER", "${TAG}-x", TAG="setters.TAG")
    outer = substitution("OUTER", "a:${INNER}", INNER="substitutions.INNER")
    assert found(krmfile(TAG, inner, outer), a_yaml='a: a:1-x # {"$openapi":"OUTER"}\n') == []


def test_a_definition_is_not_called_unused_where_a_file_cannot_be_read(found: Found) -> None:
    assert found(krmfile(TAG), a_yaml="a: [\n") == ["a.yaml:2:1 error unreadable"]


def test_an_exception_is_not_called_needless_where_another_file_cannot_be_read(found: Found) -> None:
    sound = f"# packyard: allow moving-tag: why\n{USE_TAG}"
    assert found(krmfile(TAG), a_yaml=sound) == ["a.yaml:1:1 error exception-not-needed"]
    assert found(krmfile(TAG), a_yaml=sound, b_yaml="b: [\n") == ["b.yaml:2:1 error unreadable"]


def test_a_setter_that_only_the_pattern_of_a_part_names_is_used(found: Found) -> None:
    inner = "substitutions.INNER {name: INNER, pattern: '${TAG}-x'}"
    outer = "substitutions.OUTER {name: OUTER, pattern: 'a:${INNER}'}"
    assert not any(
        "unused" in each for each in found(krmfile(TAG, inner, outer), a_yaml='a: a # {"$openapi":"OUTER"}\n')
    )


@pytest.mark.parametrize(("field", "faulty"), [('"1"', False), ("1", False), ("'1'", False), ("2", True), ('""', True)])
def test_finds_a_field_that_disagrees_with_its_setter(found: Found, field: str, faulty: bool) -> None:
    expected = ["a.yaml:1:4 error value-disagrees"] if faulty else []
    assert found(krmfile(TAG), a_yaml=f'a: {field} # {{"$openapi":"TAG"}}\n') == expected


def test_finds_a_field_that_disagrees_with_its_substitution(found: Found) -> None:
    definitions = krmfile(TAG, substitution("IMAGE", "nginx:${TAG}", TAG="setters.TAG"))
    assert found(definitions, a_yaml='image: nginx:2 # {"$openapi":"IMAGE"}\n') == ["a.yaml:1:8 error value-disagrees"]


def test_knows_the_text_that_an_enumeration_stands_for(found: Found) -> None:
    definitions = krmfile(setter("SIZE", "small", ', enumValues: {small: "2", large: "8"}'))
    assert found(definitions, a_yaml='cpu: 2 # {"$openapi":"SIZE"}\n') == []
    assert found(definitions, a_yaml='cpu: small # {"$openapi":"SIZE"}\n') == ["a.yaml:1:6 error value-disagrees"]


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


def test_finds_comments_that_do_not_fit_lists_or_texts(found: Found) -> None:
    text = f'{USE_TAG}args: # {{"$openapi":"TAG"}}\n- b\n'
    assert found(krmfile(TAG), a_yaml=text) == ["a.yaml:2:7 warning comment-does-not-fit"]
    assert found(LISTED, a_yaml='args: # {"$openapi":"ARGS"}\n- a\n- b\nx: a # {"$openapi":"ARGS"}\n') == [
        "a.yaml:4:6 warning comment-does-not-fit"
    ]


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


@pytest.mark.parametrize("value", ["4", "1.7", "true", "0x1"])
def test_finds_values_without_quotes_that_stop_kustomize(found: Found, value: str) -> None:
    text = f'a: {value} # {{"$openapi":"TAG"}}\n'
    assert found(krmfile(setter("TAG", value)), a_yaml=text) == ["Krmfile:5:69 error unquoted-value"]


@pytest.mark.parametrize("value", ["x", '"4"', "'4'", "yes", "v1", "''"])
def test_text_that_needs_no_quotes_is_no_finding(found: Found, value: str) -> None:
    assert found(krmfile(setter("TAG", value)), a_yaml=f'a: {value} # {{"$openapi":"TAG"}}\n') == []


def test_finds_a_marker_that_the_pattern_lacks(found: Found) -> None:
    image = substitution("IMAGE", "nginx:1", TAG="setters.TAG")
    assert found(krmfile(TAG, image), a_yaml=f'{USE_TAG}i: nginx:1 # {{"$openapi":"IMAGE"}}\n') == [
        "Krmfile:6:107 error missing-marker"
    ]


def test_finds_a_marker_that_stands_for_another_name(found: Found) -> None:
    path = substitution("PATH", "/${PVC}/x", PVC="setters.NFS")
    text = 'a: /n/x # {"$openapi":"PATH"}\n'
    assert found(krmfile(setter("NFS", "n"), path), a_yaml=text) == ["Krmfile:6:131 warning marker-disagrees"]
    both = krmfile(setter("NFS", "n"), path, setter("PVC", "p"))
    assert found(both, a_yaml=text + 'b: p # {"$openapi":"PVC"}\n') == ["Krmfile:6:131 error marker-disagrees"]


def test_finds_a_marker_that_refers_to_nothing(found: Found) -> None:
    image = substitution("IMAGE", "nginx:${TAG}", TAG="setters.TAGS")
    assert found(krmfile(image), a_yaml='a: nginx:1 # {"$openapi":"IMAGE"}\n') == [
        "Krmfile:5:136 error unresolved-marker"
    ]


def test_finds_a_marker_in_the_pattern_that_nothing_lists(found: Found) -> None:
    image = substitution("IMAGE", "nginx:${TAG}${SUFFIX}", TAG="setters.TAG")
    assert found(krmfile(TAG, image), a_yaml='a: nginx:1${SUFFIX} # {"$openapi":"IMAGE"}\n') == [
        "Krmfile:6:87 warning unlisted-marker"
    ]


def test_finds_a_setter_and_a_substitution_of_one_name(found: Found) -> None:
    twin = substitution("TAG", "v${N}", N="setters.N")
    text = f'{USE_TAG}b: v2 # {{"$ref":"#/definitions/io.k8s.cli.substitutions.TAG"}}\n'
    assert found(krmfile(TAG, setter("N", '"2"'), twin), a_yaml=text) == ["Krmfile:7:5 warning ambiguous-name"]


def test_finds_a_substitution_that_contains_itself(found: Found) -> None:
    one = substitution("ONE", "${TWO}", TWO="substitutions.TWO")
    two = substitution("TWO", "${ONE}", ONE="substitutions.ONE")
    assert found(krmfile(one, two), a_yaml='a: x # {"$openapi":"ONE"}\n') == [
        "Krmfile:5:5 error cyclic-substitution",
        "Krmfile:6:5 error cyclic-substitution",
    ]


TYPED = """\
openAPI:
  definitions:
    io.k8s.cli.setters.TAG:
      type: integer
      maximum: 9
      x-k8s-cli: {setter: {name: TAG, value: "1"}}
      default: "1"
      example: "1"
"""


@pytest.mark.parametrize(("what", "place"), [("value: ", "6:46"), ("default: ", "7:16"), ("example: ", "8:16")])
def test_finds_a_value_that_its_own_definition_refuses(found: Found, what: str, place: str) -> None:
    text = 'a: 1 # {"$openapi":"TAG"}\n'
    assert found(TYPED, a_yaml=text) == []
    for bad in ('"10"', '"x"'):
        findings = found(TYPED.replace(what + '"1"', what + bad), a_yaml=text)
        assert f"Krmfile:{place} error refused-value" in findings


def test_a_value_that_is_still_to_be_set_is_not_refused(found: Found) -> None:
    required = TYPED.replace('value: "1"', 'value: "", required: true').replace('      default: "1"\n', "")
    assert found(required, a_yaml='a: "" # {"$openapi":"TAG"}\n') == []
