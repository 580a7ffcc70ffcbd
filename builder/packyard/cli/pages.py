"""Help pages: their text fits the terminal, or 80 columns, and no word is broken.

packyard get NAME       the newest version     (columns of a line stay columns, and wrap as such)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from shutil import get_terminal_size
from textwrap import wrap

from packyard import __version__
from packyard.cli.verbs import GROUPS, USE, Group

_WIDEST = 100
_READABLE = 34  # columns that a text beside a column needs, or else it goes below
_BELOW = 4
_JOINT = "\N{NO-BREAK SPACE}"
_TOGETHER = re.compile(r"\[[^]]*\]+|\{[^}]*\}|--\S+ [A-Z]+")  # of a usage
_ROW = re.compile(r"( *\S.*?) {2,}(\S.*)")
_FLAGS = """\
Flags before the verb:

  -q, --quiet    print results and problems only
  -v, --verbose  also print files, requests and programs in use
  --color MODE   color what is printed: auto (on a terminal), always or never
  -V, --version  print the version"""
_SHOWN = 4  # verbs of another group on the first page


def width() -> int:
    """Return the columns that a page may use."""
    return min(get_terminal_size().columns, _WIDEST)


def filled(text: str, room: int, first: str = "", rest: str = "") -> list[str]:
    """Break a text between its words; ``first`` and ``rest`` are what its lines begin with."""
    return wrap(
        text, room, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def usage(command: str) -> str:
    """Return the line that says how a command is used; it breaks between its arguments."""
    kept = _TOGETHER.sub(lambda match: match[0].replace(" ", _JOINT), command)
    lines = filled(f"usage: {kept}", width(), rest=" " * len("usage: "))
    return "\n".join(lines).replace(_JOINT, " ")


def fitted(text: str, room: int) -> str:
    """Fit paragraphs and the columns between them."""
    paragraphs = text.strip("\n").split("\n\n")
    return "\n\n".join("\n".join(_paragraph(each.split("\n"), room)) for each in paragraphs)


def _paragraph(lines: list[str], room: int) -> Iterable[str]:
    if not any("  " in line for line in lines):
        return filled(" ".join(lines), room)
    if max(map(len, lines)) <= room:
        return lines
    rows = list(_rows(lines))
    column = max(len(left) for left, right in rows if right) + 2
    is_beside = column + _READABLE <= room
    return [line for row in rows for line in _row(*row, room, column if is_beside else 0)]


def _rows(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what is left and right; a line that begins where the right column does goes on with its text."""
    left, right, column = "", "", 0
    for line in lines:
        if right and len(line) - len(line.lstrip()) == column:
            right += f" {line.strip()}"
            continue
        if left:
            yield left, right
        match = _ROW.fullmatch(line)
        left, right = match.groups() if match else (line, "")
        column = match.start(2) if match else 0
    yield left, right


def _row(left: str, right: str, room: int, column: int) -> list[str]:
    if right and column:
        return filled(right, room, left.ljust(column), " " * column)
    indent = " " * (len(left) - len(left.lstrip()))
    return [
        *filled(left, room, indent, indent + " " * _BELOW),
        *filled(right, room, *2 * [indent + " " * _BELOW]),
    ]


def overview() -> str:
    """Return what `packyard` alone prints: the verbs of users, and where the others are listed."""
    others = [f"  packyard help {each.word:<8} {_begin(each)}" for each in GROUPS.values() if each is not USE]
    title = f"packyard {__version__}: assemble, set, pack, publish and run packages for Kustomize"
    head = "packyard VERB --help describes a verb. Other verbs:"
    return fitted(
        "\n\n".join((title, _table(USE), "\n".join((head, *others, "  packyard help all      all verbs")))), width()
    )


def _begin(group: Group) -> str:
    names = list(group.verbs)
    return f"{group.title.lower()}: {', '.join(names[:_SHOWN])}{' …' if len(names) > _SHOWN else ''}"


def every() -> str:
    """Return all verbs, group by group, and the flags before a verb."""
    return "\n\n".join((*map(listed, GROUPS.values()), fitted(_FLAGS, width())))


def listed(group: Group) -> str:
    """Return a group's verbs with what they do."""
    return fitted(f"{group.title}:\n\n{_table(group)}", width())


def _table(group: Group) -> str:
    longest = max(map(len, group.verbs))
    return "\n".join(f"  {verb:<{longest}}  {text}" for verb, (_, text) in group.verbs.items())
