"""Libraries: trees of bases and overlays that a workspace, or another library, builds on without a copy of its own.

The library NAME has its place at ``libraries/NAME``: a base that builds on one of its bases says
``resources: [../../libraries/NAME/bases/job]``, as it would if the library were copied there. A copy that is there,
made by `packyard vendor`, is used. What ``packyard.lock`` pins has to be that, to the byte. The libraries that a
library builds on are pinned by its own lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import join

from packyard import __version__
from packyard.bundle import archive, lock, manifest
from packyard.bundle.archive import Member
from packyard.bundle.lock import Lock, Pin
from packyard.digest import Digest
from packyard.errors import InputError, IntegrityError, PackyardError, Problem, refuse
from packyard.files import paths, regular
from packyard.source import library_entry
from packyard.source.fields import Fields
from packyard.source.library_entry import BUILTIN, Entry
from packyard.source.sources import LIBRARIES, Sources
from packyard.work.memo import Memo

FILE = "packyard.yaml"
#: What others may build on.
KINDS = ("Library", "Workspace")
#: How many libraries a workspace may have in all, and how deep they may build on each other.
MOST, DEEPEST = 50, 8

#: What a library consists of: files and folders at its root.
CONTENT = ("bases", "overlays", "docs/readme", "Krmfile", FILE, lock.FILE, "LICENSE")

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


#: Folders and pins of libraries by their names.
Instead = Mapping[str, tuple[Path, Pin]]
NOTHING: Instead = {}

#: Returns the folder of a library that is pinned and is neither a folder nor packyard's own.
Obtain = Callable[[Entry, Pin], Path]


def places(libraries: Sequence[Library]) -> dict[str, Path]:
    """Return the folders of libraries, and of those that they build on, by their places."""
    return {place: each.root_dir for place, each in by_place(libraries).items()}


def by_place(libraries: Sequence[Library], above: str = "") -> dict[str, Library]:
    """Return libraries, and those that they build on, by their places."""
    found: dict[str, Library] = {}
    for each in libraries:
        place = join(above, each.place)
        found |= {place: each, **by_place(each.libraries, place)}
    return found


def carried_dir() -> Path:
    """Return the folder of the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parent.parent
    carried = here / "catalogue"
    return carried if (carried / FILE).is_file() else here.parent.parent


def members(sources: Sources) -> list[Member]:
    """Return the files of a library: its parts, definitions and fragments of READMEs, but no packages.

    Of one that came as a bundle it is all files, but for copies of the libraries that it builds on.
    """
    if sources.is_file(manifest.FILE):
        found = [path for path in sources.list("", "**/*") if not path.startswith(f"{LIBRARIES}/")]
    else:
        found = [path for each in CONTENT for path in (each, *sources.list(each, "**/*"))]
        found = [path for path in found if not _LEFT.search(path)]
    return [
        Member(path=path, data=sources.read(path), executable=sources.is_executable(path))
        for path in found
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


def find(
    root_dir: Path,
    memo: Memo | None = None,
    obtain: Obtain | None = None,
    instead: Instead = NOTHING,
) -> tuple[Library, ...]:
    """Find the libraries of a workspace, each as its lock has it; ``obtain`` is asked for those that are elsewhere.

    Some may be others ``instead``: folders and pins by name.
    """
    return _Search(Memo() if memo is None else memo, obtain or _absent, instead).libraries(root_dir, {})


def entries(root_dir: Path, memo: Memo | None = None) -> list[Entry]:
    """Return what ``libraries`` of a packyard.yaml says; none where there is no such file."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(FILE):
        return []
    fields = Fields.of_file(sources, FILE)
    found = library_entry.read(fields)
    refuse(fields.problems)
    return found


def copy_dir(root_dir: Path, name: str) -> Path:
    """Return where a copy of a library is, if there is one."""
    return root_dir / LIBRARIES / name


def own_dir(entry: Entry, root_dir: Path) -> Path | None:
    """Return the folder of a library that is packyard's own, or that is named by its path, copied or not."""
    if not entry.path:
        return None if entry.git or entry.asked else carried_dir()
    folder = Path(os.path.normpath(root_dir / entry.path))
    if not folder.is_dir():
        raise InputError(entry.problem(f"is not there: no folder {str(folder)!r}", "correct `path`"))
    return folder


def read_lock(root_dir: Path) -> Lock:
    """Return what pins the libraries of a folder; without a lock nothing does."""
    file = root_dir / lock.FILE
    return lock.read(file) if regular.is_file(file) else Lock()


class _Search:
    """The search for the libraries of one workspace."""

    def __init__(self, memo: Memo, obtain: Obtain, instead: Instead) -> None:
        self._memo = memo
        self._obtain = obtain
        self._instead = instead
        self._count = 0

    def libraries(self, root_dir: Path, within: dict[str, str], fetched: str = "") -> tuple[Library, ...]:
        """Return the libraries of a folder; ``within`` has the names of those that build on it, by real folders.

        ``fetched`` is the name of the one of them that came from elsewhere, if one did.
        """
        listed = entries(root_dir, self._memo)
        pins = read_lock(root_dir).libraries if listed else {}
        instead = {} if within else self._instead
        within = within or {os.path.realpath(root_dir): ""}
        found = []
        for each in listed:
            if each.path and fetched and not copy_dir(root_dir, each.name).is_dir():
                says = f"is a folder outside of the library {fetched}, which was fetched"
                raise InputError(each.problem(says, "ask whoever publishes that to publish this one, too"))
            place = instead.get(each.name) or self._find(each, root_dir, pins.get(each.name))
            found.append(self._library(each, *place, within, fetched))
        return tuple(found)

    def _find(self, entry: Entry, above_dir: Path, pin: Pin | None) -> tuple[Path, Pin | None]:
        """Return the folder of a library, and what pins it."""
        if pin:
            _check_pin(entry, pin)
        copy = copy_dir(above_dir, entry.name)
        if copy.is_dir():
            paths.inside(above_dir, f"{LIBRARIES}/{entry.name}")
        folder = copy if copy.is_dir() else own_dir(entry, above_dir)
        if pin:
            return folder or self._obtain(entry, pin), pin
        if folder is None or entry.git or entry.asked:
            hint = f"packyard update {entry.name} chooses, fetches and pins it"
            raise InputError(entry.problem(f"is not pinned in {lock.FILE}", hint))
        return folder, None

    def _library(self, entry: Entry, root_dir: Path, pin: Pin | None, within: dict[str, str], fetched: str) -> Library:
        self._count += 1
        if self._count > MOST or len(within) > DEEPEST:
            raise InputError(entry.problem(f"is one too many: a workspace has at most {MOST}, {DEEPEST} deep"))
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
        fetched = fetched or (entry.name if entry.git or entry.asked else "")
        libraries = self.libraries(root_dir, {**within, real: entry.name}, fetched)
        return Library(name=entry.name, root_dir=root_dir, pin=pin, libraries=libraries)


def _check_pin(entry: Entry, pin: Pin) -> None:
    """Refuse a pin of something else than the entry asks for."""
    asked = entry.asked
    if (asked and not asked.admits(pin.version)) or (entry.git and pin.version != commit_version(entry.commit)):
        says = f"is {pin.version} in {lock.FILE}, not {asked.version or asked.choice if asked else entry.commit}"
        raise InputError(entry.problem(says, f"packyard update {entry.name} pins what is asked for"))


def commit_version(commit: str) -> str:
    """Return the version of a library that is a repository at a commit."""
    return f"0+{commit}"


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
