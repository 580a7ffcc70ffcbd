"""Our own tables: they fit the terminal, or 80 columns, and cut no names.

NAME        VALUE  SET
NFS_SERVER         REQUIRED
    Host name or address of the NFS server.     (`prose`: a line of its own)
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from rich.cells import cell_len, set_cell_size

from packyard.core.errors import on_one_line

_INDENT = "    "
_LEAST = 8


def lines(
    columns: Sequence[str], rows: Callable[[], Iterable[Sequence[str]]], *, wide: bool, prose: int
) -> Iterator[str]:
    """Yield the header and the rows, which are asked for twice: first for the widths of the columns.

    Without ``wide``, cells that are too long are cut, and end in ``…``. A name that leaves no space for the other
    columns has a line of its own.
    """
    room = shutil.get_terminal_size().columns
    kept = len(columns) - (0 if wide else prose)
    headers = [cell_len(on_one_line(cell)) for cell in columns[:kept]]
    widths = headers
    for row in rows():
        widths = [max(size, cell_len(on_one_line(cell))) for size, cell in zip(widths, row[:kept], strict=True)]
    if not wide:
        widths = _fitted(widths, headers, room)
    for number, row in enumerate(chain((columns,), rows())):
        whole = [on_one_line(cell) for cell in row]
        first, *rest = whole[:kept]
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
