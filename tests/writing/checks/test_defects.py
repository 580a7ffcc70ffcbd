"""Defects of real packages: each is found in a small case of our own, or stands in the page with the reason why not.

A case is a folder ``defects/NAME/``, named for its defect, with the files of a package, or the entries of an archive in
``archive``, and with ``expected``: a line ``FILE:LINE RULE`` for each finding that shows the defect. Adding a case
needs no Python. ``register.txt`` lists the defects of the zoo: each is shown by a case, or is what the page calls it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from documents.pages import rows
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import archive, folder
from packyard.writing.checks.finding import Finding
from writing.checks import packed

CASES = Path(__file__).with_name("defects")
PAGE = Path(__file__).parents[3] / "docs/lint.md"
REGISTER = Path(__file__).with_name("register.txt")
#: How many defects each part of the register has.
PARTS = {"I": 59, "B": 38, "O": 23, "A": 36, "T": 30, "K": 15, "M": 20, "V": 13}
IDS = [f"{part}-{number}" for part, count in PARTS.items() for number in range(1, count + 1)]
FOUND = sorted(case.name for case in CASES.iterdir())


def findings(case: Path, scratch: Path) -> list[Finding]:
    judges = schemas.choose(("1.31",))
    listing = case / "archive"
    if listing.is_file():
        return archive.lint(packed.write(listing.read_text(), scratch), judges=judges).findings
    return folder.lint(Tree(case), judges=judges).findings


@pytest.mark.parametrize("name", FOUND)
def test_finds_the_defect(name: str, tmp_path: Path) -> None:
    case = CASES / name
    found = {
        f"{each.file.removeprefix(f'{case}/').removeprefix(f'{tmp_path}/')}:{each.line} {each.rule}"
        for each in findings(case, tmp_path)
    }
    expected = set((case / "expected").read_text().splitlines())
    assert expected
    assert expected <= found


def unfindable() -> list[str]:
    """Return what the page calls the defects that lint cannot find."""
    section = PAGE.read_text().partition("## What lint cannot find")[2]
    return [row[0] for row in rows(section, "| what they are |")]


def test_each_defect_is_found_or_has_a_reason() -> None:
    register = dict(line.split(" ", 1) for line in REGISTER.read_text().splitlines())
    assert list(register) == IDS
    shown = [text for text in register.values() if not text.startswith("not found: ")]
    assert max(Counter(shown).values()) == 1
    assert set(shown) <= set(FOUND)
    reasons = {text.removeprefix("not found: ") for text in register.values()} - set(shown)
    assert reasons == set(unfindable())
