"""The index: what a channel says it holds.

Today it is one JSON object, replaced as a whole; callers see only `read`, `record` and the value `Index`, so that it
can become a small signed head with immutable nodes below it. An index only grows: an entry, once in, never changes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from packyard.bundle import record as json_record
from packyard.bundle import reference
from packyard.channel.entry import Entry
from packyard.channel.stores import NotFoundError, Store
from packyard.digest import Digest
from packyard.errors import ConflictError, InputError, Problem, UnavailableError, suggest

KEY = "index/index.json"

_ATTEMPTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A channel's entries, sorted by name and version, one for each pair of them."""

    entries: tuple[Entry, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Index:
        """Read an index, or raise `IntegrityError`; what `to_bytes` wrote keeps its bytes, unknown fields included."""
        fields = json_record.parse(data, kind="Index", file=KEY)
        entries = tuple(Entry.parse(item) for item in fields.list("entries"))
        return cls(entries=entries, extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the index's bytes, the same in whatever order its entries came."""
        known = {
            "apiVersion": json_record.API_VERSION,
            "kind": "Index",
            "entries": [entry.document() for entry in self.entries],
        }
        return json_record.to_bytes({**self.extra, **known})

    def add(self, *entries: Entry) -> Index:
        """Return the index with ``entries`` in it; those that it has already change nothing.

        Raise `ConflictError`, naming every entry whose name and version are taken by other bytes.
        """
        known = {(entry.name, entry.version): entry for entry in self.entries}
        problems = []
        for entry in entries:
            present = known.setdefault((entry.name, entry.version), entry)
            if (present.tar, present.digest) != (entry.tar, entry.digest):
                problems.append(_conflict(present, entry))
        if problems:
            raise ConflictError(*problems)
        ordered = sorted(known.values(), key=lambda entry: (entry.name, reference.order(entry.version)))
        return replace(self, entries=tuple(ordered))

    def find(self, name: str) -> tuple[Entry, ...]:
        """Return the entries of that name, the oldest version first."""
        found = (entry for entry in self.entries if entry.name == name)
        return tuple(sorted(found, key=lambda entry: reference.order(entry.version)))

    def versions(self, name: str) -> tuple[str, ...]:
        """Return the versions of that name, the oldest first."""
        return tuple(entry.version for entry in self.find(name))

    def resolve(self, name: str, version: str | None = None) -> Entry:
        """Return the one entry that is meant, or raise `InputError` with the nearest that there is.

        Without a version it is the latest: the highest that is no pre-release, or the highest if all are.
        """
        found = self.find(name)
        if not found:
            hint = suggest(name, {entry.name for entry in self.entries})
            raise InputError(Problem(f"the channel has no bundle {name!r}", hint=hint))
        if version is None:
            releases = [entry for entry in found if not reference.is_prerelease(entry.version)]
            return (releases or found)[-1]
        for entry in found:
            if entry.version == version:
                return entry
        hint = f"it has {', '.join(entry.version for entry in reversed(found[-5:]))}"
        raise InputError(Problem(f"the channel has no version {version!r} of {name}", hint=hint))


def read(store: Store) -> Index:
    """Return a channel's index, or raise `NotFoundError` if it has none."""
    return Index.parse(store.get(KEY))


def record(store: Store, entries: Iterable[Entry]) -> Index:
    """Add ``entries`` to a channel's index, whoever else does so at the same time, and return what it is now."""
    added = tuple(entries)
    for attempt in range(_ATTEMPTS):
        current = _current(store)
        before = Index() if current is None else Index.parse(current)
        after = before.add(*added)
        if after == before:
            return after
        try:
            store.swap(KEY, after.to_bytes(), None if current is None else Digest.of(current))
        except ConflictError:  # somebody else was faster: look again, after a while that is not theirs
            time.sleep(random.uniform(0, min(1.0, 0.01 * (attempt + 1))))
            continue
        return after
    raise UnavailableError(Problem("too many others publish at the same time", file=KEY, hint="run again"))


def _current(store: Store) -> bytes | None:
    try:
        return store.get(KEY)
    except NotFoundError:
        return None


def _conflict(present: Entry, entry: Entry) -> Problem:
    if present.tar != entry.tar:
        return Problem(
            f"{present} has other content already: its tar is {present.tar}, the new one {entry.tar}",
            hint="a published version never changes: raise the version",
        )
    return Problem(
        f"{present} is listed as {present.digest}, and the file is {entry.digest}: the same tar, compressed otherwise",
        hint="publish the file that is listed",
    )
