"""Fetches the libraries that a workspace builds on from their channels, and keeps them for the next command."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shlex import quote

from packyard.cli import state
from packyard.cli.preferences import Setting
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, UnavailableError
from packyard.core.files import regular
from packyard.writing.source.library import Entry


def obtain(entry: Entry) -> Path:
    """Return the folder of a library that is a bundle: kept from before, or fetched now."""
    cache_dir = state.cache_dir()
    if cache_dir is None:
        hint = "set HOME, or XDG_CACHE_HOME; or unpack them, and name the folders by `path`"
        raise UnavailableError(f"libraries cannot be fetched without a home folder ({hint})")
    kept_dir = cache_dir / "libraries"
    if entry.digest and (kept_dir / entry.digest.hex / entry.name).is_dir():
        return kept_dir / entry.digest.hex / entry.name
    bundle = _fetch(entry)
    into = kept_dir / bundle.tar.hex
    regular.make_folder(into)
    with suppress(ConflictError):  # somebody else was quicker
        bundle.unpack(into)
    return into / entry.name


def _fetch(entry: Entry) -> Bundle:
    from packyard.cli import bundles, preferences

    is_relative = bool(entry.channel) and "://" not in entry.channel and not entry.channel.startswith("/")
    named = str(Path(entry.file).parent / entry.channel) if is_relative else entry.channel
    source = preferences.channel(named or None)
    if source is None:
        raise InputError(entry.problem("has no channel", "name it: from: CHANNEL"))
    channel = source.whole
    bundle = bundles.find(Reference(name=entry.name, version=entry.version), Setting(channel, source.origin))
    if entry.digest is None:
        hint = f"look at it by: packyard get {quote(f'{entry.name}@{entry.version}')} --from {quote(channel)}"
        raise InputError(
            entry.problem(f"has no digest: write digest: {bundle.tar}, if you trust what is published", hint)
        )
    return bundle
