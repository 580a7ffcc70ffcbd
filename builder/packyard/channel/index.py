"""The index: what a channel says it holds.

Today it is one JSON object, replaced as a whole. Callers only see `read`, `record` and the value `Index`, so that it
can become a small signed head with immutable nodes below. An index only grows: an entry never changes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from packyard.bundle import record as json_record
from packyard.bundle import reference
from packyard.bundle.record import LIMIT, Record, list_of
from packyard.channel.entry import IndexEntry
from packyard.channel.stores import MissingStoreError, NotFoundError, Store
from packyard.digest import Digest
from packyard.errors import ConflictError, InputError, IntegrityError, Problem, UnavailableError, suggest
from packyard.files import filenames

KEY = "index/index.json"

_ATTEMPTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A channel's entries, sorted by name and version, one for each pair of them."""

    entries: tuple[IndexEntry, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Index:
        """Read an index, or raise `IntegrityError`; what `to_bytes` wrote keeps its bytes, unknown fields included."""
        return json_record.parse(data, cls._read, kind="Index", file=KEY)

    @classmethod
    def _read(cls, fields: Record) -> Index:
        entries = fields.take("entries", list_of(IndexEntry.parse))
        for name in filenames.repeated(map(str, entries)):
            raise IntegrityError(Problem(f"{name} is listed twice", file=KEY))
        return cls(entries=entries, extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the index's bytes, the same in whatever order its entries came."""
        known = {
            "apiVersion": json_record.API_VERSION,
            "kind": "Index",
            "entries": [entry.document() for entry in self.entries],
        }
        return json_record.to_bytes({**self.extra, **known})

    def add(self, *entries: IndexEntry) -> Index:
        """Return the index with more entries; those that it has already change nothing.

        Raises `ConflictError`, naming every entry whose name and version have other bytes already, or whose version is
        listed in another spelling.
        """
        entries = tuple(entries)
        names = {entry.name for entry in entries}
        own = [(reference.order(entry.version), entry) for entry in self.entries if entry.name in names]
        known: dict[object, IndexEntry] = {}
        for (identity, spelling), entry in own:
            known[entry.name, identity] = known[entry.name, spelling] = entry
        there, problems = len(own), []
        for entry in entries:
            identity, spelling = reference.order(entry.version)
            present = known.get((entry.name, spelling)) or known.get((entry.name, identity))
            if present is None:
                known[entry.name, identity] = known[entry.name, spelling] = entry
                own.append(((identity, spelling), entry))
            elif (present.version, present.tar, present.digest) != (entry.version, entry.tar, entry.digest):
                problems.append(_conflict(present, entry))
        if problems:
            raise ConflictError(*problems)
        if len(own) == there:
            return self
        others = [entry for entry in self.entries if entry.name not in names]
        own.sort(key=itemgetter(0))
        return replace(self, entries=tuple(sorted(others + [entry for _, entry in own], key=lambda entry: entry.name)))

    def versions(self, name: str) -> tuple[str, ...]:
        """Return the versions of a name, the oldest first."""
        return tuple(sorted((entry.version for entry in self.entries if entry.name == name), key=reference.order))

    def check_choice(self, asked: reference.Reference) -> None:
        """Refuse a range of versions, naming the versions that exist."""
        if asked.choice:
            asked.check_choice([entry.version for entry in self._named(asked.name)])

    def resolve(self, name: str, version: str | None = None) -> IndexEntry:
        """Return the entry that is asked for, or raise `InputError`, naming the nearest one.

        Without a version it is the latest: the highest that is not a pre-release, or the highest if all are. A version
        may have any spelling, but its build metadata (``+…``) must match if it is given.
        """
        found = self._named(name)
        if version is None:
            return max(found, key=lambda entry: reference.newest(entry.version))
        for same in (str.__eq__, reference.same):
            for entry in found:
                if same(version, entry.version):
                    return entry
        hint = f"it has {', '.join(entry.version for entry in reversed(found[-5:]))}"
        raise InputError(Problem(f"the channel has no version {version!r} of {name}", hint=hint))

    def _named(self, name: str) -> list[IndexEntry]:
        """Return the entries of a name in the order of the index, or raise `InputError`."""
        found = [entry for entry in self.entries if entry.name == name]
        if not found:
            hint = suggest(name, {entry.name for entry in self.entries})
            raise InputError(Problem(f"the channel has no bundle {name!r}", hint=hint))
        return found


def read(store: Store) -> Index:
    """Return a channel's index, or raise `NotFoundError` if it has none."""
    try:
        return Index.parse(store.get(KEY, limit=LIMIT))
    except MissingStoreError:
        raise
    except NotFoundError as error:
        hint = "is this a channel, and has it lost its index?"
        raise NotFoundError(*(Problem(each.message, file=each.file, hint=hint) for each in error.problems)) from error


def record(store: Store, entries: Iterable[IndexEntry]) -> Index:
    """Add entries to a channel's index, while others may do the same, and return the new index."""
    added = tuple(entries)
    for attempt in range(_ATTEMPTS):
        current = _current(store)
        before = Index() if current is None else Index.parse(current)
        after = before.add(*added)
        if after == before:
            return after
        data = after.to_bytes()
        if len(data) > LIMIT:
            raise UnavailableError(Problem(f"would be larger than {LIMIT} bytes", file=KEY, hint="start a new channel"))
        try:
            store.swap(KEY, data, None if current is None else Digest.of(current))
        except ConflictError:  # another publisher was faster: try again after a random pause
            time.sleep(random.uniform(0, min(1.0, 0.01 * (attempt + 1))))
            continue
        return after
    raise UnavailableError(Problem("too many others publish at the same time", file=KEY, hint="run again"))


def _current(store: Store) -> bytes | None:
    try:
        return store.get(KEY, limit=LIMIT)
    except NotFoundError:
        return None


def _conflict(present: IndexEntry, entry: IndexEntry) -> Problem:
    if present.version != entry.version:
        return Problem(
            f"{entry} is published as {present}: one version has one spelling in a channel",
            hint=f"publish as {present.version}, or raise the version",
        )
    if present.tar != entry.tar:
        return Problem(
            f"{present} has other content already: its tar is {present.tar}, the new one {entry.tar}",
            hint="a published version never changes: raise the version",
        )
    return Problem(
        f"{present} is listed as {present.digest}, the file is {entry.digest}: the same tar, compressed differently",
        hint="publish the file that is listed",
    )
