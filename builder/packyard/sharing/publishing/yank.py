"""Yanking: a published version that nobody should use any more, and why. It stays where it is, and is never chosen.

index/yanked/<release>/<name>.json    the record, an immutable envelope: an index can be made again with it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import checked, in_json
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, shown
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher, Writer
from packyard.sharing.index.head import check_id
from packyard.sharing.index.records import Kind
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import Trust

FOLDER = "index/yanked/"
_LONGEST = 500  # characters of a reason


def check_reason(reason: str) -> None:
    """Refuse a reason that is empty, has several lines, or is too long to be shown."""
    if not reason.strip() or not reason.isprintable() or len(reason) > _LONGEST:
        hint = f"write why nobody should use it, in one line of at most {_LONGEST} characters"
        raise InputError(Problem(f"{shown(reason, quoted=True)} is not a reason", hint=hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class Yanked:
    """A version that is yanked, its tar, and the reason."""

    name: str = field(metadata=in_json(checked(reference.check_name)))
    version: str = field(metadata=in_json(checked(reference.check_version)))
    tar: Digest = field(metadata=in_json(record.digest))
    reason: str = field(metadata=in_json(checked(check_reason)))
    channel: str = field(default="", metadata=in_json(checked(check_id), ""))
    extra: Mapping[str, object] = field(default_factory=dict)


KIND = Kind("Yanked", "application/vnd.packyard.yank+json", Yanked)


def key(name: str, version: str) -> str:
    """Return the key of a record."""
    return f"{FOLDER}{version}/{name}.json"


def read(store: Store, entry: IndexEntry, channel: str, trusted: Trust) -> Yanked | None:
    """Return the record of a bundle, or None if there is none."""
    place = key(entry.name, entry.version)
    yanked = KIND.get(store, place, channel, trusted)
    if yanked and (yanked.name, yanked.version, yanked.tar) != (entry.name, entry.version, entry.tar):
        raise IntegrityError(Problem(f"is about {yanked.name}@{yanked.version} with the tar {yanked.tar}", file=place))
    return yanked


def put(writer: Writer, entry: IndexEntry, reason: str, channel: str) -> None:
    """Write the record of a bundle; a `ConflictError` if it is yanked for another reason."""
    check_reason(reason)
    there = read(writer.store, entry, channel, writer.by.trusted)
    if there is None:
        yanked = Yanked(name=entry.name, version=entry.version, tar=entry.tar, reason=reason, channel=channel)
        writer.store.put(key(entry.name, entry.version), KIND.to_bytes(yanked, writer.by.keys))
    elif there.reason != reason:
        raise ConflictError(Problem(f"{entry} is yanked: {there.reason}", hint="a reason never changes"))


def yank(store: Store, text: str, reason: str, by: Publisher = UNSIGNED) -> tuple[IndexEntry, bool]:
    """Yank ``NAME@VERSION``, and return its entry, and whether it was not yanked before.

    A reason stays: another one for the same version is a `ConflictError`.
    """
    wanted = Reference.parse(text)
    if wanted.version is None:
        raise InputError(Problem(f"{text[:80]!r} does not say which version", hint=f"write {wanted.name}@VERSION"))
    with access.writer(store, by, alone=True) as writer:
        before = writer.current()
        entry = before.named(wanted.name).get(wanted.version)
        put(writer, entry, reason, before.head.channel)
        after = writer.commit(lambda index: index.yank(entry, reason))
    return after.named(entry.name).get(entry.version), not entry.yanked
