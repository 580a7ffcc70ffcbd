"""Closing a release: nothing is published in it any more.

index/closed/<release>.json    the record, an immutable envelope: an index can be made again with it
"""

from __future__ import annotations

from collections.abc import Sequence

from packyard.bundle import record, reference
from packyard.channel.index import stored
from packyard.channel.index.head import Memory
from packyard.channel.stores import Store, get_or_none
from packyard.channel.trust import envelope
from packyard.channel.trust.keys import NOBODY, SigningKey, Trust
from packyard.errors import IntegrityError, Problem

FOLDER = "index/closed/"
TYPE = "application/vnd.packyard.close+json"
_LIMIT = 64 * 1024


def key(version: str) -> str:
    """Return the key of a record; a release is closed by the name of its folder."""
    return f"{FOLDER}{version}.json"


def is_closed(store: Store, version: str, trusted: Trust) -> bool:
    """Return whether there is the record of a release."""
    place = key(version)
    data = get_or_none(store, place, limit=_LIMIT)
    if data is None:
        return False
    payload = envelope.open(data, TYPE, trusted, file=place).payload
    read = record.checked(reference.check_version)
    found = record.parse(payload, lambda fields: fields.take("version", read), kind="Closed", file=place)
    if found != version:
        raise IntegrityError(Problem(f"is about the release {found}", file=place))
    return True


def close(
    store: Store,
    version: str,
    *,
    keys: Sequence[SigningKey] = (),
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
) -> bool:
    """Close the release of a version, and return whether it was open."""
    with stored.writer(store, keys=keys, trusted=trusted, memory=memory, alone=True) as writer:
        release = writer.current().released(version)
        if not is_closed(store, release.spelling, writer.trusted):
            document = {"apiVersion": record.API_VERSION, "kind": "Closed", "version": release.spelling}
            writer.store.put(key(release.spelling), envelope.sign(record.to_bytes(document), TYPE, keys))
        writer.commit(lambda found: found.close(version))
    return not release.closed
