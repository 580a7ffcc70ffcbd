"""Libraries: trees of bases and overlays that a workspace, or another library, builds on without a copy of its own.

The library NAME has its place at ``libraries/NAME``: a base that builds on one of its bases says
``resources: [../../libraries/NAME/bases/job]``, as it would if the library were copied there. A copy that is there,
made by `packyard vendor`, is used. What ``packyard.lock`` pins has to be that, to the byte. The libraries that a
library builds on are pinned by its own lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename, join

from packyard.bundle import archive, lock, manifest
from packyard.bundle.archive import Member
from packyard.bundle.lock import Lock, Pin
from packyard.digest import Digest
from packyard.errors import InputError, IntegrityError, PackyardError, Problem, refuse
from packyard.files import regular
from packyard.source import library_entry
from packyard.source.fields import Fields
from packyard.source.library_entry import Entry
from packyard.source.sources import LIBRARIES, Sources
from packyard.work.memo import Memo

FILE = "packyard.yaml"
#: What others may build on.
KINDS = ("Library", "Workspace")
#: How many libraries a workspace may have in all, and how deep they may build on each other.
MOST, DEEPEST = 50, 8

#: What a library consists of: files and folders at its root.
_CONTENT = ("bases", "overlays", "docs/readme", LIBRARIES, "Krmfile", FILE, lock.FILE, "LICENSE", manifest.FILE)


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


#: Returns the folder of a library that is pinned and is neither a folder nor packyard's own.
Obtain = Callable[[Entry, Pin], Path]


def places(libraries: Sequence[Library], above: str = "") -> dict[str, Path]:
    """Return the folders of libraries, and of those that they build on, by their places."""
    found: dict[str, Path] = {}
    for each in libraries:
        place = join(above, each.place)
        found |= {place: each.root_dir, **places(each.libraries, place)}
    return found


def carried_dir() -> Path:
    """Return the folder of the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parent.parent
    carried = here / "catalogue"
    return carried if (carried / FILE).is_file() else here.parent.parent


def members(root_dir: Path) -> list[Member]:
    """Return the files of a library: its parts, definitions and fragments of READMEs, but no packages."""
    sources = Sources(root_dir)
    found = (path for each in _CONTENT for path in ([each] if sources.is_file(each) else sources.list(each, "**/*")))
    return [
        Member(path=path, data=sources.read(path), executable=sources.is_executable(path))
        for path in found
        if sources.is_file(path) and basename(path)[0] != "." and basename(path)[-1] != "~"
    ]


def digest(name: str, root_dir: Path) -> Digest:
    """Return the digest of the tar that the files of a library make, which a lock pins."""
    return Digest.of(archive.pack(name, members(root_dir)))


def find(root_dir: Path, memo: Memo | None = None, obtain: Obtain | None = None) -> tuple[Library, ...]:
    """Find the libraries of a workspace, each as its lock has it; ``obtain`` is asked for those that are elsewhere."""
    return _Search(Memo() if memo is None else memo, obtain or _absent).libraries(root_dir, {})


def read_lock(root_dir: Path) -> Lock:
    """Return what pins the libraries of a folder; without a lock nothing does."""
    file = root_dir / lock.FILE
    return lock.read(file) if regular.is_file(file) else Lock()


class _Search:
    """The search for the libraries of one workspace."""

    def __init__(self, memo: Memo, obtain: Obtain) -> None:
        self._memo = memo
        self._obtain = obtain
        self._count = 0

    def libraries(self, root_dir: Path, within: dict[str, str]) -> tuple[Library, ...]:
        """Return the libraries of a folder; ``within`` has the names of those that build on it, by real folders."""
        sources = Sources(root_dir, self._memo)
        if not sources.is_file(FILE):
            return ()
        fields = Fields.of_file(sources, FILE)
        listed = library_entry.read(fields)
        refuse(fields.problems)
        pins = read_lock(root_dir).libraries if listed else {}
        within = within or {os.path.realpath(root_dir): ""}
        return tuple(self._library(each, root_dir, pins.get(each.name), within) for each in listed)

    def _library(self, entry: Entry, above_dir: Path, pin: Pin | None, within: dict[str, str]) -> Library:
        self._count += 1
        if self._count > MOST or len(within) > DEEPEST:
            raise InputError(entry.problem(f"is one too many: a workspace has at most {MOST}, {DEEPEST} deep"))
        root_dir = _folder(entry, above_dir, pin) or self._obtain(entry, _pinned(entry, pin))
        real = os.path.realpath(root_dir)
        if real in within:
            circle = " -> ".join((*filter(None, within.values()), entry.name))
            raise InputError(entry.problem(f"builds on itself: {circle}", "remove it from one of them"))
        try:
            _check(root_dir, self._memo)
        except PackyardError as error:
            raise InputError(entry.problem("cannot be used"), *error.problems) from error
        if pin and (found := digest(entry.name, root_dir)) != pin.tar:
            hint = f"packyard update {entry.name} shows what that changes, and pins it"
            says = f"is not what {lock.FILE} pins: its files are in {root_dir}, expected {pin.tar}, found {found}"
            raise IntegrityError(entry.problem(says, hint))
        libraries = self.libraries(root_dir, {**within, real: entry.name})
        return Library(name=entry.name, root_dir=root_dir, pin=pin, libraries=libraries)


def _folder(entry: Entry, above_dir: Path, pin: Pin | None) -> Path | None:
    """Return where the files of a library are, or None where that is elsewhere."""
    copy_dir = above_dir / LIBRARIES / entry.name
    own_dir = Path(os.path.normpath(above_dir / entry.path))
    if copy_dir.is_dir() and own_dir != Path(os.path.normpath(copy_dir)):
        if pin is None:
            raise InputError(entry.problem(f"has a copy in {copy_dir} that nothing pins", "packyard vendor does both"))
        return copy_dir
    if entry.path and not own_dir.is_dir():
        raise InputError(entry.problem(f"is not there: no folder {str(own_dir)!r}", "correct `path`"))
    if entry.path:
        return own_dir
    return None if entry.git or entry.asked else carried_dir()


def _pinned(entry: Entry, pin: Pin | None) -> Pin:
    if pin is None:
        hint = f"packyard update {entry.name} chooses, fetches and pins it"
        raise InputError(entry.problem(f"is not pinned in {lock.FILE}", hint))
    return pin


def _absent(entry: Entry, pin: Pin) -> Path:
    raise InputError(entry.problem(f"{pin.version} was not fetched", "packyard build fetches it"))


def _check(root_dir: Path, memo: Memo) -> None:
    """Refuse a folder that is not a library."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(FILE):
        raise InputError(Problem("no such file, so this is not a library", file=sources.shown(FILE)))
    fields = Fields.of_file(sources, FILE)
    if fields.text("apiVersion") != "packyard/v1" or fields.text("kind") not in KINDS:
        raise InputError(Problem(f"must be a {' or a '.join(KINDS)} of packyard/v1", file=fields.file, line=1))
