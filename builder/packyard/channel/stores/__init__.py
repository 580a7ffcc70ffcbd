"""A *store* keeps bytes by key, and promises four verbs; policy (what is written when, and why) lives in ``channel``.

A key is one or more parts joined by ``/``, each of letters, digits, ``.``, ``_``, ``+`` and ``-``, not beginning with a
dot: names that begin with one are the store's own (temporary files, locks), and never listed.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from packyard.channel.stores.store import NotFoundError, Store, check_key
from packyard.errors import InputError, Problem

__all__ = ["NotFoundError", "Store", "check_key", "open_store"]


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


def _file_path(address: str) -> Path:
    parts = urlsplit(address)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise InputError(Problem(f"{address!r} names no local directory", hint="write file:///path/to/channel"))
    return Path(unquote(parts.path))
