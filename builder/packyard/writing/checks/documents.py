"""Faults of the documents of a folder: dead links, tables that lack parameters, tables that fall apart.

| Name | Default |           a table whose first column names setters has all of the packages below its page,
| --- | --- |                and states their values
| NFS_PATH | `/nfs` |
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import unquote

from packyard.core.errors import Problem, suggest
from packyard.using.setters.definition import Setter
from packyard.writing.checks import markdown
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.markdown import Page, Table

_NAME = re.compile(r"[A-Za-z][\w.-]*\Z")
_NAMING = re.compile(r"(?i)\W*(name|parameter|setter|variable|option|key)s?\W*\Z")
_STATING = re.compile(r"(?i)\W*(default|shipped|value|preset)", re.IGNORECASE)
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#\Z", re.IGNORECASE)
#: At least so many setters of a table's rows make it one of parameters.
_FEWEST = 2


class Folder:
    """What the pages of a folder may speak of: its files, and the setters of its packages, by their folders."""

    def __init__(self, files: Collection[str], setters: Mapping[str, Mapping[str, Setter]]) -> None:
        self.files = frozenset(files)
        self.folders = frozenset(above for file in files for above in _above(file))
        self.setters = setters

    def has(self, path: str) -> bool | None:
        """Say whether there is such a file or folder; None where the path leads out, and others may be there."""
        path = posixpath.normpath(path)
        if path.startswith(("../", "/")) or path == "..":
            return None
        return path == "." or path in self.files or path in self.folders

    def setters_below(self, folder: str) -> dict[str, list[Setter]]:
        """Return the setters of the packages in a folder and below, by name."""
        by_name: dict[str, list[Setter]] = {}
        for package, setters in self.setters.items():
            if not folder or f"{package}/".startswith(f"{folder}/"):
                for name, setter in setters.items():
                    by_name.setdefault(name, []).append(setter)
        return by_name


def _above(file: str) -> Iterator[str]:
    while file := posixpath.dirname(file):
        yield file


def check(pages: Mapping[str, bytes], folder: Folder, prefix: str = "") -> Iterator[Finding]:
    """Find what is wrong with Markdown pages; ``prefix`` stands before their paths in findings."""
    read = {path: markdown.parse(data.decode("utf-8", "replace")) for path, data in pages.items()}
    for path, page in read.items():
        place = prefix + path
        yield from _links(path, page, read, folder, place)
        yield from _tables(path, page, folder, place)


def _links(path: str, page: Page, pages: Mapping[str, Page], folder: Folder, place: str) -> Iterator[Finding]:
    for line, target in page.links:
        if _EXTERNAL.match(target):
            continue
        file, _, anchor = target.partition("#")
        file = unquote(file.partition("?")[0])
        linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        if file.startswith("/") or (file and folder.has(linked) is None):
            continue
        if file and not folder.has(linked):
            yield _found("dead-link", place, line, f"there is no {target}", "correct the path, or remove the link")
        elif anchor and linked in pages and anchor.lower() not in pages[linked].anchors:
            hint = suggest(anchor, pages[linked].anchors)
            yield _found("dead-link", place, line, f"{linked} has no heading for #{anchor}", hint)


def _tables(path: str, page: Page, folder: Folder, place: str) -> Iterator[Finding]:
    setters = folder.setters_below(posixpath.dirname(path))
    named: set[str] = set()
    first = 0
    for table in page.tables:
        for line, row in table.rows:
            if len(row) > len(table.head):
                message = f"this row has {len(row)} cells, and the head of its table {len(table.head)}"
                yield _found("broken-table", place, line, message, r"write a bar in a cell as \|")
        names = [(line, name, row) for line, row in table.rows if (name := row[0].strip("`*_ ")) and _NAME.match(name)]
        if len({name for _, name, _ in names} & setters.keys()) < _FEWEST or not _NAMING.match(table.head[0]):
            continue
        named |= {name for _, name, _ in names}
        first = first or table.line
        yield from _rows(table, names, setters, place)
    for name in sorted(setters.keys() - page.words) if named else ():
        hint = "add a row, or write the page again by packyard build"
        yield _found("undocumented-parameter", place, first, f"the table of parameters lacks {name}", hint)


def _rows(
    table: Table, names: list[tuple[int, str, list[str]]], setters: Mapping[str, list[Setter]], place: str
) -> Iterator[Finding]:
    stating = next((index for index, cell in enumerate(table.head) if _STATING.match(cell)), None)
    for line, name, row in names:
        if name not in setters:
            hint = suggest(name, setters) or "remove the row"
            yield _found("no-such-parameter-here", place, line, f"no Krmfile defines {name}", hint)
        elif stating is not None and stating < len(row):
            stated = set(markdown.code(row[stating]))
            values = {setter.shown for setter in setters[name]}
            if stated and not stated & (values | {setter.example or "" for setter in setters[name]}):
                shipped = ", ".join(sorted(repr(value) for value in values))
                message = f"{name} is said to be {', '.join(sorted(stated))}, and ships as {shipped}"
                yield _found("stale-default", place, line, message, "state the value of the Krmfile")


def _found(rule: str, place: str, line: int, message: str, hint: str = "") -> Finding:
    return finding(rule, Problem(message, file=place, line=line, column=1, hint=hint))
