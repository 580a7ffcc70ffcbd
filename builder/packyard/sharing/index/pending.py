"""What publishers have uploaded and no head lists yet: ``index/pending/<sha256>.json``, an envelope of entries.

Whoever creates a head lists what is pending too. So of many publishers at once most find their bundles listed by
another, and what a killed one left is completed by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packyard.core.bundle import record
from packyard.core.bundle.record import checked, in_json, list_of
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.head import Head, check_id
from packyard.sharing.index.records import Kind
from packyard.sharing.stores.store import NotFoundError, Store
from packyard.sharing.trust.keys import SigningKey, Trust

FOLDER = "index/pending/"
_ENTRIES = 5000  # entries of a record
_MOST = 500  # records that one head lists
_REFUSED = 10_000  # records that are read in vain


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Some entries, and the key of their record."""

    key: str = ""
    entries: tuple[IndexEntry, ...] = field(metadata=in_json(list_of(IndexEntry.parse)))
    channel: str = field(default="", metadata=in_json(checked(check_id), ""))
    extra: Mapping[str, object] = field(default_factory=dict)


_KIND = Kind("IndexPending", "application/vnd.packyard.pending+json", Pending)


def put(store: Store, entries: Sequence[IndexEntry], keys: Sequence[SigningKey], channel: str) -> list[Pending]:
    """Say that the objects of these entries are in the store."""
    batches = []
    for start in range(0, len(entries), _ENTRIES):
        batch = Pending(entries=tuple(entries[start : start + _ENTRIES]), channel=channel)
        data = _KIND.to_bytes(batch, keys)
        batches.append(replace(batch, key=_key(data)))
        store.put(batches[-1].key, data)
    return batches


def find(store: Store, latest: Head, trusted: Trust, *, most_refused: int = _REFUSED) -> Iterator[Pending]:
    """Yield what is pending in a channel with this head, as far as it can be read and we trust who signed it.

    `fsck` tells of the rest.
    """
    accepted = refused = 0
    for key in store.list(FOLDER):
        if accepted == _MOST or refused == most_refused:
            return
        try:
            batch = read(store, key, latest.channel, trusted)
        except (NotFoundError, IntegrityError):  # listed meanwhile, or nothing that we would list
            refused += 1
            continue
        accepted += 1
        yield batch


def read(store: Store, key: str, channel: str, trusted: Trust) -> Pending:
    """Read a record, or raise `IntegrityError`."""
    data = store.get(key, limit=2 * record.LIMIT)
    if key != _key(data):
        raise IntegrityError(Problem(f"has other bytes than its name says: {Digest.of(data)}", file=key))
    return replace(_KIND.parse(data, channel, trusted, file=key), key=key)


def _key(data: bytes) -> str:
    return f"{FOLDER}{Digest.of(data).hex}.json"
