"""Versions that were removed from a channel: by whom, and why. None is ever published again.

index/removed/<release>/<name>.json    the record, an immutable envelope: an index can be made again with it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import checked, in_json, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.head import check_id
from packyard.sharing.index.records import Kind
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey, Trust

FOLDER = "index/removed/"
#: What to do instead of publishing it.
RAISE = "a version that was removed is never published again: raise the version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A version that was removed, its digests, the ids of the keys that signed that, and the policy that named it."""

    name: str = field(metadata=in_json(checked(reference.check_name)))
    version: str = field(metadata=in_json(checked(reference.check_version)))
    tar: Digest = field(metadata=in_json(record.digest))
    digest: Digest = field(metadata=in_json(record.digest))
    reason: str = field(metadata=in_json(text))
    by: tuple[Digest, ...] = field(default=(), metadata=in_json(list_of(record.digest), ()))
    channel: str = field(default="", metadata=in_json(checked(check_id), ""))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, value: object) -> Removed:
        """Read what a package of an index lists."""
        return record.Record(value).take_all(cls)

    @classmethod
    def of(cls, entry: IndexEntry, reason: str, keys: Sequence[SigningKey], channel: str) -> Removed:
        """Say that a version is removed."""
        by = tuple(key.public.id for key in keys)
        name, version, tar, digest = entry.name, entry.version, entry.tar, entry.digest
        return cls(name=name, version=version, tar=tar, digest=digest, reason=reason, by=by, channel=channel)

    @property
    def key(self) -> str:
        """The key of its record."""
        return f"{FOLDER}{self.version}/{self.name}.json"

    def __str__(self) -> str:
        by = f" by {', '.join(self.by)}" if self.by else ""
        return f"{self.name}@{self.version} was removed{by}: {self.reason}"


KIND = Kind("Removed", "application/vnd.packyard.removed+json", Removed)


def read(store: Store, key: str, channel: str | None, trusted: Trust) -> Removed:
    """Read a record, or raise `IntegrityError`."""
    removal = KIND.get(store, key, channel, trusted)
    if removal is None or removal.key != key:
        raise IntegrityError(Problem(f"is about {removal}" if removal else "is gone", file=key))
    return removal


def find(store: Store, channel: str | None, trusted: Trust, there: Iterable[str]) -> dict[tuple[str, str], Removed]:
    """Return what the records among some keys say, by name and version."""
    removals = (read(store, key, channel, trusted) for key in there if key.startswith(FOLDER))
    return {(each.name, each.version): each for each in removals}
