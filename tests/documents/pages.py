"""Markdown pages as their readers use them: blocks of code to be typed and written, links, and anchors.

A page is one session in one folder, begun by ``<!-- in an empty folder -->`` or ``<!-- in a clone -->``:

- a block ``sh`` is typed, and has to succeed; ``sh refused`` has to be refused with exit code 1;
- the block right behind it, of any other kind, is what it prints, with ``…`` for what may be anything;
- a block whose first line is a comment with a path alone is a file, which is written; one of the clone's own
  sources has to hold what is shown.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import real

README = real.REPOSITORY / "README.md"
DOCS = real.REPOSITORY / "docs"
#: Pages with commands. The fragments of the packages' READMEs are judged by `tests/readmes`.
PAGES = (README, real.REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))

_SESSION = re.compile(r"<!-- in (an empty folder|a clone) -->")
FENCE = re.compile(r"^(?P<fence>```+|~~~+)(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ((?:[\w.-]+/)*[\w.-]+)\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its kind, what it holds, and its line in the page."""

    kind: str
    text: str
    line: int
    #: Whether nothing but blank lines stands between this block and the one before it.
    follows: bool

    @property
    def file(self) -> str:
        """Return the path that the first line names, or nothing."""
        found = _FILE.match(self.text)
        return found[1] if found and not self.kind.startswith("sh") else ""


@dataclass(frozen=True, slots=True)
class Session:
    """The blocks of a page from one start on; ``clone`` says that they are typed in a clone of the repository."""

    page: Path
    clone: bool
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.blocks[0].line}"


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found = []
    end = 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["info"].strip(), match["text"], line, not text[end : match.start()].strip()))
        end = match.end()
    return found


def sessions(page: Path) -> list[Session]:
    """Return the sessions of a page; commands before the first one are a fault."""
    text = page.read_text("utf-8")
    starts = list(_SESSION.finditer(text))
    lines = [text.count("\n", 0, start.start()) + 1 for start in starts]
    all_blocks = blocks(text)
    first = min(lines, default=10**6)
    early = [block.line for block in all_blocks if block.kind.startswith("sh") and block.line < first]
    assert not early, f"{page.name}:{early[0]}: this block is in no session"
    found = []
    for start, line, end in zip(starts, lines, [*lines, 10**6][1:], strict=True):
        own = tuple(block for block in all_blocks if line < block.line < end)
        if own:
            found.append(Session(page, start[1] == "a clone", own))
    return found


def prose(text: str) -> str:
    """Return a page without its fenced blocks and code in a line."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?)[ #]*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found


def links(text: str) -> Iterator[tuple[str, str]]:
    """Yield path and anchor of each link that stays in the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


_FAULTY = real.REPOSITORY / "tests/writing/checks/defects"


def markdown_files() -> list[Path]:
    """Return every Markdown file that belongs to the repository, but for those with faults that lint finds."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
    listed = subprocess.run(command, cwd=real.REPOSITORY, capture_output=True, text=True, check=False).stdout.split()
    found = [real.REPOSITORY / name for name in listed] or [README, *DOCS.rglob("*.md")]
    return sorted(file for file in found if file.is_file() and not file.is_relative_to(_FAULTY))


def rows(text: str, header: str) -> list[list[str]]:
    """Return the cells of each row of the table whose header row starts so."""
    lines = iter(text.splitlines())
    assert any(line.startswith(header) for line in lines), f"no table {header!r}"
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
    return found
