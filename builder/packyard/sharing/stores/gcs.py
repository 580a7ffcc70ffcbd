"""Buckets of Google Cloud Storage: ``gs://bucket/prefix``, whose preconditions on generations hold when many write.

Credentials are Google's application default ones, which google-auth finds and renews. Without any, only what is public
can be read. An emulator is asked where STORAGE_EMULATOR_HOST says so, without credentials.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any

import google.auth
import google.auth.exceptions
import google.auth.transport.requests
import requests
from obstore.store import GCSStore

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.sharing.stores import bucket
from packyard.sharing.stores import endpoint as endpoints
from packyard.sharing.stores.bucket import BucketStore, Identity, Tries
from packyard.sharing.stores.bucket_address import BucketAddress
from packyard.sharing.stores.network import LOOK, authorities
from packyard.sharing.stores.store import PATIENCE, DeniedError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_HOST = "https://storage.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_LOGIN = "log in: gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS"


def open_gcs(text: str, *, patience: float = PATIENCE, tries: Tries = bucket.USUAL, host: str = _HOST) -> BucketStore:
    """Open the store at an address; nothing is asked of the server yet. Google promises all."""
    address = BucketAddress.parse(text, "write gs://bucket/path")
    if address.credentials:
        raise InputError(Problem("an address of Google's buckets has no user and password", hint=_LOGIN))
    emulator = endpoints.gcs()
    settings = bucket.client(patience, tries, emulator or host)
    host = settings.pop("endpoint")
    return BucketStore(
        address=str(address),
        is_conditional=True,
        open=_Google(address=address, host=host, is_emulator=bool(emulator), settings=settings).open,
        identity=Identity(used="Google's default credentials", look=_LOGIN),
        patience=patience,
        tries=tries,
    )


@dataclass(frozen=True, kw_only=True)
class _Google:
    """A bucket, opened when it is wanted first: to find credentials, google-auth may have to ask this machine."""

    address: BucketAddress
    host: str
    is_emulator: bool
    settings: dict[str, Any] = field(repr=False)

    def open(self) -> ObjectStore:
        """Return the bucket, with a token that is valid; this may ask the server that renews tokens."""
        credentials = self._credentials
        if credentials is not None and not credentials.valid:
            session = requests.Session()
            session.verify = authorities() or True
            try:
                credentials.refresh(google.auth.transport.requests.Request(session))
            except (google.auth.exceptions.TransportError, OSError):
                problem = "Google's credentials cannot be renewed: the token server cannot be reached"
                raise UnavailableError(Problem(problem, hint=LOOK)) from None
            except google.auth.exceptions.GoogleAuthError:
                problem = "Google's credentials are refused, or cannot be renewed"
                raise DeniedError(Problem(problem, hint=_LOGIN)) from None
        return self._bucket

    @cached_property
    def _bucket(self) -> ObjectStore:
        own: dict[str, Any] = {"prefix": self.address.prefix or None, **self.settings}
        if self._credentials is None:
            nobody = {"gcs_base_url": self.host, "disable_oauth": True}
            nobody |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
            own["service_account_key"] = json.dumps(nobody)
        else:
            own |= {"base_url": self.host, "credential_provider": self._token}
        return bucket.opened(lambda: GCSStore(self.address.bucket, **own), str(self.address))

    def _token(self) -> Any:
        expiry = self._credentials.expiry
        return {"token": self._credentials.token, "expires_at": expiry and expiry.replace(tzinfo=UTC)}

    @cached_property
    def _credentials(self) -> Any:
        if self.is_emulator:
            return None
        try:
            return google.auth.default(scopes=[_SCOPE])[0]
        except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
            named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
            if isinstance(error, google.auth.exceptions.DefaultCredentialsError) and not named:
                return None
            raise UnavailableError(Problem("Google's credentials cannot be read", hint=_LOGIN)) from None
