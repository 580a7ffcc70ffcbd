"""The tables of the catalogue: README.md names every package, docs/using.md every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import real
from documents import pages


@pytest.mark.parametrize(
    ("page", "header", "folder"),
    [(pages.README, "| package |", "packages"), (pages.DOCS / "using.md", "| option |", "overlays/options")],
)
def test_the_table_names_each_once(page: Path, header: str, folder: str) -> None:
    named = [name for cells in pages.rows(page.read_text("utf-8"), header) for name in re.findall("`(.*?)`", cells[0])]
    assert sorted(named) == sorted(path.name for path in (real.REPOSITORY / folder).iterdir() if path.is_dir())
