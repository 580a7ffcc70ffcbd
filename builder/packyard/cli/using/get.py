"""Fetch a package, verify it and unpack it: from a channel, or from the catalogue that packyard carries.

packyard get NAME                          the catalogue of this packyard, if no
                                           channel is configured
packyard get NAME/USECASE                  the same, and which command is next
packyard get NAME@VERSION --from CHANNEL   a directory, an http(s) address, a
                                           bucket or a registry
packyard get NAME --lock packyard.lock     pin what was fetched by its digests
packyard get --locked                      fetch what packyard.lock pins, to the
                                           byte

VERSION may be a range such as ^1.2 or ~1.2.0, or latest. Signatures, size and digest are verified before
anything is unpacked. What was fetched is kept, and not transferred again; packyard config says where.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from packyard.cli import declare, output, preferences, progress, untarred
from packyard.cli.rows import Rows
from packyard.core.bundle import address
from packyard.core.bundle import lock as locks
from packyard.core.bundle.lock import Lock, Pin
from packyard.core.bundle.manifest import LIBRARY
from packyard.core.bundle.receipt import CARRIED
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError, UsageError, on_one_line
from packyard.core.files import regular

if TYPE_CHECKING:
    from packyard.cli.preferences import Setting
    from packyard.sharing.entry import Identified
    from packyard.sharing.fetching.fetch import Fetched

ROWS = Rows(
    "package",
    "name, version, directory, digest, tar, channel, why, yanked, signers, listedBy, indexSeen",
)
#: A package that was fetched, as JSON, and what is said of it.
Row = tuple[dict[str, object], str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("reference", metavar="NAME[@VERSION]", nargs="?")
    declare.value(parser, "--from CHANNEL", "the address of a channel", dest="channel")
    parser.add_argument("--to", metavar="DIR", default=".", help="where to unpack (default: here)")
    declare.former(parser, "--into", "to")
    declare.value(parser, "--lock FILE", "pin what is fetched in this file")
    declare.switch(parser, "--locked", f"fetch only what FILE pins (default: {locks.FILE})")


def run(arguments: argparse.Namespace) -> int:
    """Fetch, verify and unpack packages; print the new directories."""
    into, wanted = Path(arguments.to), ""
    if arguments.locked:
        done = _locked(arguments, Path(arguments.lock or locks.FILE), into)
    elif arguments.reference is None:
        raise UsageError("packyard get: no package is named; packyard list shows the names, packyard get NAME gets one")
    else:
        if "://" in arguments.reference:
            Reference.parse(arguments.reference)  # refuses it
        package, _, wanted = arguments.reference.partition("/")
        source = preferences.source(arguments.channel)
        done = iter([_fetched(source, Reference.parse(package), into, file=arguments.lock)])
    rows = []
    for row, text in done:
        rows.append(row)
        if arguments.output == "text":
            output.line(str(row["directory"]))
        output.note(text)
        _tell_next(Path(str(row["directory"])), wanted)
    ROWS.show(rows, arguments.output)
    return 0


def _tell_next(folder: Path, wanted: str) -> None:
    """Name the command to go on with: for the use case that was named, or for all."""
    described = untarred.read(folder).described
    if described.kind == LIBRARY:
        return
    try:
        paths = address.meant(described.deployed(), wanted, described.name)
    except InputError as error:
        output.warning(str(error))
        return
    output.note(f"next: packyard setters {address.typed(folder / paths[0] if len(paths) == 1 else folder)}")


def _locked(arguments: argparse.Namespace, file: Path, into: Path) -> Iterator[Row]:
    """Fetch the package that is named, or all that are pinned."""
    if not file.exists():
        hint = f"packyard get NAME --from CHANNEL --lock {quote(str(file))} writes it"
        raise InputError(Problem("there is no such file", file=str(file), hint=hint))
    lock = locks.read(file)
    names = sorted(lock.packages)
    if arguments.reference is not None:
        reference = Reference.parse(arguments.reference)
        flag = preferences.as_flag(preferences.source(arguments.channel))
        lock.pinned(reference, file=str(file), get=f"packyard get {quote(arguments.reference)}{flag}")
        names = [reference.name]
    for name in names:
        pin = lock.packages[name]
        channel = preferences.channel(arguments.channel) or preferences.Setting(pin.channel, str(file))
        yield _fetched(channel, Reference(name=name, version=pin.version), into, pin=pin)


def _fetched(
    channel: Setting, reference: Reference, into: Path, *, pin: Pin | None = None, file: str | None = None
) -> Row:
    """Fetch, verify and unpack a bundle, and pin it in a lock file if one is named."""
    if channel.is_carried:
        return _carried(reference, channel, into, pin=pin, file=file)
    from packyard.cli.channels import fetching, open_channel
    from packyard.sharing.configuration import normal
    from packyard.sharing.fetching.fetch import fetch

    store = open_channel(channel.value)
    with progress.busy("fetching"):
        fetched = fetch(store, reference, fetching(channel.value, store), pin=pin)
    _tell(fetched, channel, store.address)
    row = _unpacked(fetched.choice.entry, fetched.unpack, channel, normal(channel.value), into, file)
    preferences.note_used(channel.value)
    seen: dict[str, object] = {
        "channel": store.address,
        "why": fetched.choice.why,
        "yanked": fetched.choice.entry.yanked,
        "signers": list(fetched.proof.signers),
        "listedBy": list(fetched.proof.listed_by),
        "indexSeen": fetched.number,
    }
    return row | seen, fetched.proof.describe()


def _unpacked(
    bundle: Identified,
    unpack: Callable[[Path, bytes | None], Path],
    channel: Setting,
    address: str,
    into: Path,
    file: str | None,
) -> dict[str, object]:
    """Unpack a bundle, pin it, and return what is printed of it as JSON."""
    pinned = Pin(version=bundle.version, channel=address, tar=bundle.tar, digest=bundle.digest)
    lock = _lock(file, bundle.name, pinned) if file else Lock()
    regular.make_folder(into)
    folder = unpack(into, untarred.receipt_of(channel, bundle))
    if file:
        locks.write(Path(file), lock.pin(bundle.name, pinned))
    output.detail(f"{bundle.name}.tar.gz {bundle.digest}, tar {bundle.tar}")
    fields = {"name": bundle.name, "version": bundle.version, "directory": str(folder)}
    return {**fields, "digest": bundle.digest, "tar": bundle.tar}


def _lock(file: str, name: str, new: Pin) -> Lock:
    """Read a lock file; refuse to pin other bytes under the same version."""
    lock = locks.read(Path(file)) if Path(file).exists() else Lock()
    old = lock.packages.get(name)
    if old and old.version == new.version and not old.admits(new.tar, new.digest):
        problem = f"pins {name}@{old.version} with tar {old.tar}, file {old.digest}, from {old.channel}"
        problem += f"; {new.channel} has other bytes: tar {new.tar}, file {new.digest}"
        hint = "a published version never changes: ask whoever publishes there; to pin these, remove the old pin"
        raise ConflictError(Problem(problem, file=file, hint=hint))
    return lock


def _tell(fetched: Fetched, channel: Setting, address: str) -> None:
    """Say which version of which channel it is, and why."""
    entry = fetched.choice.entry
    output.note(f"{entry} from {address} ({channel.origin}), {fetched.choice.why}")
    if entry.kind == LIBRARY:
        example = f"libraries: [{{name: {entry.name}, version: {entry.version}, digest: {entry.tar}}}]"
        output.note(f"{entry} is a library, to build packages on: name it in packyard.yaml, {example}")
    if entry.yanked:
        output.warning(f"{entry} is yanked: {on_one_line(entry.yanked)}")


def _carried(asked: Reference, source: Setting, into: Path, *, pin: Pin | None, file: str | None) -> Row:
    """Build what packyard carries, and keep it as what is fetched is kept: the next release carries another one."""
    from packyard.cli import bundles
    from packyard.cli.channels import bundle_cache

    with progress.busy(f"building {asked}"):
        bundle = bundles.carried(asked, pin)
    row = _unpacked(bundle, bundle.unpack, source, CARRIED, into, file)
    if cache := bundle_cache():
        with suppress(UnavailableError):
            cache.put(bundle.digest, bundle.data)
    return row, f"{bundle.name}@{bundle.version} from {source}"
