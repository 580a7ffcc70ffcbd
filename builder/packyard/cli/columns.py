"""Tables of our own: they fit the terminal, 80 columns where there is none, and cut no names.

NAME        VALUE  SET
NFS_SERVER         REQUIRED
    Host name or address of the NFS server.     (`prose`: a line of its own)
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

from packyard.cli.tablewriter import display_width
from packyard.errors import on_one_line

_INDENT = "    "
_LEAST = 8


def lines(columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: bool, prose: bool) -> Iterator[str]:
    """Yield the header and the rows; without ``wide`` what is too long for the room ends in ``…``."""
    shown = [[on_one_line(cell) for cell in row] for row in (columns, *rows)]
    room = shutil.get_terminal_size().columns
    split = prose and not wide
    cells = [row[:-1] if split else row for row in shown]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    if not wide:
        widths = _fitted(widths, [display_width(cell) for cell in cells[0]], room)
    for number, (row, whole) in enumerate(zip(cells, shown, strict=True)):
        yield "  ".join(_to_width(cell, size, cut=not wide) for cell, size in zip(row, widths, strict=True)).rstrip()
        if split and number and whole[-1]:
            yield _INDENT + _to_width(whole[-1], room - len(_INDENT), cut=True).rstrip()


def _fitted(widths: list[int], headers: list[int], room: int) -> list[int]:
    """Narrow the widest columns but the first until all fit, or each is as narrow as can be read."""
    least = [min(size, max(header, _LEAST)) for size, header in zip(widths, headers, strict=True)]
    free = room - 2 * (len(widths) - 1) - widths[0] - sum(least[1:])
    fitted = [widths[0], *least[1:]]
    for place in sorted(range(1, len(widths)), key=lambda place: widths[place] - least[place]):
        more = min(widths[place] - least[place], max(free, 0))
        fitted[place] += more
        free -= more
    return fitted


def _to_width(text: str, size: int, *, cut: bool) -> str:
    wanted = display_width(text)
    if wanted <= size or not cut:
        return text + " " * (size - wanted)
    kept, used = "", 1
    for sign in text:
        used += display_width(sign)
        if used > size:
            break
        kept += sign
    return _to_width(kept + "…", size, cut=False)
