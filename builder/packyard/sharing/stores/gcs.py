"""Buckets of Google Cloud Storage: ``gs://bucket/prefix``, by its JSON API, whose preconditions hold when many write.

Credentials are Google's application default ones. Without any, only what is public can be read. An emulator is asked
where STORAGE_EMULATOR_HOST says so, without credentials.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

import google.auth
import google.auth.exceptions
import google.auth.transport.requests
import requests

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores import endpoint, http
from packyard.sharing.stores.bucket_address import BucketAddress
from packyard.sharing.stores.content import cache_control, content_type
from packyard.sharing.stores.http import Answer, Request
from packyard.sharing.stores.store import (
    PATIENCE,
    DeniedError,
    MissingStoreError,
    NotFoundError,
    Promises,
    check_expected,
    check_key,
    check_listed,
    check_removable,
    check_same,
    check_swapped,
)
from packyard.sharing.stores.wire import LOOK, OverdueError, authorities, late, within

_HOST = "https://storage.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_PAGE_LIMIT = 16 * 1024 * 1024
_LOGIN = "gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS"


class GCSStore:
    """The store below a prefix of a bucket. ``patience``: the seconds that a call may take."""

    #: Google keeps preconditions on the generation of an object.
    promises = Promises(create=True, swap=True)

    def __init__(
        self, address: str, *, patience: float = PATIENCE, host: str = _HOST, waits: Sequence[float] = http.WAITS
    ) -> None:
        self._address = BucketAddress.parse(address, "write gs://bucket/path")
        self.address = str(self._address)
        if self._address.credentials:
            raise InputError(Problem("an address of Google's buckets has no user and password", hint=f"use {_LOGIN}"))
        self._emulator = endpoint.gcs()
        self._host = self._emulator or host
        self._patience = patience
        self._waits = waits
        self._connections = http.Connections()

    def __repr__(self) -> str:
        return f"GCSStore({self.address!r})"

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        check_key(key)
        if self._write(key, data, "0"):
            return
        current, _ = self._found(key)
        if current is None:
            raise UnavailableError(Problem("was removed meanwhile", file=self._place(key), hint="run again"))
        check_same(self._place(key), current, Digest.of(data))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        check_key(key)
        request = self._of_object(key, "GET", limit=limit)
        answer = http.send(request)
        if answer.status != 200:
            raise self._refusal(request, answer)
        return answer.body

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        check_key(key)
        request = self._of_object(key, "GET")
        answer, pieces = http.stream(request, offset=offset)
        if answer.status not in ((200, 206, 416) if offset else (200,)):
            raise self._refusal(request, answer)
        yield from pieces

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        if folder := prefix.rpartition("/")[0]:
            check_key(folder)
        keys, page, end = list[str](), "", time.monotonic() + self._patience
        base = self._name("")
        while True:
            parameters = {"prefix": base + prefix, "fields": "items(name),nextPageToken", "pageToken": page}
            request = self._of_list(parameters)
            if time.monotonic() > end:
                raise late(request.place, request.patience)
            answer = http.send(replace(request, patience=end - time.monotonic()))
            if answer.status != 200:
                raise self._refusal(request, answer)
            document = _document(request, answer)
            keys += [str(item.get("name", ""))[len(base) :] for item in document.get("items", ())]
            check_listed(len(keys), self.address)
            page = str(document.get("nextPageToken", ""))
            if not page:
                # A name that ends with a slash is that of a folder, which consoles make as an object.
                return sorted(key for key in keys if key and not key.endswith("/") and "/." not in f"/{key}")

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        check_key(key)
        current, generation = self._found(key)
        check_expected(self._place(key), current, expected)
        if not self._write(key, data, generation):
            current, _ = self._found(key)  # maybe it was written, and the answer was lost
            check_swapped(self._place(key), current, Digest.of(data), expected)

    def remove(self, key: str, *, is_published: bool = False) -> bool:
        """Remove an object; see `Store.remove`."""
        check_removable(key, is_published=is_published)
        request = self._of_object(key, "DELETE")
        answer = http.send(request)
        if answer.status not in (200, 204):
            refusal = self._refusal(request, answer)
            if not isinstance(refusal, NotFoundError):
                raise refusal
        return True

    def _write(self, key: str, data: bytes, generation: str) -> bool:
        """Write an object whose generation is still that one, ``0`` for none; return False if it is not."""
        parameters = {"uploadType": "multipart", "ifGenerationMatch": generation}
        path = f"/upload/storage/v1/b/{self._address.bucket}/o"
        metadata = {"name": self._name(key), "contentType": content_type(key), "cacheControl": cache_control(key)}
        kind, body = _multipart(metadata, data)
        request = self._request("POST", path, parameters, self._place(key), _PAGE_LIMIT, body)
        answer = http.send(replace(request, headers={"Content-Type": kind}))
        if answer.status == 412:
            return False
        if answer.status != 200:
            raise self._refusal(request, answer)
        return True

    def _found(self, key: str) -> tuple[Digest | None, str]:
        """Return the digest of what is there, and its generation; None and ``0`` if nothing is."""
        request = self._of_object(key, "GET", limit=LIMIT)
        answer = http.send(request)
        if answer.status == 200:
            if not answer.headers.get("x-goog-generation", "").isdecimal():
                raise request.refusal("the server does not say which generation it sends", "check the address")
            return Digest.of(answer.body), answer.headers["x-goog-generation"]
        refusal = self._refusal(request, answer)
        if isinstance(refusal, NotFoundError):
            return None, "0"
        raise refusal

    def _refusal(self, request: Request, answer: Answer) -> UnavailableError:
        if answer.status == 404:
            if request.method == "POST" or not self._is_there:
                problem = Problem("there is no such bucket", file=self.address, hint="check the address")
                return MissingStoreError(problem)
            return NotFoundError(Problem("not found", file=request.place))
        if answer.status in (401, 403):
            look = f"see what the credentials may do: gcloud storage ls {self.address}/"
            hint = look if request.authorization else f"log in: {_LOGIN}"
            return request.denied(f"access denied (HTTP {answer.status})", hint)
        return request.unexpected(answer)

    @cached_property
    def _is_there(self) -> bool:
        """Whether there is a bucket: what is said of a missing object does not tell."""
        return http.send(self._of_list({"maxResults": "1", "fields": "nextPageToken"})).status != 404

    def _of_list(self, parameters: Mapping[str, str]) -> Request:
        return self._request("GET", f"/storage/v1/b/{self._address.bucket}/o", parameters, self.address, _PAGE_LIMIT)

    def _of_object(self, key: str, method: str, limit: int = LIMIT) -> Request:
        path = f"/storage/v1/b/{self._address.bucket}/o/{quote(self._name(key), safe='')}"
        return self._request(method, path, {"alt": "media"} if method == "GET" else {}, self._place(key), limit)

    def _request(
        self, method: str, path: str, parameters: Mapping[str, str], place: str, limit: int, body: bytes = b""
    ) -> Request:
        token = self._token()
        return Request(
            method=method,
            url=f"{self._host}{path}?{urlencode({name: value for name, value in parameters.items() if value})}",
            place=place,
            limit=limit,
            patience=self._patience,
            waits=self._waits,
            headers={},
            body=body,
            authorization=f"Bearer {token}" if token else "",
            netrc=False,
            repeatable=True,  # what is written has a precondition
            connections=self._connections,
        )

    def _token(self) -> str:
        """Return a token that is valid, or an empty text where there are no credentials."""
        credentials = self._credentials
        if credentials is None:
            return ""
        if not credentials.valid:
            session = requests.Session()
            session.verify = authorities() or True
            try:
                within(self._patience, lambda: credentials.refresh(google.auth.transport.requests.Request(session)))
            except (google.auth.exceptions.TransportError, OverdueError, OSError):
                problem = "Google's credentials cannot be renewed: the token server cannot be reached"
                raise UnavailableError(Problem(problem, hint=LOOK)) from None
            except google.auth.exceptions.GoogleAuthError:
                problem = "Google's credentials are refused, or cannot be renewed"
                raise DeniedError(Problem(problem, hint=f"log in: {_LOGIN}")) from None
        return str(credentials.token)

    @cached_property
    def _credentials(self) -> Any:
        if self._emulator:
            return None
        try:
            return within(self._patience, lambda: google.auth.default(scopes=[_SCOPE]))[0]
        except (google.auth.exceptions.GoogleAuthError, OverdueError, OSError, ValueError) as error:
            named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
            if isinstance(error, google.auth.exceptions.DefaultCredentialsError) and not named:
                return None
            raise UnavailableError(Problem("Google's credentials cannot be read", hint=f"log in: {_LOGIN}")) from None

    def _name(self, key: str) -> str:
        return f"{self._address.prefix}/{key}" if self._address.prefix else key

    def _place(self, key: str) -> str:
        return f"{self.address}/{key}"


def _multipart(metadata: Mapping[str, str], data: bytes) -> tuple[str, bytes]:
    """Return the media type and the body that uploads an object with what is said of it."""
    boundary = Digest.of(data).hex  # which the object does not hold
    begin = f"--{boundary}\r\nContent-Type: application/json\r\n\r\n{json.dumps(metadata)}\r\n"
    head = f"{begin}--{boundary}\r\nContent-Type: {metadata['contentType']}\r\n\r\n"
    return f"multipart/related; boundary={boundary}", head.encode() + data + f"\r\n--{boundary}--\r\n".encode()


def _document(request: Request, answer: Answer) -> dict[str, Any]:
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise request.refusal("the server sent an invalid response") from error
    items = document.get("items", []) if isinstance(document, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise request.refusal("the server sent an invalid response")
    return dict(document)
