"""Buckets of Google Cloud Storage: ``gs://bucket/prefix``, whose preconditions on generations hold when many write.

Credentials are Google's application default ones, which google-auth finds and renews. Without any, only what is public
can be read. An emulator is asked where STORAGE_EMULATOR_HOST says so, without credentials.
"""

from __future__ import annotations

import json
import os
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import google.auth
import google.auth.exceptions
from obstore.auth.google import GoogleCredentialProvider
from obstore.store import GCSStore

from packyard.core.errors import Problem, UnavailableError
from packyard.sharing.stores import bucket
from packyard.sharing.stores.bucket import BucketStore

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_HOST = "https://storage.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_LOGIN = "log in: gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS"


def open_gcs(address: str, *, host: str = _HOST) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet. Google promises all."""
    name, prefix = bucket.parse(address)
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "").rstrip("/")
    emulator = emulator if not emulator or "://" in emulator else f"http://{emulator}"
    settings = {**bucket.client(emulator or host), "prefix": prefix or None}
    place = settings.pop("endpoint")

    @cache  # when it is wanted first: to find credentials, google-auth may have to ask this machine
    def opened() -> ObjectStore:
        who: dict[str, Any] = {"base_url": place}
        if own := None if emulator else _credentials():
            who["credential_provider"] = GoogleCredentialProvider(own)
        else:  # `skip_signature` alone asks this machine for credentials all the same, to write
            nobody = {"gcs_base_url": place, "disable_oauth": True}
            nobody |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
            who = {"service_account_key": json.dumps(nobody)}
        return bucket.opened(partial(GCSStore, name, **settings, **who), address)

    return BucketStore(address=address.rstrip("/"), is_conditional=True, open=opened, look=_LOGIN)


def _credentials() -> Any:
    try:
        return google.auth.default(scopes=[_SCOPE])[0]
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
        if isinstance(error, google.auth.exceptions.DefaultCredentialsError) and not named:
            return None
        raise UnavailableError(Problem("Google's credentials cannot be read", hint=_LOGIN)) from None
