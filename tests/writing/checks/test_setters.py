"""Faults between definitions, comments and fields."""

from collections.abc import Callable

import tiny

Found = Callable[..., list[str]]


KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.TAG: {x-k8s-cli: {setter: {name: TAG, value: "1"}}}
"""
NESTED = """\
    io.k8s.cli.substitutions.INNER:
      x-k8s-cli:
        substitution:
          name: INNER
          pattern: ${TAG}-x
          values: [{marker: "${TAG}", ref: "#/definitions/io.k8s.cli.setters.TAG"}]
    io.k8s.cli.substitutions.OUTER:
      x-k8s-cli:
        substitution:
          name: OUTER
          pattern: a:${INNER}
          values: [{marker: "${INNER}", ref: "#/definitions/io.k8s.cli.substitutions.INNER"}]
"""


def test_a_setter_that_only_a_substitution_of_a_substitution_uses_is_used(found: Found) -> None:
    assert found(KRMFILE + NESTED, a_yaml='a: a:1-x # {"$openapi":"OUTER"}\n') == []


def test_an_exception_is_not_called_needless_where_another_file_cannot_be_read(found: Found) -> None:
    sound = '# packyard: allow moving-tag: why\na: "1" # {"$openapi":"TAG"}\n'
    assert found(KRMFILE, a_yaml=sound) == ["a.yaml:1:1 error exception-not-needed"]
    assert found(KRMFILE, a_yaml=sound, b_yaml="b: [\n") == ["b.yaml:2:1 error unreadable"]


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


RULES = tiny.text("checks/rules/Krmfile")


def test_a_users_copy_has_to_keep_the_rules_by_its_values_alone(found: Found) -> None:
    file = 'n: 1 # {"$openapi":"N"}\n'
    assert found(f"{RULES}  rule: N < 4\n", a_yaml=file, shipped=False) == []
    assert found(f"{RULES}  rule: N > 1\n", a_yaml=file, shipped=False) == ["Krmfile:10:9 error broken-rule"]
