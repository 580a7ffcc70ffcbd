"""Fetching: from what a user asks for to bytes that are what the channel says they are.

What the channel says is taken from its index; a channel of plain files without one is asked for a bundle's checksum
file. That the channel itself tells the truth is the business of signatures, not of digests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packyard.bundle.bundle import Bundle
from packyard.bundle.reference import Reference
from packyard.channel import checksum, index
from packyard.channel.entry import IndexEntry, bundle_key
from packyard.channel.stores import MissingStoreError, NotFoundError, Store, TooLongError
from packyard.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.files.regular import LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from packyard.digest import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A ``.tar.gz`` (``data``) that has the ``digest`` which the channel names for this name and version.

    ``tar`` is what its index says of the tar in it.
    """

    name: str
    version: str
    data: bytes
    digest: Digest
    tar: Digest | None = None

    def open(self) -> Bundle:
        """Verify every file against the manifest inside, and that it is the bundle asked for; nothing is written."""
        what = f"{self.name}@{self.version}"
        bundle = Bundle.open(self.data, what=what)
        found = f"{bundle.manifest.name}@{bundle.manifest.version}"
        if found != what:
            raise IntegrityError(f"{what}: expected this bundle, found {found} in its place")
        if self.tar not in (None, bundle.tar):
            raise IntegrityError(f"{what}: expected the tar {self.tar}, found {bundle.tar}")
        return bundle

    def unpack(self, into: Path) -> Path:
        """Verify as `open` does, then unpack as one new directory in ``into``, all or nothing, and return it."""
        return self.open().unpack(into)


def fetch(store: Store, reference: str) -> Fetched:
    """Fetch ``NAME`` (its latest version) or ``NAME@VERSION``, and check size and digest before anything looks inside.

    Raise `InputError` for what the channel does not have, and `IntegrityError`, naming expected and found, for bytes
    that are not what it says.
    """
    asked = Reference.parse(reference)
    try:
        listed = index.read(store)
    except MissingStoreError:
        raise
    except NotFoundError:
        return _fetch_without_index(store, asked)
    listed.check_choice(asked)
    entry = listed.resolve(asked.name, asked.version)
    data = _get(store, entry)
    entry.verify(data)
    return Fetched(name=entry.name, version=entry.version, data=data, digest=entry.digest, tar=entry.tar)


def _get(store: Store, entry: IndexEntry) -> bytes:
    if entry.size > LIMIT:
        raise IntegrityError(f"{entry}: is said to have {entry.size} bytes; a bundle has {LIMIT} at most")
    try:
        return store.get(bundle_key(entry.name, entry.version), limit=entry.size)
    except TooLongError as error:
        raise IntegrityError(f"{entry}: expected {entry.size} bytes, found more") from error


def _fetch_without_index(store: Store, asked: Reference) -> Fetched:
    asked.check_choice()
    if asked.version is None:
        hint = f"give a version: {asked.name}@VERSION"
        raise UnavailableError(Problem("the channel has no index that would tell the latest version", hint=hint))
    key = checksum.key(asked.name, asked.version)
    try:
        digest = checksum.parse(store.get(key, limit=checksum.LIMIT), what=key)
    except NotFoundError as error:
        hint = f"is this the address of a channel, and {asked} right? ({error})"
        raise InputError(Problem(f"the channel has neither an index nor {key}", hint=hint)) from error
    data = store.get(bundle_key(asked.name, asked.version))
    digest.verify(data, what=str(asked))
    return Fetched(name=asked.name, version=asked.version, data=data, digest=digest)
