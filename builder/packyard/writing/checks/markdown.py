"""Reading a Markdown page: its headings, links and tables, each with its line, from 1."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ANCHOR = re.compile(r"<\w+\s[^>]*(?:name|id)=[\"']([^\"']+)")
_CODE = re.compile(r"(`+)(.+?)\1")
_DROPPED = re.compile(r"[^\w\- ]")
_WORD = re.compile(r"[A-Za-z][\w.-]*\w")
#: What has a target, and where that is.
_LINKS = {"link_open": "href", "image": "src"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the cells of its head and of its rows, each with the number of its line."""

    line: int
    head: list[str]
    rows: list[tuple[int, list[str]]]


@dataclass(slots=True)
class Page:
    """What a page holds; links are targets with the numbers of their lines."""

    links: list[tuple[int, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)  # of sentences and tables, not of blocks of code


def parse(text: str) -> Page:
    """Read a page."""
    page, lines = Page(), text.splitlines()
    page.anchors.update(name.lower() for name in _ANCHOR.findall(text))
    for token, inner in pairwise(_parser().parse(text)):
        first, last = token.map or (0, 0)
        if token.type == "heading_open":
            page.anchors.add(_anchor(inner.content, page.anchors))
        elif token.type == "table_open":
            rows = [(number + 1, cells(lines[number])) for number in range(first + 2, last)]
            page.tables.append(Table(first + 1, cells(lines[first]), rows))
        elif token.type == "inline":
            page.words.update(_WORD.findall(token.content))
        page.links += _links(token, first + 1)
    return page


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _links(token: Token, line: int) -> Iterator[tuple[int, str]]:
    for child in token.children or ():
        line += child.type in ("softbreak", "hardbreak")
        if child.type in _LINKS:
            yield line, str(child.attrs[_LINKS[child.type]])
        yield from _links(child, line)


def cells(line: str) -> list[str]:
    """Return the cells of a row; a bar behind a backslash is text."""
    bare = line.strip()
    bare = bare[1:] if bare.startswith("|") else bare
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", bare)]


def code(text: str) -> Iterator[str]:
    """Yield what stands between backticks."""
    yield from (match[2].strip() for match in _CODE.finditer(text))


def _anchor(heading: str, anchors: set[str]) -> str:
    """Return the anchor that GitHub and GitLab give a heading."""
    bare = re.sub(r"<[^>]*>", "", heading)
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", bare).replace("`", "").replace("*", "")
    name = _DROPPED.sub("", bare.strip().lower()).replace(" ", "-")
    count = 0
    while (numbered := f"{name}-{count}" if count else name) in anchors:
        count += 1
    return numbered
