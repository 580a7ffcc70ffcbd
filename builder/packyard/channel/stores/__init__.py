"""A *store* keeps bytes by key and offers a few verbs; when what is written, and why, is decided in ``channel``.

A key is one or more parts joined by ``/``, each of letters, digits, ``.``, ``_``, ``+`` and ``-``. No part begins with
a dot: such names are the store's own (temporary files, locks), and never listed.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from packyard.channel.stores.store import (
    PATIENCE,
    MissingStoreError,
    NotFoundError,
    Promises,
    Store,
    TooLongError,
    check_key,
)
from packyard.errors import InputError, Problem

__all__ = [
    "PATIENCE",
    "MissingStoreError",
    "NotFoundError",
    "Promises",
    "Store",
    "TooLongError",
    "check_key",
    "open_store",
]


def open_store(address: str, *, patience: float = PATIENCE) -> Store:
    """Open the store at a directory's path, a ``file://``, an ``http(s)://`` (read-only) or an ``oci://`` address.

    ``patience``: seconds that one request, or the wait for another writer, may take.
    """
    from packyard.channel.stores.directory import DirectoryStore
    from packyard.channel.stores.http import HTTPStore

    scheme, separator, _ = address.partition("://")
    if not separator:
        return DirectoryStore(Path(address), patience=patience)
    if scheme.lower() == "file":
        return DirectoryStore(_file_path(address), patience=patience)
    if scheme.lower() in ("http", "https"):
        return HTTPStore(address, patience=patience)
    if scheme.lower() in ("oci", "oci+http", "oci+https"):
        from packyard.channel.stores.oci import OCIStore  # slow to import: `transfer` is at its top

        return OCIStore(address, patience=patience)
    hint = "use a directory, file://, http://, https:// or oci://"
    raise InputError(Problem(f"no kind of channel has an address '{scheme}://…'", hint=hint))


def _file_path(address: str) -> Path:
    host, slash, path = address.partition("://")[2].partition("/")
    path = slash + unquote(path)
    if host not in ("", "localhost") or not path or "\0" in path:
        raise InputError(Problem(f"{address!r} names no local directory", hint="write file:///path/to/channel"))
    return Path(path)
