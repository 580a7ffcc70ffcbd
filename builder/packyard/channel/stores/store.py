"""The four verbs of a store, what it raises, and what a key is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from packyard.errors import InputError, UnavailableError
from packyard.files.regular import LIMIT

if TYPE_CHECKING:
    from packyard.digest import Digest

#: Seconds that one request, or the wait for another writer, may take, unless somebody says otherwise.
PATIENCE = 300.0

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")


class NotFoundError(UnavailableError):
    """The store answers, and has nothing under that key."""


class MissingStoreError(NotFoundError):
    """There is no store at all at this address."""


class TooLongError(UnavailableError):
    """An object has more bytes than whoever asks for it can use."""


class Store(Protocol):
    """Bytes by key. What cannot be done now, or by this kind of store, is an `UnavailableError`."""

    def put(self, key: str, data: bytes) -> None:
        """Create an immutable object, whole or not at all.

        The same bytes again succeed and leave the object alone; other bytes are a `ConflictError`.
        """

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes, or raise `NotFoundError`, or `TooLongError` beyond ``limit`` bytes."""

    def list(self, prefix: str) -> Sequence[str]:
        """Return, sorted, the keys that begin with ``prefix``; it may end inside a part."""

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object if its bytes still have the digest ``expected``, or create it if that is None.

        Otherwise somebody else was faster: `ConflictError`, and nothing is changed. Readers see old or new bytes.
        """


def check_key(key: str) -> None:
    """Refuse what is not a key, so that no key leads out of a store."""
    if not _KEY.fullmatch(key):
        raise InputError(f"{key!r} is not a key for a store")
