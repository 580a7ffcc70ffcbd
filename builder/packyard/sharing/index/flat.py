"""The index of packyard 0.1.0: one JSON object that lists every entry. It is read, and no longer written."""

from __future__ import annotations

from packyard.core.bundle import record
from packyard.core.bundle.record import Record
from packyard.core.errors import IntegrityError, Problem
from packyard.core.files import filenames
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.store import Store, get_or_none

KEY = "index/index.json"


def parse(data: bytes) -> tuple[IndexEntry, ...]:
    """Read such an index, or raise `IntegrityError`."""
    return record.parse(data, _read, kind="Index", file=KEY)


def read(store: Store) -> tuple[IndexEntry, ...] | None:
    """Return the entries of a channel's index, or None if it has none of this format."""
    data = get_or_none(store, KEY, limit=record.LIMIT)
    return None if data is None else parse(data)


def _read(fields: Record) -> tuple[IndexEntry, ...]:
    entries = fields.take("entries", record.list_of(IndexEntry.parse))
    for name in filenames.repeated(map(str, entries)):
        raise IntegrityError(Problem(f"{name} is listed twice", file=KEY))
    return entries
