"""Markdown pages as their readers use them: blocks of code to be typed and written, links, and anchors.

A page is one session in one folder, begun by ``<!-- in an empty folder -->`` or ``<!-- in a clone -->``:

- a block ``sh`` is typed, and has to succeed; ``sh refused`` has to be refused with exit code 1;
- the block right behind it, of any other kind, is what it prints, with ``…`` for what may be anything;
- a block whose first line is a comment with a path alone is a file, which is written; one of the clone's own
  sources has to hold what is shown.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import real
from packyard.writing.checks import markdown

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


def rows(text: str, header: str) -> list[list[str]]:
    """Return the cells of each row of the table whose header row starts so."""
    tables = [each for each in markdown.parse(text).tables if f"| {' | '.join(each.head)} |".startswith(header)]
    return [[cell.replace("\\|", "|") for cell in cells] for table in tables for _, cells in table.rows]
