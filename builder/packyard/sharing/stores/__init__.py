"""A *store* keeps bytes by key and offers a few verbs; when what is written, and why, is decided in ``sharing``.

A key is one or more parts joined by ``/``, each of letters, digits, ``.``, ``_``, ``+`` and ``-``. No part begins with
a dot: such names are the store's own (temporary files, locks), and never listed.
"""

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from packyard.core import extras
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store

if TYPE_CHECKING:
    from packyard.sharing.stores.oci.channel import OCIStore

_BEGUN = re.compile(r"(https?|s3|gs|az|azure|oci|file)(?::/?|//)([^/].*)")
_SERVER = re.compile(r"(localhost|\[[0-9a-fA-F:.]+\]|[\w-]+(\.[\w-]+)+):\d+(/.*)?")


def as_registry(store: Store) -> "OCIStore | None":
    """Return the store if it is a channel in a registry, where nothing is kept but bundles."""
    if not store.address.startswith("oci://"):
        return None
    from packyard.sharing.stores.oci.channel import OCIStore

    return store if isinstance(store, OCIStore) else None


def files_of(store: Store, bundles: Collection[str]) -> set[str]:
    """Return which of these bundles are there, by their keys, and the keys of what was published with each."""
    if registry := as_registry(store):
        return registry.files(bundles)
    versions = sorted({key.partition("/")[0] for key in bundles})
    keys = (key for version in versions for key in store.list(f"{version}/"))
    return {key for key in keys if f"{key.partition('.tar.gz')[0]}.tar.gz" in bundles}


def open_store(address: str, *, tell: Callable[[str], object] = lambda _: None) -> Store:
    """Open the store at an address; nothing is asked of a server yet.

    A directory's path, ``file://``, ``http(s)://`` (read-only), ``s3://``, ``gs://``, ``az://`` (or ``azure://``) with
    a bucket and a path, or ``oci://`` with a registry and a path. ``tell`` hears what is of no use of what a user has
    set, and goes on without.
    """
    scheme, separator, _ = address.partition("://")
    if not separator:
        if (meant := _meant(address)) and not Path(address).exists():
            raise InputError(Problem("is not a channel", file=address, hint=f"did you mean {meant}?"))
        if not address:
            raise InputError(Problem("the address of the channel is empty", hint="is a variable without a value?"))
        return DirectoryStore(Path(address))
    try:
        return _opened(scheme, address, tell)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("obstore", "google", "botocore"):
            raise
        problem = Problem(f"what {scheme}:// needs is not installed", hint=extras.install("cloud"))
        raise UnavailableError(problem) from error


def _meant(text: str) -> str:
    """Return the address that was meant by a text with a slash too few, or a server without its scheme, if any."""
    if begun := _BEGUN.fullmatch(text):
        return f"{begun[1]}://{begun[2]}"
    return f"http://{text}" if _SERVER.fullmatch(text) else ""


def _opened(scheme: str, address: str, tell: Callable[[str], object]) -> Store:
    """Open a store; each kind is imported when it is wanted: some are slow."""
    match scheme.lower():
        case "file":
            return DirectoryStore(_file_path(address))
        case "http" | "https":
            from packyard.sharing.stores.http import HTTPStore

            return HTTPStore(address)
        case "s3" | "gs" | "az" | "azure" as cloud:
            from packyard.sharing.stores.clouds import open_azure, open_gcs, open_s3

            return {"s3": open_s3, "gs": open_gcs}.get(cloud, open_azure)(address)
        case "oci" | "oci+http" | "oci+https":
            from packyard.sharing.stores.oci.channel import OCIStore

            return OCIStore(address, tell=tell)
    hint = "use a directory, file://, http://, https://, s3://, gs://, az:// or oci://"
    raise InputError(Problem(f"no kind of channel has an address '{scheme}://…'", hint=hint))


def _file_path(address: str) -> Path:
    host, slash, path = address.partition("://")[2].partition("/")
    path = slash + unquote(path)
    if host not in ("", "localhost") or not path or "\0" in path:
        raise InputError(Problem(f"{address!r} names no local directory", hint="write file:///path/to/channel"))
    return Path(path)
