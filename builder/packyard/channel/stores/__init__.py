"""A *store* keeps bytes by key, and promises four verbs; policy (what is written when, and why) lives in ``channel``.

A key is one or more parts joined by ``/``, each of letters, digits, ``.``, ``_``, ``+`` and ``-``, not beginning with a
dot: names that begin with one are the store's own (temporary files, locks), and never listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from packyard.errors import InputError, Problem, UnavailableError

if TYPE_CHECKING:
    from packyard.digest import Digest

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")


class NotFoundError(UnavailableError):
    """The store answers, and has nothing under that key."""


class Store(Protocol):
    """Bytes by key. What cannot be done now, or by this kind of store, is an `UnavailableError`."""

    def put(self, key: str, data: bytes) -> None:
        """Create an immutable object, whole or not at all.

        The same bytes again succeed and leave the object alone; other bytes are a `ConflictError`.
        """

    def get(self, key: str) -> bytes:
        """Return an object's bytes, or raise `NotFoundError`."""

    def list(self, prefix: str) -> Sequence[str]:
        """Return, sorted, the keys that begin with ``prefix``; it may end inside a part."""

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object if its bytes still have the digest ``expected``, or create it if that is None.

        Otherwise somebody else was faster: `ConflictError`, and nothing is changed. Readers see old or new bytes.
        """


def open_store(address: str) -> Store:
    """Open the store at a directory's path, a ``file://`` or an ``http(s)://`` address (read-only)."""
    from packyard.channel.stores.directory import DirectoryStore
    from packyard.channel.stores.http import HTTPStore

    scheme, separator, _ = address.partition("://")
    if not separator:
        return DirectoryStore(Path(address))
    if scheme == "file":
        return DirectoryStore(_file_path(address))
    if scheme in ("http", "https"):
        return HTTPStore(address)
    hint = "use a directory, file://, http:// or https://"
    raise InputError(Problem(f"no kind of channel has an address that begins with '{scheme}://'", hint=hint))


def check_key(key: str) -> None:
    """Refuse what is not a key, so that no key leads out of a store."""
    if not _KEY.fullmatch(key):
        raise InputError(f"{key!r} is not a key for a store")


def _file_path(address: str) -> Path:
    parts = urlsplit(address)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise InputError(Problem(f"{address!r} names no local directory", hint="write file:///path/to/channel"))
    return Path(unquote(parts.path))
