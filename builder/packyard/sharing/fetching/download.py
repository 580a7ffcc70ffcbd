"""Downloads: an object is what is listed, or an error.

A transfer that breaks off goes on from where it was, within one deadline. No more is read than the size that is listed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from packyard.core.bundle.archive import LIMITS
from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.store import PATIENCE, MissingStoreError, NotFoundError, Store

#: Hears what arrives: what it is called, how many bytes are there, and how many it has.
Heard = Callable[[str, int, int], object]

_PAUSE = 0.2  # seconds before a transfer goes on


def download(store: Store, entry: IndexEntry, *, patience: float = PATIENCE, heard: Heard = lambda *_: None) -> bytes:
    """Return the file of a bundle, whose size and digest are verified.

    Raises `IntegrityError`, naming expected and found, and `UnavailableError` after ``patience`` seconds.
    """
    what, size, data = str(entry), entry.size, bytearray()
    if size > LIMITS.packed_size:
        raise IntegrityError(f"{what}: it is listed with {size} bytes; a bundle has at most {LIMITS.packed_size}")
    end = time.monotonic() + patience
    while len(data) < size:
        start, broken = len(data), None
        try:
            for piece in store.read(entry.key, offset=start):
                data += piece
                if len(data) > size:
                    raise IntegrityError(Problem(f"expected {size} bytes, found more", file=what))
                heard(what, len(data), size)
                if time.monotonic() > end:
                    break
        except (NotFoundError, MissingStoreError):
            raise
        except UnavailableError as error:
            broken = error
        if len(data) == start and broken:
            raise broken
        if len(data) == start:
            break
        if len(data) < size and time.monotonic() > end:
            problem = f"the transfer took too long: {len(data)} of {size} bytes arrived"
            hint = "set PACKYARD_TIMEOUT to more seconds, and run again"
            raise UnavailableError(Problem(problem, file=what, hint=hint))
        if len(data) < size:
            time.sleep(_PAUSE)
    whole = bytes(data)
    entry.verify(whole)
    return whole
