"""Which packages a change of sources cannot touch: those to whose questions both sources give the same answers."""

from __future__ import annotations

from collections.abc import Iterable

from packyard.core.errors import PackyardError
from packyard.writing.build.packing import Packing


def untouched(before: Packing, after: Packing, names: Iterable[str]) -> list[str]:
    """Return those of some packages that are the same in both sources; nothing is composed to know that."""
    return [name for name in names if _agree(before, after, name)]


def _agree(before: Packing, after: Packing, name: str) -> bool:
    try:
        return after.kept.agrees(before.asked(name))
    except PackyardError:  # composing it tells what is wrong
        return False
