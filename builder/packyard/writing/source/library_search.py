"""The search for the libraries of a workspace, each as ``packyard.lock`` pins it, to the byte.

A copy at the place of a library is used before what it was made of. The libraries that a library builds on are pinned
by its own lock. One that came from elsewhere leads to no folder of its user.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from packyard.core.bundle import lock
from packyard.core.bundle.lock import Pin
from packyard.core.errors import InputError, IntegrityError, PackyardError, Problem
from packyard.core.files import paths
from packyard.core.files.paths import WORKSPACE
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.writing.source import library
from packyard.writing.source.library import KINDS, Library
from packyard.writing.source.library_entry import Entry

#: How many libraries a workspace may have in all, and how deep they may build on each other.
MOST, DEEPEST = 50, 8

#: Folders and pins of libraries by their names.
Instead = Mapping[str, tuple[Path, Pin]]
NOTHING: Instead = {}

#: Returns the folder of a library that is pinned and is neither a folder nor packyard's own.
Obtain = Callable[[Entry, Pin], Path]


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
        listed = library.entries(root_dir, self._memo)
        pins = library.read_lock(root_dir).libraries if listed else {}
        instead = {} if within else self._instead
        within = within or {os.path.realpath(root_dir): ""}
        libraries = []
        for entry in listed:
            if entry.path and fetched and not library.copy_dir(root_dir, entry.name).is_dir():
                says = f"is a folder outside of the library {fetched}, which was fetched"
                raise InputError(entry.problem(says, "ask whoever publishes that to publish this one, too"))
            place = instead.get(entry.name) or self._find(entry, root_dir, pins.get(entry.name))
            libraries.append(self._library(entry, *place, within, fetched))
        return tuple(libraries)

    def _find(self, entry: Entry, above_dir: Path, pin: Pin | None) -> tuple[Path, Pin | None]:
        """Return the folder of a library, and what pins it."""
        if pin:
            _check_pin(entry, pin)
        copy = library.copy_dir(above_dir, entry.name)
        if copy.is_dir():
            paths.inside(above_dir, f"{LIBRARIES}/{entry.name}")
        folder = copy if copy.is_dir() else library.own_dir(entry, above_dir)
        if pin:
            return folder or self._obtain(entry, pin), pin
        if folder is None or entry.git or entry.reference:
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
        if pin and (tar := library.digest(entry.name, root_dir)) != pin.tar:
            is_copy = root_dir.parts[-2:] == (LIBRARIES, entry.name)
            hint = f"packyard update {entry.name} shows what that changes, and pins it"
            hint = "move the folder away, and packyard update --vendor copies what is pinned" if is_copy else hint
            says = f"is not what {lock.FILE} pins: its files are in {root_dir}, expected {pin.tar}, found {tar}"
            raise IntegrityError(entry.problem(says, hint))
        fetched = fetched or (entry.name if entry.git or entry.reference else "")
        libraries = self.libraries(root_dir, {**within, real: entry.name}, fetched)
        return Library(name=entry.name, root_dir=root_dir, pin=pin, libraries=libraries)


def _check_pin(entry: Entry, pin: Pin) -> None:
    """Refuse a pin of something else than the entry asks for."""
    reference, wanted = entry.reference, ""
    if reference and not reference.admits(pin.version):
        wanted = reference.version or reference.choice
    elif entry.commit and pin.version != library.commit_version(entry.commit):
        wanted = entry.commit
    elif entry.tag and pin.channel != entry.repository:
        wanted = entry.tag
    if wanted:
        says = f"is {pin.version} in {lock.FILE}, not {wanted}"
        raise InputError(entry.problem(says, f"packyard update {entry.name} pins what is asked for"))


def _absent(entry: Entry, pin: Pin) -> Path:
    raise InputError(entry.problem(f"{pin.version} was not fetched", "packyard build fetches it"))


def _check(root_dir: Path, memo: Memo) -> None:
    """Refuse a folder that is not a library."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(WORKSPACE):
        raise InputError(Problem("no such file, so this is not a library", file=sources.shown(WORKSPACE)))
    fields = Fields.of_file(sources, WORKSPACE)
    if fields.text("apiVersion") != "packyard/v1" or fields.text("kind") not in KINDS:
        raise InputError(Problem(f"must be a {' or a '.join(KINDS)} of packyard/v1", file=fields.file, line=1))
