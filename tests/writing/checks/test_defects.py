"""The defects of the register: each is found in a small case of our own, or stands in the page with the reason why not.

A case is a folder ``defects/ID/`` with the files of a package, or the entries of an archive in ``archive``, and with
``expected``: a line ``FILE:LINE RULE`` for each finding that shows the defect. Adding a case needs no Python.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import real
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import archive, folder
from packyard.writing.checks.finding import Finding
from writing.checks import packed

CASES = Path(__file__).with_name("defects")
PAGE = Path(__file__).parents[3] / "docs/lint.md"
#: How many defects each part of the register has.
REGISTER = {"I": 59, "B": 38, "O": 23, "A": 36, "T": 30, "K": 15, "M": 20, "V": 13}
IDS = {f"{part}-{number}" for part, count in REGISTER.items() for number in range(1, count + 1)}
FOUND = sorted(case.name for case in CASES.iterdir())


def findings(case: Path, scratch: Path) -> list[Finding]:
    judges = schemas.choose(("1.31",))
    listing = case / "archive"
    if listing.is_file():
        return archive.lint(packed.write(listing.read_text(), scratch), judges=judges).findings
    return folder.lint(Tree(case), judges=judges).findings


@pytest.mark.parametrize("name", FOUND)
def test_finds_the_defect(name: str, tmp_path: Path) -> None:
    if schemas.missing():
        real.absent(" and ".join(schemas.missing()), remedy=schemas.EXTRA)
    case = CASES / name
    found = {
        f"{each.file.removeprefix(f'{case}/').removeprefix(f'{tmp_path}/')}:{each.line} {each.rule}"
        for each in findings(case, tmp_path)
    }
    expected = set((case / "expected").read_text().splitlines())
    assert expected
    assert expected <= found


def unfindable() -> list[str]:
    """Return the defects that the page lists as not findable; ``B-1 to B-11`` names all of them."""
    section = PAGE.read_text().partition("## What lint cannot find")[2]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    found = []
    for first, last in (pair for cell in cells for pair in re.findall(r"([A-Z]-\d+)(?: to ([A-Z]-\d+))?", cell)):
        part, start = first.split("-")
        found += [f"{part}-{number}" for number in range(int(start), int((last or first).split("-")[1]) + 1)]
    return found


def test_each_defect_is_found_or_has_a_reason() -> None:
    listed = unfindable()
    assert sorted(listed) == sorted(set(listed))
    assert not set(listed) & set(FOUND)
    assert set(listed) | set(FOUND) == IDS
