"""What the server of a channel was found to promise: tried before the first publish, and kept in the channel.

index/channel.json    {"create": true}: of many writers at once, exactly one created an object

Servers of one protocol differ here. Where creating is promised, publishers need no lease, and one request an object.
"""

from __future__ import annotations

from contextlib import suppress

from packyard.core.bundle import record
from packyard.core.errors import ConflictError
from packyard.sharing.index import flat, head
from packyard.sharing.stores.probe import probe, trusting
from packyard.sharing.stores.store import Store, get_or_none

KEY = "index/channel.json"
_KIND = "Channel"
_LIMIT = 4096


def tried(store: Store) -> Store:
    """Return a store that relies on what its server was found to promise, which is tried now if it is not known.

    A store whose kind says what it promises stays as it is, and so does a place that has other content.
    """
    trusted = trusting(store)
    if trusted is store:
        return store
    is_promised = _known(store)
    if is_promised is None:
        if not _is_free(store):
            return store
        outcome = record.to_bytes({"apiVersion": record.API_VERSION, "kind": _KIND, "create": probe(store)})
        with suppress(ConflictError):  # another publisher found something else, and that counts
            store.put(KEY, outcome)
        is_promised = _known(store)
    return trusted if is_promised else store


def _known(store: Store) -> bool | None:
    data = get_or_none(store, KEY, limit=_LIMIT)
    if data is None:
        return None
    return record.parse(data, lambda fields: fields.take("create", record.flag), kind=_KIND, file=KEY)


def _is_free(store: Store) -> bool:
    """Return whether this is a channel, or there is nothing yet."""
    keys = store.list("")
    return not keys or any(key in (head.POINTER, flat.KEY) or key.startswith(head.FOLDER) for key in keys)
