"""Containers of Azure's blob storage: ``az://container/prefix``, and where Azure's own tools find credentials.

obstore reads it from the environment: keys, shared access signatures, service principals, workload and managed
identities; but for the two short names of the ``az`` command.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from obstore.store import AzureStore

from packyard.sharing.stores import bucket
from packyard.sharing.stores.bucket import BucketStore

_SHORT = {"AZURE_STORAGE_ACCOUNT": "account_name", "AZURE_STORAGE_KEY": "account_key"}


def open_azure(address: str) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet. Azure promises all."""
    container, prefix = bucket.parse(address)
    settings: dict[str, Any] = {name: os.environ[short] for short, name in _SHORT.items() if os.environ.get(short)}
    endpoint = bucket.first("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
    settings |= {**bucket.client(endpoint), "prefix": prefix or None}
    made = bucket.opened(partial(AzureStore, container, **settings), address)
    return BucketStore(
        address=address.rstrip("/"),
        is_conditional=True,
        open=lambda: made,
        look=f"see what you may do there: az storage blob list -c {container}",
    )
