"""The four verbs of a store, what they raise, and what a key is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from packyard.errors import InputError, UnavailableError
from packyard.files.regular import LIMIT

if TYPE_CHECKING:
    from packyard.digest import Digest

#: Seconds that one request, or the wait for another writer, may take by default.
PATIENCE = 300.0

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")


class NotFoundError(UnavailableError):
    """The store has nothing under that key."""


class MissingStoreError(NotFoundError):
    """There is no store at this address."""


class TooLongError(UnavailableError):
    """An object is larger than the limit of the caller."""


class Store(Protocol):
    """Bytes by key. What fails now, or is not possible with this kind of store, is an `UnavailableError`."""

    def put(self, key: str, data: bytes) -> None:
        """Create an immutable object, in one step.

        Putting the same bytes again changes nothing; other bytes are a `ConflictError`.
        """

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes, or raise `NotFoundError`, or `TooLongError` beyond ``limit`` bytes."""

    def list(self, prefix: str) -> Sequence[str]:
        """Return, sorted, the keys that begin with ``prefix``; it may end inside a part."""

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object if its bytes still have the digest ``expected``, or create it if that is None.

        Otherwise another writer was faster: `ConflictError`, and nothing is changed. Readers see old or new bytes.
        """


def check_key(key: str) -> None:
    """Refuse a text that is not a key, so that no key leads out of a store."""
    if not _KEY.fullmatch(key):
        raise InputError(f"{key!r} is not a key for a store")
