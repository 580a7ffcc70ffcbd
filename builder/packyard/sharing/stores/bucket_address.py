"""The address of a place in a bucket."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.network import may_have_secrets

_BUCKET = re.compile(r"[A-Za-z0-9$][A-Za-z0-9._-]*")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")  # as of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketAddress:
    """``scheme://bucket/prefix``, maybe with a user and password."""

    scheme: str
    bucket: str
    prefix: str = ""
    credentials: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str, hint: str) -> BucketAddress:
        """Read an address, or refuse it without showing it: it may hold a password."""
        scheme, _, rest = text.partition("://")
        before, at, place = rest.rpartition("@")
        user, _, password = before.partition(":")
        bucket, _, prefix = place.partition("/")
        parts = prefix.rstrip("/").split("/") if prefix.rstrip("/") else []
        if not (_BUCKET.fullmatch(bucket) and all(map(_PART.fullmatch, parts))) or (at and not (user and password)):
            raise InputError(Problem("this must be the address of a channel in a bucket", hint=hint))
        credentials = (unquote(user), unquote(password)) if at else None
        return cls(scheme=scheme.lower(), bucket=bucket, prefix="/".join(parts), credentials=credentials)

    def secrets(self, endpoint: str) -> tuple[str, str] | None:
        """Return the user and password, if there are any; refuse a server that must not have them."""
        if self.credentials and endpoint and not may_have_secrets(endpoint):
            raise InputError("a user and password in an address need TLS, or a server on this machine")
        return self.credentials

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.prefix}".rstrip("/")
