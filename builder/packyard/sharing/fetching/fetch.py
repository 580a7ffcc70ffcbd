"""Fetching: from the name that a user asks for to a bundle's file that has the digest which the channel gives.

The digest comes from the channel's index, or from a bundle's checksum file where a channel of plain files has no index.
Digests do not prove that the channel itself is honest: signatures do. All of that is verified before anything is
unpacked, and what is in the file while it is unpacked, before it gets its name.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from packyard.core.bundle import bundle as bundles
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.lock import Pin
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.sharing import checksum
from packyard.sharing.entry import CHECKSUM, IndexEntry, bundle_key
from packyard.sharing.fetching.cache import Cache
from packyard.sharing.fetching.download import ROOM, Heard, Wanted, download
from packyard.sharing.fetching.verify import Proof, verify_bundle, verify_listed
from packyard.sharing.index import access
from packyard.sharing.index.access import OlderError
from packyard.sharing.index.choose import Choice, choose
from packyard.sharing.index.index import Index
from packyard.sharing.index.offline import Memory
from packyard.sharing.index.package import Package
from packyard.sharing.stores.store import PATIENCE, MissingStoreError, NotFoundError, Store, pointing_to_fsck
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust

_UNLIMITED = 1 << 62  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A bundle's file, why it was chosen, what is proved about it, and the package as the channel lists it.

    ``number`` is that of the index that lists it, 0 where none does.
    """

    file: BinaryIO
    choice: Choice
    proof: Proof
    package: Package | None = None
    number: int = 0

    @property
    def versions(self) -> Sequence[IndexEntry]:
        """The versions that the channel lists; a registry is asked for each."""
        return self.package.entries if self.package else ()

    def unpack(self, into: Path, receipt: bytes | None = None) -> Path:
        """Unpack as one new directory in ``into``, in one step, and return it; see `archive.write_all`."""
        entry, check = self.choice.entry, partial(_check_entry, self.choice.entry)
        return bundles.unpack(self.file, into, name=entry.name, what=str(entry), check=check, receipt=receipt)

    def read(self) -> Bundle:
        """Return the bundle in memory."""
        self.file.seek(0)
        entry = self.choice.entry
        bundle = Bundle.open(self.file.read(), what=str(entry))
        _check_entry(entry, bundle.manifest, bundle.tar, what=str(entry))
        return bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How to fetch: whom the user trusts, the index that is remembered, the cache, the seconds for a transfer.

    ``heard`` hears how much of a bundle is there, ``warn`` what the user has to know.
    """

    trusted: Trust = NOBODY
    memory: Memory | None = None
    cache: Cache | None = None
    patience: float = PATIENCE
    heard: Heard = lambda *_: None
    warn: Callable[[str], object] = lambda _: None


@contextmanager
def opened(
    store: Store, reference: Reference, how: Fetching | None = None, *, pin: Pin | None = None
) -> Iterator[Fetched]:
    """Open the file of the bundle that is asked for, verified but for what is in it; see `Fetched`.

    With a pin, any other bundle than that one is refused, and that one is taken though it is yanked.

    Raises `InputError` for what the channel does not have, and `IntegrityError`, naming expected and found, for bytes
    that are not what it lists.
    """
    how = how or Fetching()
    with ExitStack() as held:
        with pointing_to_fsck(store):
            index = _index(store, reference, how, is_pinned=pin is not None or reference.version is not None)
            if index:
                fetched = _listed(store, index, reference, how, pin, held)
            else:
                fetched = _plain(store, reference, how, held)
                fetched = replace(fetched, choice=_check_pin(fetched.choice, pin)) if pin else fetched
        yield fetched


def _listed(
    store: Store, index: Index, reference: Reference, how: Fetching, pin: Pin | None, held: ExitStack
) -> Fetched:
    """Open the file of what an index lists."""
    package = index.named(reference.name)
    choice = choose(package, reference)
    if pin:
        choice = _check_pin(choice, pin)
    try:
        file = held.enter_context(_opened(store, choice.entry, how))
        attested = provenance.get(store, choice.entry.name, choice.entry.version)
        proof = verify_listed(index, choice.entry, choice.entry, attested, how.trusted)
    except (NotFoundError, IntegrityError):
        latest = access.read(store, how.trusted, how.memory)
        latest.named(reference.name).get(choice.entry.version)  # removed meanwhile
        raise
    return Fetched(file=file, choice=choice, proof=proof, package=package, number=index.number)


def _index(store: Store, reference: Reference, how: Fetching, *, is_pinned: bool) -> Index | None:
    """Return the index; for what is pinned, the one that is remembered where the channel shows an older one.

    Where the record that it names is missing as well, the older one says of a version what it always says.
    """
    try:
        return access.find(store, how.trusted, how.memory)
    except OlderError as error:
        remembered = how.memory.read(store, how.trusted) if how.memory and is_pinned else None
        if remembered is None:
            raise
        how.warn(f"{error}\nwhat it listed before is used")
        try:
            remembered.package(reference.name)
        except IntegrityError:
            older = access.find(store, how.trusted)
            return older if older and older.channel == remembered.channel else remembered
        return remembered


def _opened(store: Store, entry: IndexEntry, how: Fetching) -> AbstractContextManager[BinaryIO]:
    """Open the file of a listed bundle, which has the listed size and digest; nothing else is verified."""
    wanted = Wanted(digest=entry.digest, size=entry.size, what=str(entry))
    read = partial(_read, store, entry.key)
    return download(read, wanted, cache=how.cache, patience=how.patience, heard=how.heard)


def keep(store: Store, entry: IndexEntry, folder: Path, how: Fetching) -> Path:
    """Copy the file of a listed bundle to a temporary folder, and verify all of it; return its place.

    What is there already is not copied again.
    """
    files = Cache(folder, limit=_UNLIMITED, room=ROOM)
    with _opened(store, entry, replace(how, cache=files)) as file:
        manifest, tar = bundles.inspect(file, what=str(entry))
        _check_entry(entry, manifest, tar, what=str(entry))
    return files.path(entry.digest)


def _read(store: Store, key: str, offset: int) -> Iterator[bytes]:
    return store.read(key, offset=offset)


def _plain(store: Store, reference: Reference, how: Fetching, held: ExitStack) -> Fetched:
    """Open the file of a version that no index describes; it has the digest that the checksum file beside it says."""
    if reference.version is None:
        hint = f"is {store.address} a channel? If so, give a version: {reference.name}@VERSION"
        raise UnavailableError(Problem(f"the channel has no index that tells which version {reference} is", hint=hint))
    if how.trusted.is_required:
        hint = f"ask its publisher; to require no signature there any more: {how.trusted.let_go}"
        raise IntegrityError(Problem("has no index any more, and you trust keys for it", file=store.address, hint=hint))
    key = bundle_key(reference.name, reference.version, CHECKSUM)
    try:
        digest = checksum.parse(store.get(key, limit=checksum.LIMIT), what=key)
    except (NotFoundError, MissingStoreError) as error:
        hint = f"is this the address of a channel, and {reference} right? ({error})"
        raise InputError(Problem(f"the channel has neither an index nor {key}", hint=hint)) from error
    what, read = str(reference), partial(_read, store, bundle_key(reference.name, reference.version))
    wanted = Wanted(digest=digest, what=what)
    file = held.enter_context(download(read, wanted, cache=how.cache, patience=how.patience, heard=how.heard))
    manifest, tar = bundles.inspect(file, what=what)
    _check(manifest, reference.name, reference.version, what=what)
    size = file.seek(0, io.SEEK_END)
    entry = IndexEntry(name=manifest.name, version=manifest.version, tar=tar, digest=digest, size=size)
    proof = verify_bundle(entry, provenance.get(store, entry.name, entry.version), how.trusted, what=what)
    choice = Choice(entry=entry, why="the version that was asked for; the channel has no index")
    return Fetched(file=file, choice=choice, proof=proof)


def _check_pin(choice: Choice, pin: Pin) -> Choice:
    entry = choice.entry
    if not pin.admits(entry.tar, entry.digest):
        found = f"the channel has tar {entry.tar}, file {entry.digest}"
        problem = f"another one is pinned: tar {pin.tar}, file {pin.digest}; {found}"
        hint = "ask whoever publishes there: a published version never changes"
        raise IntegrityError(Problem(problem, file=str(entry), hint=hint))
    return replace(choice, why="the version that is pinned")


def _check_entry(entry: IndexEntry, manifest: Manifest, tar: Digest, *, what: str = "") -> None:
    _check(manifest, entry.name, entry.version, what=what)
    if tar != entry.tar:
        raise IntegrityError(Problem(f"expected the tar {entry.tar}, found {tar}", file=what))


def _check(manifest: Manifest, name: str, version: str, *, what: str = "") -> None:
    found, expected = f"{manifest.name}@{manifest.version}", f"{name}@{version}"
    if found != expected:
        raise IntegrityError(Problem(f"expected this bundle, found {found}", file=what))
