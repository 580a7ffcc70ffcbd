"""Containers of Azure's blob storage: ``az://container/prefix``, and where Azure's own tools find credentials.

obstore reads most of it from the environment: keys, shared access signatures, service principals, workload and managed
identities. The connection string and the two short names are those of the ``az`` command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from obstore.store import AzureStore

from packyard.sharing.stores import bucket
from packyard.sharing.stores import endpoint as endpoints
from packyard.sharing.stores.bucket import BucketStore, Identity, Tries
from packyard.sharing.stores.bucket_address import BucketAddress
from packyard.sharing.stores.store import PATIENCE

_HINT = "write az://container/path"
_SHORT = {"AZURE_STORAGE_ACCOUNT": "account_name", "AZURE_STORAGE_KEY": "account_key"}


def open_azure(text: str, *, patience: float = PATIENCE, tries: Tries = bucket.USUAL) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet. Azure promises all."""
    address = BucketAddress.parse(text, _HINT)
    settings = _settings(os.environ)
    endpoint = endpoints.azure()
    identity = Identity()
    if credentials := address.secrets(endpoint):
        identity = Identity(used="the account in the address")
        settings["account_name"], settings["account_key"] = credentials
    settings |= bucket.client(patience, tries, endpoint)
    prefix = address.prefix or None
    made = bucket.opened(lambda: AzureStore(address.bucket, prefix=prefix, **settings), str(address))
    return BucketStore(
        address=str(address),
        is_conditional=True,
        open=lambda: made,
        identity=identity,
        patience=patience,
        tries=tries,
    )


def _settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that obstore does not read itself."""
    settings: dict[str, Any] = {
        name: environment[variable] for variable, name in _SHORT.items() if environment.get(variable)
    }
    fields = endpoints.connection()
    for field, name in (
        ("AccountName", "account_name"),
        ("AccountKey", "account_key"),
        ("SharedAccessSignature", "sas_key"),
    ):
        if field in fields:
            settings[name] = fields[field]
    return settings
