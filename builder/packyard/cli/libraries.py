"""Fetches the libraries that a workspace builds on: those that are pinned, or the newest that its entries ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packyard.cli import output, state
from packyard.core.bundle import lock
from packyard.core.bundle.lock import Pin
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError, suggest
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.sources import Sources
from packyard.writing.source import library, library_search, workspace
from packyard.writing.source.library import Library
from packyard.writing.source.library_entry import Entry
from packyard.writing.source.library_search import NOTHING, Instead
from packyard.writing.source.shelf import Shelf
from packyard.writing.source.workspace import Workspace

#: What hears the address of a channel.
Heard = Callable[[str], object]


def named(root_dir: Path, names: Sequence[str]) -> list[Entry]:
    """Return the entries of packyard.yaml of these names, or all; an unknown name is refused with the nearest one."""
    by_name = {each.name: each for each in library.entries(root_dir)}
    for name in names:
        if name not in by_name:
            hint = suggest(name, by_name) or f"it names {', '.join(by_name) or 'none'}"
            raise InputError(Problem(f"libraries: has no {name!r}", file=str(root_dir / WORKSPACE), hint=hint))
    return [each for name, each in by_name.items() if not names or name in names]


def read(root_dir: Path, instead: Instead = NOTHING) -> Workspace:
    """Read a workspace with its libraries, or some ``instead``; what is pinned and not at hand is fetched."""
    return workspace.read(root_dir, libraries=find(root_dir, instead))


def find(root_dir: Path, instead: Instead = NOTHING) -> tuple[Library, ...]:
    """Find the libraries of a workspace as `read` does."""
    return library_search.find(root_dir, obtain=obtain, instead=instead)


def kept(pins: Mapping[str, Pin]) -> Instead:
    """Return the libraries that are pinned and were kept when they were."""
    if state.cache_dir() is None:
        return {}
    return {name: (folder, pin) for name, pin in pins.items() if (folder := shelf().find(name, pin.tar))}


def pin(root_dir: Path, pins: Mapping[str, Pin], libraries: Iterable[Library]) -> None:
    """Write the lock of a workspace, unless it says that; what is pinned is kept, for the next update to compare."""
    locked = library.read_lock(root_dir)
    if locked.libraries != pins:
        lock.write(root_dir / lock.FILE, replace(locked, libraries=pins))
    if state.cache_dir():
        for each in libraries:
            shelf().put(each.name, library.members(Sources(each.root_dir)))


def obtain(entry: Entry, pin: Pin) -> Path:
    """Return the folder of a library that is pinned: kept from before, or fetched now."""
    folder = shelf().find(entry.name, pin.tar)
    if folder:
        return folder
    folder, fetched = _fetch(entry, pin)
    if fetched.tar != pin.tar:
        says = f"is not what packyard.lock pins: expected {pin.tar}, found {fetched.tar}"
        raise IntegrityError(entry.problem(says, "what is published at a version never changes: ask who publishes it"))
    return folder


def newest(entry: Entry, root_dir: Path, unreached: Heard = lambda _: None) -> tuple[Path, Pin]:
    """Return the newest library that an entry asks for, and what pins it.

    ``unreached`` hears of a channel that could not be asked, so that what it listed before counts.
    """
    own_dir = library.own_dir(entry, root_dir)
    if own_dir is None:
        return _fetch(entry, None, unreached)
    return own_dir, library.pin_of(entry.name, own_dir, entry.path)


def shelf() -> Shelf:
    """Return the libraries that were fetched."""
    folder = state.cache_dir()
    if folder is None:
        hint = "set HOME, or XDG_CACHE_HOME; or let packyard update --vendor copy them into the workspace"
        raise UnavailableError(Problem("libraries cannot be fetched without a home folder", hint=hint))
    return Shelf(folder / "libraries")


def _fetch(entry: Entry, pin: Pin | None, unreached: Heard = lambda _: None) -> tuple[Path, Pin]:
    if entry.reference:
        return _fetch_bundle(entry, entry.reference, pin, unreached)
    from packyard.writing.source import repository

    commit, files = repository.read(entry, library.commit_of(pin.version) if pin else "")
    output.detail(f"the library {entry.name}: {entry.git} at {commit}")
    folder, tar = shelf().put(entry.name, files)
    return folder, Pin(version=library.commit_version(commit), channel=entry.repository, tar=tar, digest=tar)


def _fetch_bundle(entry: Entry, wanted: Reference, pin: Pin | None, unreached: Heard) -> tuple[Path, Pin]:
    from packyard.cli import preferences
    from packyard.cli.channels import fetching, is_reached, open_to_read
    from packyard.sharing.configuration import normal
    from packyard.sharing.fetching.fetch import opened

    named = (pin.channel if pin else "") or entry.channel
    channel = normal(preferences.required_channel(_beside(entry, named) or None).value)
    reference = Reference(name=entry.name, version=pin.version) if pin else wanted
    store = open_to_read(channel)
    with opened(store, reference, fetching(channel, store), pin=pin) as fetched:
        chosen = fetched.choice.entry
        output.detail(f"the library {chosen} from {channel}, {fetched.choice.why}")
        folder, tar = shelf().put(entry.name, fetched.read().members)
    if not is_reached(store):
        unreached(channel)
    address = entry.channel if _is_relative(entry.channel) else channel
    return folder, Pin(version=chosen.version, channel=address, tar=tar, digest=chosen.digest)


def _is_relative(channel: str) -> bool:
    """Say whether a channel is a folder named by its way from packyard.yaml, which a lock says on any computer."""
    return bool(channel) and "://" not in channel and not channel.startswith("/")


def _beside(entry: Entry, channel: str) -> str:
    return str(Path(entry.file).parent / channel) if _is_relative(channel) else channel
