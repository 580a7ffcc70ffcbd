"""docs/design.md: the rooms that it names are those whose order `test_imports` holds."""

from __future__ import annotations

import re

import test_imports
from documents import pages

PAGE = (pages.DOCS / "design.md").read_text("utf-8")
ROOMS = [name for name in test_imports.ROOMS if not name.startswith("_")]


def test_the_table_names_every_room_in_the_order_of_imports() -> None:
    named = [name for cells in pages.rows(PAGE, "| room |") for name in re.findall(r"`([\w.]+)`", cells[0])]
    assert named == ROOMS


def test_the_picture_shows_rooms_and_nothing_else() -> None:
    (picture,) = (block.text for block in pages.blocks(PAGE) if block.kind == "mermaid")
    shown = set(re.findall(r"\b[a-z]+\b", re.sub(r"\|[^|]*\||^flowchart.*$", "", picture, flags=re.MULTILINE)))
    assert shown <= set(ROOMS)
    whole = {room for room in ROOMS if "." not in room}
    assert shown >= whole - {"errors", "digest", "work", "upgrade", "cluster"}
