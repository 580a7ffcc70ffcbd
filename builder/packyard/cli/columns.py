"""Our own tables: they fit the terminal, and nothing in them is cut.

NAME        VALUE  SET
NFS_SERVER         REQUIRED
    Host name or address of the NFS server.     (`prose`: lines of its own)

In a pipe every row is one line, however long. rich measures and breaks the text; its own tables hold all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from rich.cells import cell_len, chop_cells

from packyard.core.errors import on_one_line

_INDENT = "    "
_LEAST = 8

#: What a cell is written as: its column, its text, and the width to which it is filled.
Paint = Callable[[int, str], str]


def lines(
    columns: Sequence[str],
    rows: Callable[[], Iterable[Sequence[str]]],
    *,
    prose: int,
    room: int | None,
    paint: Paint,
    ahead: int | None = None,
    bare: bool = False,
) -> Iterator[str]:
    """Yield the header and the rows, which are asked for twice: first for the widths of the columns.

    Without rows a ``bare`` table has no header. With ``ahead``, they are asked for once: the widths are those of so
    many rows, and the others come as they are made. In ``room`` columns of a terminal cells that are too long go on in
    further lines. A name that leaves no space for the other columns has a line of its own. ``paint`` colors a cell, of
    which it gets the number and the text.
    """
    kept = len(columns) - prose
    headers = [cell_len(on_one_line(cell)) for cell in columns[:kept]]
    widths, count = headers, 0
    measured, printed = _ahead(rows(), ahead) if ahead else (rows(), None)
    for count, row in enumerate(measured, 1):  # noqa: B007  # the last one
        widths = [max(size, cell_len(on_one_line(cell))) for size, cell in zip(widths, row[:kept], strict=True)]
    if bare and not count:
        return
    if room is not None:
        widths = _fitted(widths, headers, room)
    for number, row in enumerate(chain((columns,), rows() if printed is None else printed)):
        whole = [on_one_line(cell) for cell in row]
        look = paint if number else _plain
        yield from _row(whole[:kept], widths, look)
        for text in filter(None, whole[kept:] if number else ()):
            yield from (_INDENT + line for line in broken(text, None if room is None else room - len(_INDENT)))


def _ahead(rows: Iterable[Sequence[str]], number: int) -> tuple[Sequence[Sequence[str]], Iterable[Sequence[str]]]:
    """Return the first rows, and all of them."""
    every = iter(rows)
    first = list(islice(every, number))
    return first, chain(first, every)


def _plain(_: int, text: str) -> str:
    return text


def _row(cells: Sequence[str], widths: Sequence[int], paint: Paint) -> Iterator[str]:
    first, *rest = cells
    if rest and cell_len(first) > widths[0]:
        yield paint(0, first)
        first = ""
    parts = [[first], *(broken(cell, size) for cell, size in zip(rest, widths[1:], strict=True))]
    for line in zip_longest(*parts, fillvalue=""):
        filled = [
            paint(place, text) + " " * (widths[place] - cell_len(text)) if text else " " * widths[place]
            for place, text in enumerate(line)
        ]
        yield "  ".join(filled).rstrip()


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


def broken(text: str, room: int | None) -> list[str]:
    """Break a text between its words, and a word that is longer than a line where it has to be."""
    if room is None or cell_len(text) <= room:
        return [text]
    broken = [""]
    for word in text.split():
        pieces = chop_cells(word, max(room, 1)) if cell_len(word) > room else [word]
        for piece in pieces:
            if broken[-1] and cell_len(broken[-1]) + 1 + cell_len(piece) > room:
                broken.append(piece)
            else:
                broken[-1] = f"{broken[-1]} {piece}".lstrip()
    return broken
