"""The tables of `kustomize cfg list-setters`, space for space, for scripts that read them.

<two spaces>NAME     VALUE   …     headers centered, an odd space to the right
<two spaces>replicas 3       …     cells to the left, wrapped at 30 columns
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_WRAP = 30


def lines(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, ruled: bool = False, markdown: bool = False
) -> list[str]:
    """Return the lines of a table.

    ``ruled`` puts a line of dashes above it. ``markdown`` puts bars between columns and a line below the headers, and
    bars around a table that is not ``ruled``; bars within cells stay as they are, in kustomize too.
    """
    wrapped = [[_wrap(cell) for cell in row] for row in rows]
    widths = [
        max(
            [
                display_width(header),
                *(min(_WRAP, _longest(row[index])) for row in rows),
                *(display_width(line) for row in wrapped for line in row[index]),
            ]
        )
        for index, header in enumerate(headers)
    ]
    between = "|" if markdown else " "
    edge = "|" if markdown and not ruled else " "

    def line(cells: Sequence[str]) -> str:
        return edge + between.join(f" {cell} " for cell in cells) + edge

    rule_edge = "-" if ruled else edge
    rule = rule_edge + between.join("-" * (width + 2) for width in widths) + rule_edge
    table = [rule] if ruled else []
    table.append(line([_centered(header, width) for header, width in zip(headers, widths, strict=True)]))
    if markdown:
        table.append(rule)
    for row in wrapped:
        for number in range(max(len(cell) for cell in row)):
            texts = [cell[number] if number < len(cell) else "" for cell in row]
            table.append(line([_to_left(text, width) for text, width in zip(texts, widths, strict=True)]))
    return table


def _centered(text: str, width: int) -> str:
    gap = width - display_width(text)
    return " " * (gap // 2) + text + " " * (gap - gap // 2)


def _to_left(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def display_width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _longest(cell: str) -> int:
    return max(map(display_width, cell.split("\n")))


def _wrap(cell: str) -> list[str]:
    """Break a cell at spaces so that the sum of squares of the free space of its lines, but the last, is minimal."""
    words = cell.replace("\n", " ").split(" ")
    limit = max([min(_WRAP, _longest(cell)), *map(display_width, words)])
    costs: list[float] = [0.0] * (len(words) + 1)
    ends = [0] * len(words)
    for start in range(len(words) - 1, -1, -1):
        costs[start] = float("inf")
        length = -1
        for end in range(start, len(words)):
            length += 1 + display_width(words[end])
            if length > limit:
                break
            cost = 0.0 if end == len(words) - 1 else (limit - length) ** 2 + costs[end + 1]
            if cost < costs[start]:
                costs[start], ends[start] = cost, end + 1
    pieces, start = [], 0
    while start < len(words):
        pieces.append(" ".join(words[start : ends[start]]))
        start = ends[start]
    return pieces
