"""Lint of a package's README as it is composed, each finding at the line of the fragment that its author wrote.

What a library's fragments say is the library's: only the workspace's own are judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from packyard.writing.build import readme
from packyard.writing.build.draft import README, Draft
from packyard.writing.checks import documents
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.pages import Folder
from packyard.writing.checks.parsed import Parsed
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, is_own

#: What a template puts in, or leaves out.
_FILLED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}")


def check(here: Workspace, package: Package, draft: Draft, parsed: Sequence[Parsed]) -> Iterator[Finding]:
    """Find what is wrong with the README of a package."""
    name = draft.manifest.name
    files = [*(member.path for member in draft.members), "packyard.json"]
    by_folder = {each.where.removeprefix(f"{name}/").rstrip("/"): each for each in parsed}
    setters = {path: each.definitions.setters for path, each in by_folder.items() if each.definitions.setters}
    shipped = Folder(files, setters)
    text = draft.readme
    lines = text.decode().splitlines()
    fragments = readme.find(here, package)
    for fault in documents.check({README: text}, shipped):
        place = _written(lines[fault.line - 1], fragments) if fault.line <= len(lines) else None
        if place and is_own(place[0]):
            composed = f"{name}/{README}:{fault.line}"
            yield replace(fault, file=here.sources.shown(place[0]), line=place[1], composed=composed)


def _written(line: str, fragments: Iterable[tuple[str, str]]) -> tuple[str, int] | None:
    """Return the fragment and its line that a line of the README was made of: the one that has most of its words."""
    best, place = 0, None
    for path, text in fragments:
        for number, template in enumerate(text.splitlines(), 1):
            texts = [part.strip() for part in _FILLED.split(template)]
            if sum(map(len, texts)) >= max(best, 1) and _holds(line, texts):
                best, place = sum(map(len, texts)), (path, number)
    return place


def _holds(line: str, texts: Iterable[str]) -> bool:
    """Say whether a line has these texts, one behind the other."""
    at = 0
    for part in texts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
