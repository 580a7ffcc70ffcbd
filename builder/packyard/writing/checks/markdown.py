"""Reading a Markdown page by its lines: blocks of code, headings, links, tables; each with its line, from 1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+|\d+\.[ \t]+)?[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)")
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*\Z")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
_REFERENCE = re.compile(r"[ \t]{0,3}\[[^\]]+\]:[ \t]*<?(?P<target>[^\s>]+)")
_ANCHOR = re.compile(r"<\w+\s[^>]*(?:name|id)=[\"']([^\"']+)")
#: The anchor that Hugo, Jekyll and Sphinx read behind a heading: ``## Limits {#limits}``.
_STATED = re.compile(r"[ \t]*\{:?[ \t]*#(?P<anchor>[^\s}]+)[^}]*\}\Z")
_UNDERLINE = re.compile(r"[ \t]{0,3}(=+|-+)[ \t]*\Z")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`+)(.+?)\1")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
_DROPPED = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, and its lines with their numbers."""

    language: str
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the cells of its head and of its rows, each with the number of its line."""

    line: int
    head: list[str]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    """What a page holds; links are targets with the numbers of their lines."""

    blocks: list[Block] = field(default_factory=list)
    links: list[tuple[int, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    prose: list[tuple[int, str]] = field(default_factory=list)
    is_source: bool = False  # of a site, whose generator says where pages are: it begins with settings for one


def parse(text: str) -> Page:
    """Read a page."""
    page = Page(is_source=text.startswith(("---\n", "+++\n")))
    fence = ""
    table: Table | None = None
    before = ""
    for number, line in enumerate(text.splitlines(), start=1):
        marks = _FENCE.match(line)
        if fence:
            if marks and marks["marks"].startswith(fence) and not marks["language"]:
                fence = ""
            else:
                page.blocks[-1].lines.append((number, line))
        elif marks:
            fence, table = marks["marks"], None
            page.blocks.append(Block(marks["language"]))
        elif table is not None and "|" in line:
            table.rows.append((number, cells(line)))
            _note(page, number, line)
        elif _DELIMITER.match(line) and "|" in before and "|" in line:
            table = Table(number - 1, cells(before))
            page.tables.append(table)
        else:
            table = None
            if match := _HEADING.match(line):
                page.anchors.update(_anchors(match["text"], page.anchors))
            elif before.strip() and _UNDERLINE.match(line):
                page.anchors.update(_anchors(before, page.anchors))
            _note(page, number, line)
        before = line
    return page


def _note(page: Page, number: int, line: str) -> None:
    page.prose.append((number, line))
    page.anchors.update(name.lower() for name in _ANCHOR.findall(line))
    bare = _CODE.sub(lambda match: " " * len(match.group()), line)
    targets = (match["target"] for match in (*_LINK.finditer(bare), *_REFERENCE.finditer(bare)))
    page.links += [(number, _ESCAPED.sub(r"\1", target)) for target in targets]


def cells(line: str) -> list[str]:
    """Return the cells of a row; a bar behind a backslash is text."""
    bare = line.strip()
    bare = bare[1:] if bare.startswith("|") else bare
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", bare)]


def code(text: str) -> Iterator[str]:
    """Yield what stands between backticks."""
    yield from (match[2].strip() for match in _CODE.finditer(text))


def _anchors(heading: str, anchors: set[str]) -> Iterator[str]:
    """Yield the anchor that stands behind a heading, and the one that GitHub and GitLab give it."""
    if stated := _STATED.search(heading):
        yield stated["anchor"].lower()
    yield _anchor(_STATED.sub("", re.sub(r"<[^>]*>", "", heading)), anchors)


def _anchor(heading: str, anchors: set[str]) -> str:
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    name = _DROPPED.sub("", bare.strip().lower()).replace(" ", "-")
    count = 0
    while (numbered := f"{name}-{count}" if count else name) in anchors:
        count += 1
    return numbered
