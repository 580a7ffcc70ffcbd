"""Fetching: from the name that a user asks for to a bundle that has the digest which the channel gives.

The digest comes from the channel's index, or from a bundle's checksum file where a channel of plain files has no index.
Digests do not prove that the channel itself is honest: that is for signatures.
"""

from __future__ import annotations

from packyard.bundle.bundle import Bundle
from packyard.bundle.reference import Reference
from packyard.channel import checksum, index
from packyard.channel.entry import IndexEntry, bundle_key
from packyard.channel.stores import MissingStoreError, NotFoundError, Store, TooLongError
from packyard.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.files.regular import LIMIT


def fetch(store: Store, reference: str) -> Bundle:
    """Fetch ``NAME`` (its latest version) or ``NAME@VERSION``, and verify it; size and digest come first.

    Raises `InputError` for what the channel does not have, and `IntegrityError`, naming expected and found, for bytes
    that are not what it lists.
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
    bundle = _open(data, str(entry))
    if bundle.tar != entry.tar:
        raise IntegrityError(f"{entry}: expected the tar {entry.tar}, found {bundle.tar}")
    return bundle


def _open(data: bytes, expected: str) -> Bundle:
    """Verify every file of a bundle against its manifest, and that it is the one that was asked for."""
    bundle = Bundle.open(data, what=expected)
    found = f"{bundle.manifest.name}@{bundle.manifest.version}"
    if found != expected:
        raise IntegrityError(f"{expected}: expected this bundle, found {found}")
    return bundle


def _get(store: Store, entry: IndexEntry) -> bytes:
    if entry.size > LIMIT:
        raise IntegrityError(f"{entry}: the index lists {entry.size} bytes; a bundle has at most {LIMIT}")
    try:
        return store.get(entry.key, limit=entry.size)
    except TooLongError as error:
        raise IntegrityError(f"{entry}: expected {entry.size} bytes, found more") from error


def _fetch_without_index(store: Store, asked: Reference) -> Bundle:
    asked.check_choice()
    if asked.version is None:
        hint = f"give a version: {asked.name}@VERSION"
        raise UnavailableError(Problem("the channel has no index that tells the latest version", hint=hint))
    key = checksum.key(asked.name, asked.version)
    try:
        digest = checksum.parse(store.get(key, limit=checksum.LIMIT), what=key)
    except NotFoundError as error:
        hint = f"is this the address of a channel, and {asked} right? ({error})"
        raise InputError(Problem(f"the channel has neither an index nor {key}", hint=hint)) from error
    data = store.get(bundle_key(asked.name, asked.version))
    digest.verify(data, what=str(asked))
    return _open(data, str(asked))
