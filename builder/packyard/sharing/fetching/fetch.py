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
from packyard.sharing.fetching.bundle_address import BundleAddress
from packyard.sharing.fetching.cache import Cache
from packyard.sharing.fetching.download import ROOM, Heard, Read, Wanted, download
from packyard.sharing.fetching.verify import Proof, verify_bundle, verify_listed
from packyard.sharing.index import access
from packyard.sharing.index.access import OlderError
from packyard.sharing.index.choose import Choice, choose
from packyard.sharing.index.index import Index
from packyard.sharing.index.offline import Memory
from packyard.sharing.index.package import Package
from packyard.sharing.stores import open_store
from packyard.sharing.stores.store import PATIENCE, MissingStoreError, NotFoundError, Store, pointing_to_fsck
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust

_UNLIMITED = 1 << 62  # bytes
_AT_ADDRESS = "whose address was given; whether it was yanked is not known"
_IS_RIGHT = "is this the address of a bundle in a channel? packyard list --from CHANNEL shows what a channel has"


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
            fetched = held.enter_context(_opened(store, reference, how, pin))
        yield fetched


@contextmanager
def _opened(store: Store, reference: Reference, how: Fetching, pin: Pin | None) -> Iterator[Fetched]:
    index = _index(store, reference, how, is_pinned=pin is not None or reference.version is not None)
    if index is None:
        with _without_index(store, reference, how) as fetched:
            yield replace(fetched, choice=_check_pin(fetched.choice, pin)) if pin else fetched
        return
    package = index.named(reference.name)
    choice = choose(package, reference)
    if pin:
        choice = _check_pin(choice, pin)
    with ExitStack() as held:
        try:
            file = held.enter_context(opened_entry(store, choice.entry, how))
            proof = verify_listed(store, index, choice.entry, choice.entry, how.trusted)
        except (NotFoundError, IntegrityError):
            latest = access.read(store, how.trusted, how.memory)
            latest.named(reference.name).get(choice.entry.version)  # removed meanwhile
            raise
        yield Fetched(file=file, choice=choice, proof=proof, package=package, number=index.number)


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


def opened_entry(store: Store, entry: IndexEntry, how: Fetching) -> AbstractContextManager[BinaryIO]:
    """Open the file of a listed bundle, which has the listed size and digest; nothing else is verified."""
    wanted = Wanted(digest=entry.digest, size=entry.size, what=str(entry))
    return download(_reading(store, entry.key), wanted, cache=how.cache, patience=how.patience, heard=how.heard)


def keep(store: Store, entry: IndexEntry, folder: Path, how: Fetching) -> Path:
    """Copy the file of a listed bundle to a temporary folder, and verify all of it; return its place.

    What is there already is not copied again.
    """
    files = Cache(folder, limit=_UNLIMITED, room=ROOM)
    with opened_entry(store, entry, replace(how, cache=files)) as file:
        manifest, tar = bundles.inspect(file, what=str(entry))
        _check_entry(entry, manifest, tar, what=str(entry))
    return files.path(entry.digest)


def _reading(store: Store, key: str) -> Read:
    return lambda offset: store.read(key, offset=offset)


@contextmanager
def opened_at(bundle: BundleAddress, how: Fetching | None = None) -> Iterator[Fetched]:
    """Open the file of the bundle at an address of its own, verified as `opened` does without an index.

    Raises `InputError` if there is no bundle, and `IntegrityError` if it has another name or version than its address.
    """
    how = how or Fetching()
    if bundle.artifact is None:
        store = open_store(bundle.channel, patience=how.patience)
        with _plain(store, Reference.parse(bundle.reference), how, str(bundle), _AT_ADDRESS) as fetched:
            yield fetched
        return
    from packyard.sharing.stores.oci.channel import OCIStore

    registry, place = OCIStore(bundle.artifact.channel, patience=how.patience), bundle.artifact
    try:
        layer, read = registry.at(place.name, place.reference)
        read_beside = partial(registry.published_with, place.name, place.reference, limit=provenance.LIMIT)
        attested = next(filter(None, map(read_beside, provenance.ENDS)), None)
    except NotFoundError as error:
        raise InputError(Problem("there is no bundle", file=str(bundle), hint=_IS_RIGHT)) from error
    wanted = Wanted(digest=layer.digest, size=layer.size, what=str(bundle))
    with _unlisted(read, wanted, attested, how, bundle.check, _AT_ADDRESS) as fetched:
        yield fetched


def _without_index(store: Store, reference: Reference, how: Fetching) -> AbstractContextManager[Fetched]:
    if reference.version is None:
        hint = f"is {store.address} a channel? If so, give a version: {reference.name}@VERSION"
        raise UnavailableError(Problem(f"the channel has no index that tells which version {reference} is", hint=hint))
    if how.trusted.is_required:
        hint = f"ask its publisher; to require no signature there any more: {how.trusted.let_go}"
        raise IntegrityError(Problem("has no index any more, and you trust keys for it", file=store.address, hint=hint))
    return _plain(store, reference, how, str(reference), "the version that was asked for; the channel has no index")


def _plain(store: Store, reference: Reference, how: Fetching, what: str, why: str) -> AbstractContextManager[Fetched]:
    """Open the file of a version, which has the digest that the checksum file beside it says."""
    assert reference.version
    key = bundle_key(reference.name, reference.version, CHECKSUM)
    try:
        digest = checksum.parse(store.get(key, limit=checksum.LIMIT), what=key)
    except (NotFoundError, MissingStoreError) as error:
        if why == _AT_ADDRESS:
            raise InputError(Problem(f"there is no {key}", file=what, hint=_IS_RIGHT)) from error
        hint = f"is this the address of a channel, and {reference} right? ({error})"
        raise InputError(Problem(f"the channel has neither an index nor {key}", hint=hint)) from error
    attested = provenance.get(store, reference.name, reference.version)
    read = _reading(store, bundle_key(reference.name, reference.version))
    check = partial(_check, name=reference.name, version=reference.version, what=what)
    return _unlisted(read, Wanted(digest=digest, what=what), attested, how, check, why)


@contextmanager
def _unlisted(
    read: Read,
    wanted: Wanted,
    attested: bytes | None,
    how: Fetching,
    check: Callable[[Manifest], object],
    why: str,
) -> Iterator[Fetched]:
    """Open the file of a bundle that no index describes."""
    with download(read, wanted, cache=how.cache, patience=how.patience, heard=how.heard) as file:
        manifest, tar = bundles.inspect(file, what=wanted.what)
        check(manifest)
        size = file.seek(0, io.SEEK_END)
        entry = IndexEntry(name=manifest.name, version=manifest.version, tar=tar, digest=wanted.digest, size=size)
        proof = verify_bundle(entry, attested, how.trusted, what=wanted.what)
        yield Fetched(file=file, choice=Choice(entry=entry, why=why), proof=proof)


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
