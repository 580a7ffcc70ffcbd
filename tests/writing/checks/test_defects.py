"""Defects of real packages, each in a small case of our own.

A case is a folder ``defects/NAME/``, named for its defect, with the files of a package, or the entries of an archive in
``archive``, and with ``expected``: a line ``FILE:LINE RULE`` for each finding that shows the defect. Adding a case
needs no Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import archive, folder
from packyard.writing.checks.finding import Finding
from writing.checks import packed

CASES = Path(__file__).with_name("defects")
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
