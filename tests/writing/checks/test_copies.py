"""Packages whose use cases are edited copies of each other, with what is forgotten in some: tests/trees/copies.

`copies.txt` has every finding of `lint`. With PACKYARD_WRITE=1, the test writes it, for you to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

COPIES = tiny.TREES / "copies"
EXPECTED = Path(__file__).with_name("copies.txt")


@pytest.fixture(scope="module")
def found() -> list[str]:
    """What lint finds in all of them."""
    findings = folder.lint(Tree(COPIES), judges=schemas.choose(("1.31",))).findings
    return [
        f"{each.file.removeprefix(f'{COPIES}/')}:{each.line}:{each.column} {each.severity} {each.rule}"
        for each in findings
    ]


def test_finds_each_fault_at_its_place_and_nothing_else(found: list[str]) -> None:
    if os.environ.get("PACKYARD_WRITE"):
        EXPECTED.write_text("".join(f"{line}\n" for line in found))
    assert found == EXPECTED.read_text().splitlines()
