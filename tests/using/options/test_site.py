"""A site's file: what it says, and everything that is wrong with it at once."""

from __future__ import annotations

import pytest

from packyard.core.errors import InputError
from packyard.using.options.site import parse

GOOD = """\
# Ours.
options: [queue, spread]
values:
  PVC_NAME: team-data
  ARGUMENTS: [--verbose, --seed=1]
  S3_PREFIX: ""
"""


def test_reads_options_and_values_with_their_lines() -> None:
    site = parse(GOOD.encode(), "site.yaml")
    assert list(site.options) == ["queue", "spread"]
    assert {name: ([*given.texts], given.line) for name, given in site.values.items()} == {
        "PVC_NAME": (["team-data"], 4),
        "ARGUMENTS": (["--verbose", "--seed=1"], 5),
        "S3_PREFIX": ([""], 6),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["site.yaml: holds 0 YAML documents"]),
        ("a: 1\n---\nb: 1\n", ["site.yaml: holds 2 YAML documents"]),
        ("- queue\n", ["site.yaml:1: must be a mapping"]),
        ("just text\n", ["site.yaml:1: must be a mapping"]),
        ("PVC_NAME: a\n", ["site.yaml:1:1: PVC_NAME is not a known key (setters stand below `values`)"]),
        ("value: {}\n", ["site.yaml:1:1: value is not a known key (did you mean 'values'?)"]),
        ("values: [PVC_NAME]\n", ["site.yaml:1:9: values must be a mapping"]),
        ("values: team\n", ["site.yaml:1:9: values must be a mapping"]),
        ("values:\n  A: 1\n  B: 2\n  A: 3\n", ["site.yaml:4:3: "]),
        ("values: {}\nvalues: {}\n", ["site.yaml:2:1: "]),
        (
            "values:\n  A: {b: 1}\n  B: [[]]\n  C:\n",
            ["site.yaml:2: A needs", "site.yaml:3: B needs", "site.yaml:4: C has no"],
        ),
        ("options: queue\n", ["site.yaml:1:10: options must be a list"]),
        ("options: {queue: true}\n", ["site.yaml:1:10: options must be a list"]),
        (
            "options: [queue, [a], ~, queue]\n",
            ["1:18: an option must be", "1:23: an option must be", "1:26: option 'queue' is"],
        ),
        ("others: 1\noptions: 1\nvalues: 1\n", ["site.yaml:1:1: ", "site.yaml:2:10: ", "site.yaml:3:9: "]),
        ("values: {A: [}\n", ["site.yaml:1:"]),
        ("values: {A: \xff}\n", ["site.yaml"]),
        ("[" * 500, ["site.yaml"]),
    ],
)
def test_refuses_what_is_wrong_all_at_once(text: str, expected: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        parse(text.encode("latin-1"), "site.yaml")
    problems = [str(problem) for problem in raised.value.problems]
    assert len(problems) == len(expected), problems
    for problem, part in zip(problems, expected, strict=True):
        assert part in problem
