"""Listing what lies in a channel: what a publisher has uploaded, together with all that others left pending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from packyard.core.errors import ConflictError
from packyard.sharing.entry import CHECKSUM, IndexEntry
from packyard.sharing.index import access, pending
from packyard.sharing.index.access import UNSIGNED, Publisher, Writer
from packyard.sharing.index.head import Head
from packyard.sharing.index.index import Index
from packyard.sharing.index.pending import Pending
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import NOBODY, Trust


def join(store: Store, by: Publisher = UNSIGNED) -> list[IndexEntry]:
    """List all that is pending and complete, return it by its keys; raise what cannot be listed, after the rest is."""
    joined: list[IndexEntry] = []
    with access.writer(store, by) as writer:
        while rest := _complete(writer.store, writer.current().head, writer.by.trusted):
            listed = list_all(writer)
            if not listed:
                writer.current().add(*_entries(rest))  # which refuses them
            joined += _entries(listed)
    return sorted(joined, key=lambda entry: entry.key)


def missing(store: Store, names: Iterable[str], version: str, *, trusted: Trust = NOBODY) -> list[str]:
    """Return the names of a version that the channel neither lists nor has pending and complete."""
    index = access.current(store, trusted)
    waiting = {entry.name for entry in _entries(_complete(store, index.head, trusted)) if entry.version == version}
    return [name for name in names if name not in waiting and version not in index.versions(name)]


def list_all(writer: Writer, own: Sequence[Pending] = ()) -> list[Pending]:
    """Let a head list what is pending: all of our own, whose objects are in the store, and what is complete of others.

    Return what is listed; its records are removed.
    """
    entries, listed = _entries(own), list(own)

    def change(index: Index) -> Index:
        listed[len(own) :] = []
        if entries and all(map(index.lists, entries)):  # another publisher has listed them
            return index
        before = index.head
        try:
            index = index.add(*entries)
        except ConflictError:
            _forget(writer.store, own)
            raise
        others = [each for each in _complete(writer.store, before, writer.by.trusted) if each not in own]
        index, listed[len(own) :] = _combined(index, others)
        return index

    writer.commit(change)
    _forget(writer.store, listed)
    return listed


def _combined(index: Index, others: Sequence[Pending]) -> tuple[Index, list[Pending]]:
    """Add what others have pending, but for what contradicts the index."""
    with suppress(ConflictError):
        return index.add(*_entries(others)), list(others)
    added = []
    for other in others:
        with suppress(ConflictError):
            index = index.add(*other.entries)
            added.append(other)
    return index, added


def _complete(store: Store, latest: Head, trusted: Trust) -> list[Pending]:
    """Return the pending records whose objects are there, as far as a look at their keys can tell."""
    there: dict[str, frozenset[str]] = {}

    def is_there(entry: IndexEntry) -> bool:
        if entry.version not in there:
            there[entry.version] = frozenset(store.list(f"{entry.version}/"))
        return {entry.key, entry.beside(CHECKSUM)} <= there[entry.version]

    return [each for each in pending.find(store, latest, trusted) if all(map(is_there, each.entries))]


def _entries(records: Iterable[Pending]) -> list[IndexEntry]:
    return [entry for each in records for entry in each.entries]


def _forget(store: Store, records: Iterable[Pending]) -> None:
    for each in records:
        store.remove(each.key)
