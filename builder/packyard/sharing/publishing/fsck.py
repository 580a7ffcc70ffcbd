"""Looking for what is altered, missing, extra or not to be read in a channel: every file of its index, each bundle.

It reads all that there is, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from packyard.core.bundle import reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError
from packyard.sharing.entry import bundle_key
from packyard.sharing.index import access, head, removed, tree
from packyard.sharing.index.head import Head
from packyard.sharing.index.index import Index, Release
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.index.tree import Node
from packyard.sharing.publishing import close, reindex
from packyard.sharing.publishing.bundle_faults import check_bundle
from packyard.sharing.publishing.extra_files import find_extra
from packyard.sharing.publishing.file_fault import (
    BRING_BACK,
    FROM_BACKUP,
    GC,
    NOT_SAID,
    REINDEX,
    SIGNED,
    FileFault,
    Reading,
    altered,
    damaged,
)
from packyard.sharing.publishing.seen import Seen
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError, get_or_none
from packyard.sharing.trust.envelope import UnsignedError
from packyard.sharing.trust.keys import NOBODY, Trust

_CLOSE_AGAIN = "remove it, and make it again: packyard fsck CHANNEL --repair"
_REMOVE_AGAIN = "remove it, and make it again: packyard gc CHANNEL --key KEY, with the flags as before"


def check(store: Store, trusted: Trust = NOBODY) -> Iterator[FileFault]:
    """Yield what is wrong with a channel."""
    store = Reading(store)
    there = frozenset(store.list(""))
    try:
        index = access.find(store, trusted)
    except IntegrityError as error:
        yield from altered(store, error, REINDEX)
        return
    if index is None:
        yield FileFault(kind="missing", key=head.POINTER, message="the channel has no index", hint=REINDEX)
        return
    heads = list(_check_heads(store, there, index.head)) if index.head.number else []
    yield from heads
    seen = Seen(index)
    yield from list(seen.faults.values())
    if seen.is_whole and index.head.number:
        yield from _check_maps(index)
    channel = index.head.channel
    told = set()
    for entry in seen.entries():
        for fault in check_bundle(store, there, entry, channel, trusted):
            told.add(fault.key)
            yield fault
    if not seen.is_whole:
        yield from _check_unlisted(store, there, seen.keys, channel, trusted)
    if seen.is_whole:
        yield from _check_closed(store, index, trusted)
        yield from _check_removed(store, there, seen, channel, trusted)
    yield from find_extra(store, there - told, index, seen, trusted, are_heads_whole=not heads)


def _check_heads(store: Store, there: frozenset[str], latest: Head) -> Iterator[FileFault]:
    """Compare every head with what later ones say of it, and the pointer with the heads."""
    expected = {latest.number: latest.digest}
    pointer = _digest(store, head.POINTER) if head.POINTER in there else latest.digest
    digests = set()
    for number in range(latest.number, 0, -1):
        key = head.key(number)
        is_copied = head.POINTER in there and expected.get(number) == pointer
        hint = f"copy {head.POINTER} there, which is the same head" if is_copied else FROM_BACKUP
        try:
            data = get_or_none(store, key, limit=head.LIMIT)
        except (IntegrityError, TooLongError) as error:
            yield from altered(store, error, hint)
            continue
        if data is None:
            message = "later heads link to it" if number < latest.number else "it is the latest head"
            yield FileFault(kind="missing", key=key, message=message, hint=hint)
            continue
        digests.add(Digest.of(data))
        if expected.get(number, Digest.of(data)) != Digest.of(data):
            problem = f"expected {expected[number]}, found {Digest.of(data)}"
            yield FileFault(kind="altered", key=key, message=problem, hint=hint)
            continue
        with suppress(IntegrityError):
            expected |= Head.parse(data, NOBODY, file=key, number=number).history
    if pointer not in digests.union(expected.values()):
        message = "it is no copy of a head"
        yield FileFault(kind="altered", key=head.POINTER, message=message, hint="the next publish writes it again")


def _digest(store: Store, key: str) -> Digest | None:
    """Return the digest of a file of the index, None if it cannot be read or is larger than any."""
    with suppress(IntegrityError, NotFoundError, TooLongError):
        return Digest.of(store.get(key))
    return None


def _check_maps(index: Index) -> Iterator[FileFault]:
    """Make the maps again from the records, and compare them with the head's."""
    try:
        built = _rebuilt(index)
    except IntegrityError as error:
        yield FileFault(kind="altered", key=head.key(index.head.number), message=str(error), hint=REINDEX)
        return
    for name in ("packages", "listing", "releases") if index.head.listing.keys else ("packages", "releases"):
        if getattr(built, name) != getattr(index.head, name):
            message = f"the {name} that it lists are not those of the records"
            yield FileFault(kind="altered", key=head.key(index.head.number), message=message, hint=REINDEX)


def _rebuilt(index: Index) -> Head:
    releases = {}
    for package in index.packages():
        for version in (*(each.version for each in package.entries), *(each.version for each in package.removed)):
            releases[reference.canonical(version)] = index.release(version) or Release(spelling=version)
    return Index.build(index.packages(), releases, _Forgetful()).head


class _Forgetful(Nodes):
    """Nodes that are named, and not kept."""

    def keep(self, item: Node | Package) -> Digest:
        return Digest.of(item.to_bytes())


def _check_unlisted(
    store: Store, there: frozenset[str], listed: Collection[str], channel: str, trusted: Trust
) -> Iterator[FileFault]:
    """Look at bundles that an index with missing nodes may list."""
    for name, version in reindex.bundles(sorted(there))[0]:
        if bundle_key(name, version) not in listed:
            try:
                reindex.read(store, name, version, channel, trusted)
            except (IntegrityError, TooLongError) as error:
                yield from altered(store, error, BRING_BACK)


def _check_closed(store: Store, index: Index, trusted: Trust) -> Iterator[FileFault]:
    for version, _ in tree.scan(index.head.releases, index.nodes.node):
        key, release = head.key(index.head.number), None
        try:
            release = index.released(version)
            key = close.key(release.spelling)
            is_closed = close.is_closed(store, release.spelling, index.head.channel, trusted)
        except (IntegrityError, InputError) as error:
            hint = REINDEX if release is None else NOT_SAID
            if release and release.closed:
                hint = f"{_CLOSE_AGAIN}{SIGNED if isinstance(error, UnsignedError) else ''}"
            yield damaged(key, error, error.problems[0], hint)
            continue
        if is_closed != release.closed:
            kind, message = ("extra", "the index does not say so") if is_closed else ("missing", "the index says so")
            yield FileFault(kind=kind, key=key, message=f"the release is closed: {message}", hint=REINDEX)


def _check_removed(
    store: Store, there: frozenset[str], seen: Seen, channel: str, trusted: Trust
) -> Iterator[FileFault]:
    """Compare the records of what was removed with what the index says."""
    for key in sorted(seen.removed - there):
        yield FileFault(kind="missing", key=key, message="the index says that it was removed", hint=GC)
    for key in sorted(each for each in there if each.startswith(removed.FOLDER)):
        try:
            gone = removed.read(store, key, channel, trusted)
        except IntegrityError as error:
            hint = _REMOVE_AGAIN if key in seen.removed else "remove it"
            yield damaged(key, error, error.problems[0], hint)
            continue
        if key not in seen.removed:
            yield FileFault(kind="extra", key=key, message=f"{gone}; the index lists it still", hint=GC)
