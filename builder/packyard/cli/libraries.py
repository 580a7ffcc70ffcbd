"""Fetches the libraries that a workspace builds on from their channels, and keeps them for the next command."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from packyard.cli import state
from packyard.cli.preferences import Setting
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, UnavailableError
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Entry
from packyard.writing.source.shelf import Shelf
from packyard.writing.source.workspace import Workspace


def read(root_dir: Path) -> Workspace:
    """Read a workspace with its libraries; a bundle that is not at hand is fetched."""
    return workspace.read(root_dir, libraries=library.find(root_dir, obtain=obtain))


def obtain(entry: Entry) -> Path:
    """Return the folder of a library that is a bundle: kept from before, or fetched now."""
    folder = shelf().find(entry.name, entry.digest) if entry.digest else None
    return folder or _fetch(entry)


def shelf() -> Shelf:
    """Return the libraries that were fetched."""
    folder = state.cache_dir()
    if folder is None:
        hint = "set HOME, or XDG_CACHE_HOME; or unpack them, and name the folders by `path`"
        raise UnavailableError(f"libraries cannot be fetched without a home folder ({hint})")
    return Shelf(folder / "libraries")


def _fetch(entry: Entry) -> Path:
    from packyard.cli import bundles, preferences
    from packyard.sharing.configuration import normal

    is_relative = bool(entry.channel) and "://" not in entry.channel and not entry.channel.startswith("/")
    named = str(Path(entry.file).parent / entry.channel) if is_relative else entry.channel
    source = preferences.channel(named or None)
    if source is None:
        raise InputError(entry.problem("has no channel", "name it: from: CHANNEL"))
    channel = normal(source.value)
    bundle = bundles.find(Reference(name=entry.name, version=entry.version), Setting(channel, source.origin))
    folder, tar = shelf().put(entry.name, bundle.members)
    if entry.digest is None:
        hint = f"look at it by: packyard get {quote(f'{entry.name}@{entry.version}')} --from {quote(channel)}"
        raise InputError(entry.problem(f"has no digest: write digest: {tar}, if you trust what is published", hint))
    if tar != entry.digest:
        hint = "what is published at a version never changes: ask its publisher"
        says = f"is not what `digest` pins: expected {entry.digest}, {channel} has {tar}"
        raise InputError(entry.problem(says, hint))
    return folder
