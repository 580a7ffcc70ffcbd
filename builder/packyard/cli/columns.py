"""Our own tables: they fit the terminal, or 80 columns, and cut no names.

NAME        VALUE  SET
NFS_SERVER         REQUIRED
    Host name or address of the NFS server.     (`prose`: a line of its own)
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from packyard.errors import on_one_line

_INDENT = "    "
_LEAST = 8


def lines(columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: bool, prose: int) -> Iterator[str]:
    """Yield the header and the rows; without ``wide``, cells that are too long are cut, and end in ``…``.

    A name that leaves no space for the other columns has a line of its own.
    """
    shown = [[on_one_line(cell) for cell in row] for row in (columns, *rows)]
    room = shutil.get_terminal_size().columns
    kept = len(columns) - (0 if wide else prose)
    cells = [row[:kept] for row in shown]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    if not wide:
        widths = _fitted(widths, [cell_len(cell) for cell in cells[0]], room)
    for number, (row, whole) in enumerate(zip(cells, shown, strict=True)):
        first, *rest = row
        if cell_len(first) > widths[0] and rest:
            yield first
            first = ""
        fitted = [_to_width(cell, size, cut=not wide) for cell, size in zip(rest, widths[1:], strict=True)]
        yield "  ".join([_to_width(first, widths[0], cut=False), *fitted]).rstrip()
        for text in filter(None, whole[kept:] if number else ()):
            yield _INDENT + _to_width(text, room - len(_INDENT), cut=True).rstrip()


def _fitted(widths: list[int], headers: list[int], room: int) -> list[int]:
    """Return the widths of columns: at least readable, then names in full, then the others evenly."""
    fitted = [min(size, max(header, _LEAST)) for size, header in zip(widths, headers, strict=True)]
    free = room - 2 * (len(widths) - 1) - sum(fitted)
    for places in ([0], range(1, len(widths))):
        while free > 0 and (short := [place for place in places if fitted[place] < widths[place]]):
            for place in short[:free]:
                fitted[place] += 1
            free -= min(free, len(short))
    return fitted


def _to_width(text: str, size: int, *, cut: bool) -> str:
    if cut and cell_len(text) > size:
        return set_cell_size(text, size - 1) + "…"
    return text + " " * (size - cell_len(text))
