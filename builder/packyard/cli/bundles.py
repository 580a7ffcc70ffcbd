"""Bundles in memory: what a channel has or packyard carries, and the one that an untarred package came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard import __version__
from packyard.cli import output, preferences, state
from packyard.core.bundle import manifest
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, PackyardError, Problem
from packyard.core.files import regular


def carried(asked: Reference) -> Bundle:
    """Build a package of the catalogue that packyard carries."""
    from packyard.writing.build.packing import Packing, Settings
    from packyard.writing.source import workspace

    if not asked.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        problem = f"this packyard carries version {__version__}, not {asked.version or asked.choice}"
        raise InputError(Problem(problem, hint=hint))
    how = Settings(root_dir=workspace.built_in().root_dir, version=__version__, cache_dir=state.cache_dir())
    built = Packing(how)(asked.name)
    if built.fault:
        output.warning(built.fault)
    return Bundle.open(built.data, what=built.name)


def find(asked: Reference, flag: str | None) -> Bundle:
    """Return what is asked for, verified: from the channel that is named or configured, or what packyard carries."""
    channel = preferences.channel(flag)
    if channel is None:
        return carried(asked)
    from packyard.cli.channels import fetching, open_to_read
    from packyard.sharing.fetching.fetch import opened

    store = open_to_read(channel.value)
    with opened(store, asked, fetching(channel.value)) as fetched:
        output.detail(f"{fetched.choice.entry} from {store.address} ({channel.origin}), {fetched.choice.why}")
        if fetched.choice.entry.yanked:
            output.warning(f"{fetched.choice.entry} is yanked: {fetched.choice.entry.yanked}")
        return fetched.read()


def read(file: Path) -> Bundle:
    """Return the bundle in a file, verified."""
    return Bundle.open(regular.read(file, limit=LIMITS.packed_size), what=str(file))


def described(folder: Path, hint: str = "name the top directory of one") -> tuple[bytes, Manifest]:
    """Return the packyard.json of an untarred package, as bytes and as what it says."""
    file = folder / manifest.FILE
    if not regular.is_file(file):
        raise InputError(Problem(f"has no {manifest.FILE}, so it is no untarred package", file=str(folder), hint=hint))
    data = regular.read(file, limit=manifest.LIMIT)
    try:
        return data, Manifest.parse(data)
    except IntegrityError as error:
        raise IntegrityError(*(replace(each, file=str(file)) for each in error.problems)) from error


def _fetched(data: bytes) -> Bundle | None:
    """Return the bundle with this packyard.json, if it was fetched once and is still kept."""
    from packyard.cli.channels import bundle_cache

    folder = state.cache_dir()
    for kept in bundle_cache(folder).entries() if folder else ():
        try:
            found = read(kept.file)
        except PackyardError as error:  # what is damaged was not it
            output.detail(f"{kept.file}: {error}")
            continue
        if found.manifest.to_bytes() == data:
            return found
    return None


def origin(folder: Path, flag: str | None, file: str | None, hint: str) -> Bundle:
    """Return the bundle that an untarred package came from: a file, or the one that has the package's packyard.json.

    That is looked for in the channel, then among the bundles that were fetched and are kept. ``hint`` is for a folder
    that has none.
    """
    if file is not None:
        return read(Path(file))
    data, known = described(folder, hint)
    name = f"{known.name}@{known.version}"
    hint = f"name the file: --base {quote(known.name)}.tar.gz"
    try:
        found = find(Reference(name=known.name, version=known.version), flag)
    except PackyardError as error:
        if fetched := _fetched(data):
            return fetched
        message = f"{name}, which it came from, cannot be had"
        raise type(error)(Problem(message, file=str(folder), hint=hint), *error.problems) from error
    if found.manifest.to_bytes() != data:
        if fetched := _fetched(data):
            return fetched
        message = f"is not that of {name}: it was edited, or the package came from elsewhere"
        raise InputError(Problem(message, file=str(folder / manifest.FILE), hint=hint))
    return found
