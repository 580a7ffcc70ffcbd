"""Defects of real packages, each in a small case of our own.

A case is a folder ``defects/NAME/``, named for its defect, with the files of a package, and with ``expected``: a line
``FILE:LINE RULE`` for each finding that shows the defect. Adding a case needs no Python.
"""

from pathlib import Path

import pytest

from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

CASES = Path(__file__).with_name("defects")
FOUND = sorted(case.name for case in CASES.iterdir())


@pytest.mark.parametrize("name", FOUND)
def test_finds_the_defect(name: str) -> None:
    case = CASES / name
    found = {
        f"{finding.file.removeprefix(f'{case}/')}:{finding.line} {finding.rule}"
        for finding in folder.lint(Tree(case), judges=schemas.choose(("1.31",))).findings
    }
    expected = set((case / "expected").read_text().splitlines())
    assert expected
    assert expected <= found
