"""Files that kustomize's writers would change, or that stop them."""

import pytest

from packyard.writing.checks.finding import Finding
from writing.checks.linting import essential, lint, package

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      x-k8s-cli: {setter: {name: A, value: "1"}}
"""
BOUND = 'a: "1" # {"$openapi":"A"}\n'


def judged(text: str, krmfile: str = KRMFILE, *, shipped: bool = True) -> list[Finding]:
    return essential(lint(package({"a.yaml": text}, krmfile), shipped=shipped))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("b: 1\n\nc: 1\n\n", [3, 5]),
        ("b:\n  - c:\n    - d\n  -   - e\n", [3]),
        ("b: 1 # é\n# ü\n", [2, 3]),
        ("b: 1", [2]),
        ("b: 1\r\n", [1]),
        ("b: |\n  c\n\n  d\nc: >-\n\n  e\n\n\n", [9, 10]),
        ("b:\n- c: 1\n  d:\n  - é\n- - e\n", []),
    ],
)
def test_finds_each_line_that_would_change_with_a_set(text: str, lines: list[int]) -> None:
    assert [(each.line, each.rule) for each in judged(BOUND + text)] == [(line, "rewritten") for line in lines]


def test_of_a_users_file_the_first_line_is_named_alone() -> None:
    (found,) = judged(f"{BOUND}b: 1\n\nc:\n  - 1\n\n", shipped=False)
    assert (found.line, found.message) == (3, "kustomize removes blank lines; likewise 2 more in this file")
