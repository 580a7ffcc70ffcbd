"""What publishers have uploaded and no head lists yet: ``index/pending/<sha256>.json``, an envelope of entries.

Whoever creates a head lists what is pending too. So of many publishers at once most find their bundles listed by
another, and what a killed one left is completed by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.bundle import record
from packyard.channel.entry import IndexEntry
from packyard.channel.stores import NotFoundError, Store
from packyard.channel.trust import envelope
from packyard.channel.trust.keys import SigningKey, Trust
from packyard.digest import Digest
from packyard.errors import IntegrityError, Problem

FOLDER = "index/pending/"
TYPE = "application/vnd.packyard.pending+json"
_KIND = "IndexPending"
_ENTRIES = 5000  # entries of a record
_MOST = 500  # records that one head lists
_REFUSED = 10_000  # records that are read in vain


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Some entries, and the key of their record."""

    key: str
    entries: tuple[IndexEntry, ...]


def put(store: Store, entries: Sequence[IndexEntry], keys: Sequence[SigningKey]) -> list[Pending]:
    """Say that the objects of these entries are in the store."""
    made = []
    for start in range(0, len(entries), _ENTRIES):
        some = tuple(entries[start : start + _ENTRIES])
        document = {"apiVersion": record.API_VERSION, "kind": _KIND, "entries": [entry.document() for entry in some]}
        data = envelope.sign(record.to_bytes(document), TYPE, keys)
        made.append(Pending(key=f"{FOLDER}{Digest.of(data).hex}.json", entries=some))
        store.put(made[-1].key, data)
    return made


def find(store: Store, trusted: Trust) -> Iterator[Pending]:
    """Yield what is pending, as far as it can be read and is signed by whom we trust; `fsck` tells of the rest."""
    taken = refused = 0
    for key in store.list(FOLDER):
        if taken == _MOST or refused == _REFUSED:
            return
        try:
            found = read(store, key, trusted)
        except (NotFoundError, IntegrityError):  # listed meanwhile, or nothing that we would list
            refused += 1
            continue
        taken += 1
        yield found


def read(store: Store, key: str, trusted: Trust) -> Pending:
    """Read a record, or raise `IntegrityError`."""
    data = store.get(key, limit=2 * record.LIMIT)
    if key != f"{FOLDER}{Digest.of(data).hex}.json":
        raise IntegrityError(Problem(f"has other bytes than its name says: {Digest.of(data)}", file=key))
    payload = envelope.open(data, TYPE, trusted, file=key).payload
    entries = record.parse(
        payload, lambda fields: fields.take("entries", record.list_of(IndexEntry.parse)), kind=_KIND, file=key
    )
    return Pending(key=key, entries=entries)
