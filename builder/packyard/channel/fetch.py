"""Fetching: from the name that a user asks for to a bundle that has the digest which the channel gives.

The digest comes from the channel's index, or from a bundle's checksum file where a channel of plain files has no index.
Digests do not prove that the channel itself is honest: that is for signatures.
"""

from __future__ import annotations

from collections.abc import Callable

from packyard.bundle.bundle import Bundle
from packyard.bundle.reference import Reference
from packyard.channel import checksum, index
from packyard.channel.choose import Choice, choose
from packyard.channel.entry import IndexEntry, bundle_key
from packyard.channel.head import Memory
from packyard.channel.keys import NOBODY, Trust
from packyard.channel.stores import MissingStoreError, NotFoundError, Store, TooLongError
from packyard.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.files.regular import LIMIT


def resolve(store: Store, asked: Reference, *, trusted: Trust = NOBODY, memory: Memory | None = None) -> Choice:
    """Choose the published bundle that is asked for; see `choose`. Raises `NotFoundError` for a channel without index.

    Once the head is known, that takes at most three requests and 64 KiB, however much the channel has.
    """
    return choose(index.read(store, trusted, memory).named(asked.name), asked)


def fetch(
    store: Store,
    reference: str,
    *,
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
    tell: Callable[[Choice], object] = lambda _: None,
) -> Bundle:
    """Fetch what a reference such as ``NAME`` or ``NAME@^1.2`` chooses, and verify it; size and digest come first.

    ``tell`` is called with what was chosen, before it is fetched.
    Raises `InputError` for what the channel does not have, and `IntegrityError`, naming expected and found, for bytes
    that are not what it lists.
    """
    asked = Reference.parse(reference)
    try:
        choice = resolve(store, asked, trusted=trusted, memory=memory)
    except MissingStoreError:
        raise
    except NotFoundError:
        return _fetch_without_index(store, asked)
    tell(choice)
    return get(store, choice.entry)


def get(store: Store, entry: IndexEntry) -> Bundle:
    """Fetch a published bundle, and verify it."""
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
    if asked.version is None:
        hint = f"give a version: {asked.name}@VERSION"
        raise UnavailableError(Problem(f"the channel has no index that tells which version {asked} is", hint=hint))
    key = checksum.key(asked.name, asked.version)
    try:
        digest = checksum.parse(store.get(key, limit=checksum.LIMIT), what=key)
    except NotFoundError as error:
        hint = f"is this the address of a channel, and {asked} right? ({error})"
        raise InputError(Problem(f"the channel has neither an index nor {key}", hint=hint)) from error
    data = store.get(bundle_key(asked.name, asked.version))
    digest.verify(data, what=str(asked))
    return _open(data, str(asked))
