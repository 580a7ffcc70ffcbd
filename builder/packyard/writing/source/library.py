"""Libraries: trees of bases and overlays that a workspace, or another library, builds on without a copy of its own.

    libraries:
    - builtin            what the installed packyard carries
    - {path: ../parts}   a folder, called by its last part or by a `name`; `packyard get` untars a published one

The library NAME has its place at ``libraries/NAME``: a base that builds on one of its bases says
``resources: [../../libraries/NAME/bases/job]``, wherever its files are. A library that came as a bundle leads to no
folder of its user.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import join
from typing import NamedTuple

from packyard.core.bundle import manifest
from packyard.core.bundle.archive import Member
from packyard.core.errors import InputError, PackyardError, Problem, refuse
from packyard.core.files.paths import WORKSPACE
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node, Scalar
from packyard.core.yaml.sources import LIBRARIES, Sources

BUILTIN = "builtin"
#: What others may build on.
KINDS = ("Library", "Workspace")
#: What a library consists of: files and folders at its root.
CONTENT = ("bases", "overlays", "crds", "docs/readme", "Krmfile", WORKSPACE, "LICENSE")
#: How many libraries a workspace may have in all, and how deep they may build on each other.
MOST, DEEPEST = 50, 8

#: What editors, systems and pip leave beside files.
_LEFT = re.compile(r"(^|/)(\.|__pycache__(/|$))|~$")
#: What libraries are called.
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_FORMS = "write builtin or {path: ../FOLDER}; packyard get untars a library of a channel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of ``libraries``: it has a ``path``, or is packyard's own."""

    name: str
    path: str = ""
    file: str
    line: int

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the library, by the line that names it."""
        return Problem(f"the library {self.name} {message}", file=self.file, line=self.line, hint=hint)


class Library(NamedTuple):
    """A library: its place in what builds on it, the folder that it is in, and those that it builds on itself."""

    place: str
    root_dir: Path
    libraries: tuple[Library, ...]


def places(libraries: Sequence[Library], above: str = "") -> dict[str, Path]:
    """Return the folders of libraries, and of those that they build on, by their places."""
    placed: dict[str, Path] = {}
    for library in libraries:
        place = join(above, library.place)
        placed |= {place: library.root_dir, **places(library.libraries, place)}
    return placed


def carried_dir() -> Path:
    """Return the folder of the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parents[2]
    carried = here / "catalogue"
    return carried if (carried / WORKSPACE).is_file() else here.parent.parent


def members(sources: Sources) -> list[Member]:
    """Return the files of a library: its parts, definitions and fragments of READMEs, but no packages."""
    paths = [path for name in CONTENT for path in (name, *sources.list(name, "**/*"))]
    return [
        Member(path=path, data=sources.read(path), executable=sources.is_executable(path))
        for path in paths
        if not _LEFT.search(path) and sources.is_file(path)
    ]


def entries(root_dir: Path, memo: Memo | None = None) -> list[Entry]:
    """Return what ``libraries`` of a packyard.yaml says; none where there is no such file."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(WORKSPACE):
        return []
    fields = Fields.of_file(sources, WORKSPACE)
    listed = read(fields)
    refuse(fields.problems)
    return listed


def read(fields: Fields) -> list[Entry]:
    """Read ``libraries`` of a packyard.yaml; faults are noted."""
    by_name: dict[str, Entry] = {}
    for node in fields.items(LIBRARIES):
        entry = _entry(fields, node)
        if entry and entry.name in by_name:
            fields.fault(node, LIBRARIES, f"names {entry.name!r} twice", "give one of them another `name`")
        elif entry:
            by_name[entry.name] = entry
    return list(by_name.values())


def find(root_dir: Path, memo: Memo) -> tuple[Library, ...]:
    """Find the libraries of a workspace, and those that they build on."""
    count = 0

    def below(folder: Path, within: dict[str, str]) -> tuple[Library, ...]:
        """Return the libraries of a folder; ``within`` has the names of those that build on it, by real folders."""
        return tuple(library(entry, _folder(entry, folder), within) for entry in entries(folder, memo))

    def library(entry: Entry, folder: Path, within: dict[str, str]) -> Library:
        nonlocal count
        count += 1
        if count > MOST or len(within) > DEEPEST:
            raise InputError(entry.problem(f"is one too many: a workspace has at most {MOST}, {DEEPEST} deep"))
        real = os.path.realpath(folder)
        if real in within:
            circle = " -> ".join((*filter(None, within.values()), entry.name))
            raise InputError(entry.problem(f"builds on itself: {circle}", "remove it from one of them"))
        try:
            _check(folder, memo)
        except PackyardError as error:
            raise InputError(entry.problem("cannot be used"), *error.problems) from error
        return Library(f"{LIBRARIES}/{entry.name}", folder, below(folder, {**within, real: entry.name}))

    return below(root_dir, {os.path.realpath(root_dir): ""})


def _folder(entry: Entry, above_dir: Path) -> Path:
    if not entry.path:
        return carried_dir()
    if (above_dir / manifest.FILE).is_file():
        says = f"is a folder outside of {above_dir}, which came as a bundle"
        raise InputError(entry.problem(says, "ask whoever publishes that to build on builtin alone"))
    folder = Path(os.path.normpath(above_dir / entry.path))
    if not folder.is_dir():
        raise InputError(entry.problem(f"is not there: no folder {str(folder)!r}", "correct `path`"))
    return folder


def _check(root_dir: Path, memo: Memo) -> None:
    """Refuse a folder that is not a library."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(WORKSPACE):
        raise InputError(Problem("no such file, so this is not a library", file=sources.shown(WORKSPACE)))
    fields = Fields.of_file(sources, WORKSPACE)
    if fields.text("apiVersion") != "packyard/v1" or fields.text("kind") not in KINDS:
        raise InputError(Problem(f"must be a {' or a '.join(KINDS)} of packyard/v1", file=fields.file, line=1))


def _entry(parent: Fields, node: Node) -> Entry | None:
    line = node.source.locate(node.start)[0]
    if isinstance(node, Scalar):
        if node.value == BUILTIN:
            return Entry(name=BUILTIN, file=parent.file, line=line)
        parent.fault(node, LIBRARIES, f"{node.value!r} is not a library", _FORMS)
        return None
    before = len(parent.problems)
    fields = Fields(node, parent.file, LIBRARIES, parent.problems)
    path, name = fields.text("path"), fields.text("name", "")
    for key in ("version", "digest", "from"):
        fields.elsewhere(key, _FORMS)
    fields.done()
    name = name or path.rstrip("/").rpartition("/")[2]
    if "\0" in path or path.startswith("/"):
        fields.fault(fields.anything("path"), "path", "must be a path from the folder of packyard.yaml")
    elif not NAME.fullmatch(name) or name == BUILTIN:
        known = f"; {BUILTIN} is packyard's own" if name == BUILTIN else ""
        fault = f"{name[:80]!r} cannot be a library's name: add a `name` of lower case words and dashes{known}"
        fields.fault(fields.anything("name"), "name", fault)
    return Entry(name=name, path=path, file=parent.file, line=line) if len(parent.problems) == before else None
