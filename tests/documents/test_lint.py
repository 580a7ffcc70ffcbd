"""The page about lint has every rule; run as a program, this writes them there."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from packyard.writing.checks.explanation import table

PAGE = Path(__file__).parents[2] / "docs/lint.md"
END = "a test holds it. -->\n"
#: What people wrote begins here again.
NEXT = "\n## What lint cannot find\n"


def rows() -> str:
    lines = []
    for family, rules in groupby(table().values(), key=lambda rule: rule.family):
        lines += ["", f"### {family}", "", "| rule | severity | fixed | what is wrong |", "| --- | --- | --- | --- |"]
        lines += [
            f"| `{rule.name}` | {rule.severity} | {'yes' if rule.fix else ''} | {rule.summary} |" for rule in rules
        ]
    return "".join(f"{line}\n" for line in lines)


def test_the_page_has_the_table_of_rules() -> None:
    assert PAGE.read_text().partition(END)[2].partition(NEXT)[0] == rows(), (
        "python tests/documents/test_lint.py writes it"
    )


if __name__ == "__main__":
    head, end, rest = PAGE.read_text().partition(END)
    PAGE.write_text(head + end + rows() + "".join(rest.partition(NEXT)[1:]))
