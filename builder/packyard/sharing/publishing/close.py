"""Closing a release: nothing is published in it any more.

index/closed/<release>.json    the record, an immutable envelope: an index can be made again with it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.bundle import reference
from packyard.core.bundle.record import checked, in_json
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.head import check_id
from packyard.sharing.index.records import Kind
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey, Trust

FOLDER = "index/closed/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A release that is closed, by the name of its folder."""

    version: str = field(metadata=in_json(checked(reference.check_version)))
    channel: str = field(default="", metadata=in_json(checked(check_id), ""))
    extra: Mapping[str, object] = field(default_factory=dict)


KIND = Kind("Closed", "application/vnd.packyard.close+json", Closed)


def key(version: str) -> str:
    """Return the key of a record."""
    return f"{FOLDER}{version}.json"


def is_closed(store: Store, version: str, channel: str, trusted: Trust) -> bool:
    """Return whether there is the record of a release."""
    place = key(version)
    closed = KIND.get(store, place, channel, trusted)
    if closed and closed.version != version:
        raise IntegrityError(Problem(f"is about the release {closed.version}", file=place))
    return closed is not None


def record(store: Store, version: str, channel: str, keys: Sequence[SigningKey]) -> None:
    """Write the record of a release."""
    store.put(key(version), KIND.to_bytes(Closed(version=version, channel=channel), keys))


def close(store: Store, version: str, by: Publisher = UNSIGNED) -> bool:
    """Close the release of a version, and return whether it was open."""
    with access.writer(store, by, alone=True) as writer:
        index = writer.current()
        release, channel = index.released(version), index.head.channel
        if not is_closed(store, release.spelling, channel, writer.by.trusted):
            record(writer.store, release.spelling, channel, by.keys)
        writer.commit(lambda index: index.close(version))
    return not release.closed
