"""Downloads: the file of a bundle is what is listed, or an error. A transfer that breaks off begins anew, in time."""

from __future__ import annotations

import time

from packyard.core.bundle.archive import LIMITS
from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.store import (
    PATIENCE,
    DeniedError,
    MissingStoreError,
    NotFoundError,
    Store,
    TooLongError,
)

_TRIES = 3


def download(store: Store, entry: IndexEntry, *, patience: float = PATIENCE) -> bytes:
    """Return the file of a bundle, whose size and digest are verified.

    Raises `IntegrityError`, naming expected and found; none of some tries begins after ``patience`` seconds.
    """
    if entry.size > LIMITS.packed_size:
        problem = f"it is listed with {entry.size} bytes; a bundle has at most {LIMITS.packed_size}"
        raise IntegrityError(f"{entry}: {problem}")
    data = _whole(store, entry, time.monotonic() + patience, _TRIES)
    entry.verify(data)
    return data


def _whole(store: Store, entry: IndexEntry, end: float, tries: int) -> bytes:
    try:
        return store.get(entry.key, limit=entry.size)
    except TooLongError as error:
        raise IntegrityError(Problem(f"expected {entry.size} bytes, found more", file=str(entry))) from error
    except (NotFoundError, MissingStoreError, DeniedError):
        raise
    except UnavailableError:
        if tries == 1 or time.monotonic() > end:
            raise
    return _whole(store, entry, end, tries - 1)
