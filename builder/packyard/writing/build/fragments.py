"""Lint of a package's README as it is composed, each finding at the line of the fragment that its author wrote.

What a library's fragments say is the library's, and a line that a template made says what setters say: only lines of
the workspace's own fragments are judged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from packyard.writing.build import readme
from packyard.writing.build.draft import README, Draft
from packyard.writing.checks import documents
from packyard.writing.checks.documents import Folder
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.subject import Subject
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, is_own


def check(here: Workspace, package: Package, draft: Draft, subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Find what is wrong with the README of a package."""
    name = draft.manifest.name
    files = [*(member.path for member in draft.members), "packyard.json"]
    by_folder = {item.where.removeprefix(f"{name}/").rstrip("/"): item for item in subjects}
    setters = {path: item.definitions.setters for path, item in by_folder.items() if item.definitions.setters}
    lines = dict(enumerate(draft.readme.decode().splitlines(), 1))
    written = {line: (path, number) for path, text in readme.find(here, package) if is_own(path)
               for number, line in enumerate(text.splitlines(), 1)}  # fmt: skip
    for fault in documents.check({README: draft.readme}, Folder(files, setters)):
        if place := written.get(lines.get(fault.line, "\n")):
            composed = f"{name}/{README}:{fault.line}"
            yield replace(fault, file=here.sources.shown(place[0]), line=place[1], composed=composed)
