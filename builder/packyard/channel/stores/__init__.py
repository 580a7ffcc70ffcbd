"""A *store* keeps bytes by key and offers a few verbs; when what is written, and why, is decided in ``channel``.

A key is one or more parts joined by ``/``, each of letters, digits, ``.``, ``_``, ``+`` and ``-``. No part begins with
a dot: such names are the store's own (temporary files, locks), and never listed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from packyard.channel.stores.directory import DirectoryStore
from packyard.channel.stores.probe import PROBES, probe, trusting
from packyard.channel.stores.store import (
    PATIENCE,
    MissingStoreError,
    NotFoundError,
    Promises,
    Store,
    TooLongError,
    check_key,
    get_or_none,
)
from packyard.errors import InputError, Problem, UnavailableError

__all__ = [
    "PATIENCE",
    "PROBES",
    "MissingStoreError",
    "NotFoundError",
    "Promises",
    "Store",
    "TooLongError",
    "check_key",
    "get_or_none",
    "open_store",
    "probe",
    "trusting",
]


def open_store(address: str, *, patience: float = PATIENCE) -> Store:
    """Open the store at an address; nothing is asked of a server yet.

    A directory's path, ``file://``, ``http(s)://`` (read-only), ``s3://``, ``gs://``, ``az://`` (or ``azure://``) with
    a bucket and a path, or ``oci://`` with a registry and a path. ``patience``: seconds that one call, or the wait for
    another writer, may take.
    """
    scheme, separator, _ = address.partition("://")
    if not separator:
        return DirectoryStore(Path(address), patience=patience)
    opener = _OPENERS.get(scheme.lower())
    if opener is None:
        hint = "use a directory, file://, http://, https://, s3://, gs://, az:// or oci://"
        raise InputError(Problem(f"no kind of channel has an address '{scheme}://…'", hint=hint))
    try:
        return opener(address, patience)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("obstore", "google"):
            raise
        hint = "pip install 'packyard[cloud]'"
        raise UnavailableError(Problem(f"what {scheme}:// needs is not installed", hint=hint)) from error


def _file(address: str, patience: float) -> Store:
    return DirectoryStore(_file_path(address), patience=patience)


def _http(address: str, patience: float) -> Store:
    from packyard.channel.stores.http import HTTPStore  # each kind is imported when it is wanted: some are slow

    return HTTPStore(address, patience=patience)


def _s3(address: str, patience: float) -> Store:
    from packyard.channel.stores.s3 import open_s3

    return open_s3(address, patience=patience)


def _azure(address: str, patience: float) -> Store:
    from packyard.channel.stores.azure import open_azure

    return open_azure(address, patience=patience)


def _gcs(address: str, patience: float) -> Store:
    from packyard.channel.stores.gcs import GCSStore

    return GCSStore(address, patience=patience)


def _oci(address: str, patience: float) -> Store:
    from packyard.channel.stores.oci import OCIStore

    return OCIStore(address, patience=patience)


_OPENERS: dict[str, Callable[[str, float], Store]] = {
    "file": _file,
    **dict.fromkeys(("http", "https"), _http),
    "s3": _s3,
    **dict.fromkeys(("az", "azure"), _azure),
    "gs": _gcs,
    **dict.fromkeys(("oci", "oci+http", "oci+https"), _oci),
}


def _file_path(address: str) -> Path:
    host, slash, path = address.partition("://")[2].partition("/")
    path = slash + unquote(path)
    if host not in ("", "localhost") or not path or "\0" in path:
        raise InputError(Problem(f"{address!r} names no local directory", hint="write file:///path/to/channel"))
    return Path(path)
