"""docs/design.md: the rooms that it names are those whose order `test_imports` holds."""

from __future__ import annotations

import re

import test_imports
from documents import pages

PAGE = (pages.DOCS / "design.md").read_text("utf-8")
ROOMS = [name for name in test_imports.ROOMS if not name.startswith("_")]


def test_the_tables_name_every_room_in_the_order_of_imports() -> None:
    tables = [part for part in PAGE.split("\n\n") if part.startswith("| room |")]
    cells = [row[0] for table in tables for row in pages.rows(table, "| room |")]
    assert [name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)] == ROOMS


def test_the_picture_shows_which_house_knows_which() -> None:
    (picture,) = (block.text for block in pages.blocks(PAGE) if block.kind == "mermaid")
    lines = [re.sub(r"\|(\w+)\|", r"\1:", line).split("-->") for line in picture.splitlines() if "-->" in line]
    shown = {
        (house.strip(), known.strip())
        for above, below in lines
        for house in above.split("&")
        for known in below.split("&")
    }
    told = {
        (house, ": ".join(reversed(room.split(".")))) for house, rooms in test_imports.HOUSES.items() for room in rooms
    }
    above_all = {(house, "core") for house in ("cli", "writing", "running")}
    assert shown == told - above_all
