"""What verbs print: results on stdout, the story on stderr, tables that fit the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def story(text: str) -> None:
    """Tell what happens, to stderr."""
    print(text, file=sys.stderr)


def counted(number: int, noun: str) -> str:
    """Say how many there are of something: ``1 error``, ``2 errors``."""
    return f"{number} {noun}{'s' * (number != 1)}"


class Progress:
    """One line on stderr that says how far a command is; where that is a terminal, and until it is done."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.count = 0
        self.shown = sys.stderr.isatty() and len(names) > 1

    def done(self, place: int) -> None:
        """Count one more, the one at a place among the names."""
        self.count += 1
        if self.shown:
            last = self.count == len(self.names)
            text = "" if last else f"{self.count}/{len(self.names)} {self.names[place]}"
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def json_result(value: object) -> None:
    """Print a result as JSON."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False)
    print(text.encode("utf-8", "backslashreplace").decode())  # a byte that is no text becomes JSON's \udcXX


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: fitted and colored on a terminal, in plain columns with all their text anywhere else."""
    if sys.stdout.isatty():
        _terminal_table(columns, rows)
        return
    widths = [max(len(row[index]) for row in (columns, *rows)) for index in range(len(columns))]
    for row in (columns, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _terminal_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(*columns, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    Console(no_color="NO_COLOR" in os.environ).print(shown)


def diff(before: bytes | None, after: bytes | None, path: str) -> str:
    """Return a unified diff that ``patch`` and ``git apply`` accept; an empty text where nothing differs.

    Without ``before`` the file is new, without ``after`` it is removed.
    """
    import difflib

    new = "/dev/null" if after is None else _quoted(f"b/{path}")
    old = "/dev/null" if before is None else _quoted(f"a/{path}")
    lines = difflib.unified_diff(_lines(before or b""), _lines(after or b""), old, new, lineterm="\n")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _quoted(name: str) -> str:
    """Quote a file's name where git does, and as git does: one with a line break, a quote or a backslash."""
    if not any(sign < " " or sign in '"\\\x7f' for sign in name):
        return name
    return '"' + "".join(f"\\{ord(sign):03o}" if sign < " " or sign in '"\\\x7f' else sign for sign in name) + '"'


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])
