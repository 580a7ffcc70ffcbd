"""Libraries: trees of bases and overlays that a workspace, or another library, builds on without a copy of its own.

The library NAME has its place at ``libraries/NAME``: a base that builds on one of its bases says
``resources: [../../libraries/NAME/bases/job]``, as it would if `packyard update --vendor` copied the library there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import join

from packyard import __version__
from packyard.core.bundle import archive, lock, manifest
from packyard.core.bundle.archive import Member
from packyard.core.bundle.lock import Lock, Pin
from packyard.core.digest import Digest
from packyard.core.errors import InputError, refuse
from packyard.core.files import regular
from packyard.core.files.paths import RECEIPT, WORKSPACE
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.writing.source import library_entry
from packyard.writing.source.library_entry import BUILTIN, Entry

#: What others may build on.
KINDS = ("Library", "Workspace")
#: What a library consists of: files and folders at its root.
CONTENT = ("bases", "overlays", "crds", "docs/readme", "Krmfile", WORKSPACE, lock.FILE, "LICENSE")

#: What editors, systems and pip leave beside files.
_LEFT = re.compile(r"(^|/)(\.|__pycache__(/|$))|~$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library that was found; ``libraries`` are those that it builds on itself."""

    name: str
    root_dir: Path
    pin: Pin | None = None
    libraries: tuple[Library, ...] = ()

    @property
    def place(self) -> str:
        """Its folder in what builds on it."""
        return f"{LIBRARIES}/{self.name}"


def places(libraries: Sequence[Library]) -> dict[str, Path]:
    """Return the folders of libraries, and of those that they build on, by their places."""
    return {place: each.root_dir for place, each in by_place(libraries).items()}


def by_place(libraries: Sequence[Library], above: str = "") -> dict[str, Library]:
    """Return libraries, and those that they build on, by their places."""
    placed: dict[str, Library] = {}
    for library in libraries:
        place = join(above, library.place)
        placed |= {place: library, **by_place(library.libraries, place)}
    return placed


def carried_dir() -> Path:
    """Return the folder of the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parents[2]
    carried = here / "catalogue"
    return carried if (carried / WORKSPACE).is_file() else here.parent.parent


def members(sources: Sources) -> list[Member]:
    """Return the files of a library: its parts, definitions and fragments of READMEs, but no packages.

    Of one that came as a bundle it is all files, but for copies of the libraries that it builds on.
    """
    if sources.is_file(manifest.FILE):
        paths = [path for path in sources.list("", "**/*") if not path.startswith((f"{LIBRARIES}/", RECEIPT))]
    else:
        paths = [path for each in CONTENT for path in (each, *sources.list(each, "**/*"))]
        paths = [path for path in paths if not _LEFT.search(path)]
    return [
        Member(path=path, data=sources.read(path), executable=sources.is_executable(path))
        for path in paths
        if sources.is_file(path)
    ]


def digest(name: str, root_dir: Path) -> Digest:
    """Return the digest of the tar that the files of a library make, which a lock pins."""
    return Digest.of(archive.pack(name, members(Sources(root_dir))))


def pin_of(name: str, root_dir: Path, address: str = "") -> Pin:
    """Return what pins a library that was not fetched, as it is now."""
    tar = digest(name, root_dir)
    version, address = (__version__, BUILTIN) if name == BUILTIN else ("0", address)
    return Pin(version=version, channel=address, tar=tar, digest=tar)


def entries(root_dir: Path, memo: Memo | None = None) -> list[Entry]:
    """Return what ``libraries`` of a packyard.yaml says; none where there is no such file."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(WORKSPACE):
        return []
    fields = Fields.of_file(sources, WORKSPACE)
    found = library_entry.read(fields)
    refuse(fields.problems)
    return found


def copy_dir(root_dir: Path, name: str) -> Path:
    """Return where a copy of a library is, if there is one."""
    return root_dir / LIBRARIES / name


def own_dir(entry: Entry, root_dir: Path) -> Path | None:
    """Return the folder of a library that is packyard's own, or that is named by its path, copied or not."""
    if not entry.path:
        return None if entry.git or entry.reference else carried_dir()
    folder = Path(os.path.normpath(root_dir / entry.path))
    if not folder.is_dir():
        raise InputError(entry.problem(f"is not there: no folder {str(folder)!r}", "correct `path`"))
    return folder


def read_lock(root_dir: Path) -> Lock:
    """Return what pins the libraries of a folder; without a lock nothing does."""
    file = root_dir / lock.FILE
    return lock.read(file) if regular.is_file(file) else Lock()


def commit_of(version: str) -> str:
    """Return the commit of such a version."""
    return version.removeprefix("0+")


def commit_version(commit: str) -> str:
    """Return the version of a library that is a repository at a commit."""
    return f"0+{commit}"
