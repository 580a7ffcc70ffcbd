"""Fetch a package, check who made it, and write its files into a new folder.

packyard get NAME                          one that packyard carries, or your
                                           channel has, if you set one
packyard get NAME/USECASE                  the same, and which command is next
packyard get NAME@VERSION --from CHANNEL   from a folder, an http(s) address, a
                                           bucket or a registry
packyard get NAME --lock packyard.lock     note its version and digests there
packyard get --locked                      fetch what packyard.lock notes, to
                                           the byte

VERSION may be a range such as ^1.2 or ~1.2.0, or latest. What was fetched is kept, and not transferred again.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard.cli import bundles, copies, declare, output, preferences, state
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.core.bundle import address
from packyard.core.bundle import lock as locks
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.lock import Lock, Pin
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.bundle.reference import LATEST, Reference, is_version, split
from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError, UsageError
from packyard.core.files import paths, regular

ROWS = Rows("package", "name, version, directory, digest, tar, channel, why, yanked, signers, listedBy, indexSeen")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="[NAME[@VERSION][/USECASE]]", nargs="*")
    parser.value("--from CHANNEL", "where to look", dest="channel")
    parser.add_argument("--to", metavar="DIR", default=".", help="where to unpack (default: here)")
    parser.former("--into", "--to")
    parser.value("--lock FILE", "note in this file what is fetched")
    parser.switch("--locked", f"fetch only what FILE notes (default: {locks.FILE})")


def run(arguments: declare.Arguments) -> None:
    """Fetch, verify and unpack packages; print the new directories."""
    if len(arguments.words) > 1:
        first, second, *_ = arguments.words
        typed = quote(f"{first}@{second}" if is_version(second) or second == LATEST else first)
        raise UsageError(f"packyard get: one package at a time; type packyard get {typed}")
    if os.path.lexists(f"{(top := paths.root_of(arguments.to))}/{paths.MANIFEST}"):
        problem, hint = f"is inside the package {Path(top).name}", "go to the folder above it, or --to DIR"
        raise InputError(Problem(problem, file="here" if arguments.to == "." else arguments.to, hint=hint))
    rows, (package, wanted) = [], split(arguments.words[0]) if arguments.words else (None, "")
    for reference, source, pin in _asked(arguments, package):
        fetched = bundles.offer(reference, source, pin=pin, tell=output.note)
        entry, proof = fetched.entry, fetched.proof
        if entry.kind == LIBRARY:
            example = f"libraries: [{{name: {entry.name}, version: {entry.version}, digest: {entry.tar}}}]"
            output.note(f"{entry} is a library, to build packages on: name it in packyard.yaml, {example}")
        elif wanted:
            address.meant(fetched.bundle.manifest.deployed(), wanted, entry.name)  # before anything is written
        folder = _unpacked(fetched.bundle, source, Path(arguments.to), None if arguments.locked else arguments.lock)
        channel = "" if source.is_carried else output.masked(source.value)
        what = (entry.name, entry.version, folder, entry.digest, entry.tar, channel, fetched.why, entry.yanked)
        rows.append((*what, *((proof.signers, proof.listed_by, proof.index) if proof else ((), (), None))))
        if arguments.output == "text":
            output.line(str(folder))
        _tell_next(fetched.bundle.manifest, folder, wanted)
    ROWS.show(rows, arguments.output)


def _asked(arguments: declare.Arguments, named: Reference | None) -> Iterator[tuple[Reference, Setting, Pin | None]]:
    """Yield the package that is named, with its source, or all that are pinned."""
    if arguments.locked:
        yield from bundles.pinned(Path(arguments.lock or locks.FILE), arguments.channel, named)
    elif named is None:
        raise UsageError("packyard get: no package is named; packyard list shows the names, packyard get NAME gets one")
    else:
        yield named, preferences.source(arguments.channel), None


def _tell_next(described: Manifest, folder: Path, wanted: str) -> None:
    """Name the command to go on with: for the use case that was named, or for all."""
    if not (meant := address.fits(described.deployed(), wanted)):
        return
    verb = "setters" if any(described.use_cases[path].setters for path in meant) else "render"
    output.note(f"next: packyard {verb} {address.typed(folder / meant[0] if len(meant) == 1 else folder)}")


def _unpacked(bundle: Bundle, source: Setting, into: Path, file: str | None) -> Path:
    """Unpack a bundle unless it is there, pin it in a lock file if one is named, and return its directory."""
    pinned = Pin(version=bundle.version, channel=source.whole, tar=bundle.tar, digest=bundle.digest)
    lock = _lock(file, bundle.name, pinned) if file else Lock()
    folder = into / bundle.name
    described = regular.read(own) if regular.is_file(own := folder / paths.MANIFEST) else b""
    if described == bundle.manifest.to_bytes():
        output.note(f"{folder}: is {bundle.name}@{bundle.version} already, and stays as it is")
    elif described:
        hint = f"packyard upgrade {quote(str(folder))} {bundle.version} keeps what you set; --to FOLDER makes a copy"
        raise ConflictError(Problem("exists already", file=str(folder), hint=hint))
    else:
        regular.make_folder(into)
        bundle.unpack(into, copies.receipt_of(source, bundle))
        state.log().forget(os.path.realpath(folder))
    if file:
        locks.write(Path(file), replace(lock, packages={**lock.packages, bundle.name: pinned}))
    output.detail(f"{bundle.name}.tar.gz {bundle.digest}, tar {bundle.tar}")
    if source.is_carried:  # the next release carries another one
        with suppress(UnavailableError):
            bundles.bundle_cache().put(bundle.digest, bundle.data)
    preferences.note_used(source.value)
    return folder


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
