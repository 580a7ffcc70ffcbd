"""Exceptions by comments: where they hold, and what is wrong with them."""

import pytest

from packyard.writing.checks.exception import apply
from packyard.writing.checks.finding import Finding


def found(line: int, rule: str = "no-labels", file: str = "a.yaml") -> Finding:
    return Finding(file=file, line=line, column=1, rule=rule, severity="warning", message="m")


def left(text: str, *findings: Finding) -> list[str]:
    judged = apply(findings, {"a.yaml": text.encode()}, {"a.yaml"})
    return [f"{each.line}:{each.column} {each.rule}" for each in judged]


ALLOW = "# packyard: allow no-labels: nobody looks for it"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a: 1 {ALLOW}\n", 1),
        (f"{ALLOW}\na: 1\n", 2),
        (f"{ALLOW}\n# prose\n\na: 1\n", 4),
        (f"  {ALLOW}\n  # packyard: allow no-resources: it stays\n  - a\n", 3),
        (f"a: |\n  run {ALLOW}\n", 2),
        ("<!-- packyard: allow no-labels: why -->\ntext\n", 2),
        (f"a: 1\r\nb: 2 {ALLOW}\r\n", 2),
    ],
)
def test_an_exception_is_for_its_line_or_for_the_next_one_that_is_no_comment(text: str, line: int) -> None:
    more = [found(3, "no-resources")] if "no-resources" in text else []
    assert left(text, found(line), *more) == []
    assert f"{line + 1}:1 no-labels" in left(text, found(line + 1), *more)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# packyard: allow no-labels: why", ["1:6 exception-not-needed"]),
        ("# packyard: allow no-labels", ["1:6 exception-without-reason"]),
        ("# packyard: allow no-labels:", ["1:6 exception-without-reason"]),
        ("# packyard: allow no-lable: why", ["1:6 exception-to-no-rule"]),
        ("# packyard: allow", ["1:6 exception-to-no-rule"]),
        ("# packyard allows much", []),
    ],
)
def test_what_is_wrong_with_an_exception_is_an_error_and_takes_no_finding_away(
    comment: str, expected: list[str]
) -> None:
    assert left(f"a: 1 {comment}\n") == expected
    assert ("1:1 no-labels" in left(f"a: 1 {comment}\n", found(1))) is ("why" not in comment or "lable" in comment)
