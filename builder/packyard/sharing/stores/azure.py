"""Containers of Azure's blob storage: ``az://container/prefix``, and where Azure's own tools find credentials.

obstore reads most of it from the environment: keys, shared access signatures, service principals, workload and managed
identities. The connection string and the two short names are those of the ``az`` command.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from obstore.store import AzureStore

from packyard.sharing.stores import bucket
from packyard.sharing.stores import endpoint as endpoints
from packyard.sharing.stores.bucket import BucketStore
from packyard.sharing.stores.store import PATIENCE

_SHORT = {"AZURE_STORAGE_ACCOUNT": "account_name", "AZURE_STORAGE_KEY": "account_key"}
_FIELDS = {"AccountName": "account_name", "AccountKey": "account_key", "SharedAccessSignature": "sas_key"}


def open_azure(address: str, *, patience: float = PATIENCE) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet. Azure promises all."""
    container, prefix = bucket.parse(address)
    fields = endpoints.connection()
    settings: dict[str, Any] = {name: os.environ[each] for each, name in _SHORT.items() if os.environ.get(each)}
    settings |= {name: fields[each] for each, name in _FIELDS.items() if each in fields}
    settings |= {**bucket.client(patience, endpoints.azure()), "prefix": prefix or None}
    made = bucket.opened(partial(AzureStore, container, **settings), address)
    return BucketStore(
        address=address.rstrip("/"),
        is_conditional=True,
        open=lambda: made,
        look=f"see what you may do there: az storage blob list -c {container}",
        patience=patience,
    )
