"""Yanking: a published version that nobody should use any more, and why. It stays where it is, and is never chosen.

index/yanked/<release>/<name>.json    the record, an immutable envelope: an index can be made again with it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packyard.bundle import record, reference
from packyard.bundle.record import Record
from packyard.bundle.reference import Reference
from packyard.channel.entry import IndexEntry
from packyard.channel.index import stored
from packyard.channel.index.head import Memory
from packyard.channel.stores import Store, get_or_none
from packyard.channel.trust import envelope
from packyard.channel.trust.keys import NOBODY, SigningKey, Trust
from packyard.digest import Digest
from packyard.errors import ConflictError, InputError, IntegrityError, Problem, shown

FOLDER = "index/yanked/"
TYPE = "application/vnd.packyard.yank+json"
_LIMIT = 64 * 1024
_LONGEST = 500  # characters of a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Yanked:
    """A version that is yanked, its tar, and the reason."""

    name: str
    version: str
    tar: Digest
    reason: str

    @classmethod
    def take(cls, fields: Record) -> Yanked:
        """Take the fields of a record."""
        return cls(
            name=fields.take("name", record.checked(reference.check_name)),
            version=fields.take("version", record.checked(reference.check_version)),
            tar=fields.take("tar", record.digest),
            reason=fields.take("reason", record.checked(check_reason)),
        )

    def to_bytes(self, keys: Sequence[SigningKey]) -> bytes:
        """Return the record, signed by each key."""
        known = {"name": self.name, "version": self.version, "tar": self.tar, "reason": self.reason}
        payload = record.to_bytes({"apiVersion": record.API_VERSION, "kind": "Yanked", **known})
        return envelope.sign(payload, TYPE, keys)


def key(name: str, version: str) -> str:
    """Return the key of a record."""
    return f"{FOLDER}{version}/{name}.json"


def check_reason(reason: str) -> None:
    """Refuse a reason that is empty, has several lines, or is too long to be shown."""
    if not reason.strip() or not reason.isprintable() or len(reason) > _LONGEST:
        hint = f"write why nobody should use it, in one line of at most {_LONGEST} characters"
        raise InputError(Problem(f"{shown(reason, quoted=True)} is not a reason", hint=hint))


def read(store: Store, entry: IndexEntry, trusted: Trust) -> Yanked | None:
    """Return the record of a bundle, or None if there is none."""
    place = key(entry.name, entry.version)
    data = get_or_none(store, place, limit=_LIMIT)
    if data is None:
        return None
    payload = envelope.open(data, TYPE, trusted, file=place).payload
    found = record.parse(payload, Yanked.take, kind="Yanked", file=place)
    if (found.name, found.version, found.tar) != (entry.name, entry.version, entry.tar):
        raise IntegrityError(Problem(f"is about {found.name}@{found.version} with the tar {found.tar}", file=place))
    return found


def yank(
    store: Store,
    text: str,
    reason: str,
    *,
    keys: Sequence[SigningKey] = (),
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
) -> tuple[IndexEntry, bool]:
    """Yank ``NAME@VERSION``, and return its entry, and whether it was not yanked before.

    A reason stays: another one for the same version is a `ConflictError`.
    """
    check_reason(reason)
    asked = Reference.parse(text)
    if asked.version is None:
        raise InputError(Problem(f"{text[:80]!r} does not say which version", hint=f"write {asked.name}@VERSION"))
    with stored.writer(store, keys=keys, trusted=trusted, memory=memory, alone=True) as writer:
        entry = writer.current().named(asked.name).get(asked.version)
        recorded = read(store, entry, writer.trusted)
        if recorded is None:
            made = Yanked(name=entry.name, version=entry.version, tar=entry.tar, reason=reason)
            writer.store.put(key(entry.name, entry.version), made.to_bytes(keys))
        elif recorded.reason != reason:
            raise ConflictError(Problem(f"{entry} is yanked: {recorded.reason}", hint="a reason never changes"))
        after = writer.commit(lambda found: found.yank(entry, reason))
    return after.named(entry.name).get(entry.version), not entry.yanked
