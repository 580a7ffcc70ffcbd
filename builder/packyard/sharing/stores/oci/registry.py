"""The requests of the OCI distribution specification 1.1 to one registry, each bounded, and what their answers mean."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, UnavailableError, on_one_line, shown
from packyard.sharing.stores.client import Answer, Client, Request, origin, target
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.login import Login
from packyard.sharing.stores.oci.manifest import EMPTY, INDEX_TYPE, MANIFEST_TYPE, Descriptor
from packyard.sharing.stores.store import DeniedError, MissingStoreError, UnmadeStoreError, check_listed

_PAGE = 1000  # tags that a page counts for at least
_LISTINGS = 20  # attempts
_AGAIN, _PAUSES = (400, 404, 409), (0.05, 0.2)  # seconds
_NOT_DELETED = (400, 401, 403, 404, 405, 501)  # where manifests cannot be deleted, or are not there
_NO_API = (400, 404, 405, 501)
_DENIED = (401, 403)
_NEXT = re.compile(r'<([^<>]*)>\s*;[^<>]*?\brel="?next"?')


class HiddenError(UnmadeStoreError, DeniedError):
    """A registry refuses to show a repository: many do so where there is none yet, and take what is pushed to it."""


class Registry:
    """A registry, asked for the repositories below a path; ``tell`` hears which logins are of no use."""

    def __init__(self, address: Address, tell: Callable[[str], object] = lambda _: None) -> None:
        self._address, self._client = address, Client()
        self._ask = Login(address, self._client, tell).ask
        self._has_api = True  # until it says that it keeps no lists of referrers
        self._prepare = cache(lambda repository: self.upload(repository, EMPTY))  # the configuration of all artifacts

    def place(self, repository: str, reference: str = "") -> str:
        """Return what messages call a repository, or the manifest of a tag or digest in it."""
        mark = "" if not reference else "@" if ":" in reference else ":"
        return f"oci://{self._address.host}/{repository}{mark}{reference}"

    # Manifests.

    def manifest(self, repository: str, reference: str) -> bytes | None:
        """Return the manifest of a tag or a digest, None if there is none; `HiddenError` if it is not shown."""
        headers = {"Accept": f"{MANIFEST_TYPE}, {INDEX_TYPE}"}
        answer = self._send("GET", repository, f"manifests/{reference}", reference, headers=headers)
        if answer.status == 404:
            return None
        self._check(answer, 200)
        if ":" in reference:
            Digest.parse(reference).verify(answer.body, what=answer.request.place)
        return answer.body

    def write_manifest(self, repository: str, reference: str, data: bytes, kind: str = MANIFEST_TYPE) -> Answer:
        """Write a manifest, or raise where it is not taken."""
        self._prepare(repository)
        path, more = f"manifests/{reference}", {"headers": {"Content-Type": kind}, "body": data}
        return self._written(lambda: self._send("PUT", repository, path, reference, **more))

    def _written(self, write: Callable[[], Answer]) -> Answer:
        """Write something; registries refuse some of those that write at the same moment, and these try again."""
        for pause in (*_PAUSES, 0.0):
            answer = write()
            if answer.status not in _AGAIN:
                break
            time.sleep(random.uniform(pause / 2, pause))
        return self._check(answer, 201)

    def delete(self, repository: str, digest: Digest) -> None:
        """Delete a manifest, where the registry lets that be done."""
        answer = self._send("DELETE", repository, f"manifests/{digest}", digest)
        self._check(answer, 200, 202, 204, *_NOT_DELETED)

    # Referrers: the registry lists them, or, where it does not, a tag made of the subject's digest does.

    def referrers(self, repository: str, subject: Digest) -> Sequence[Descriptor]:
        """Return what refers to a manifest."""
        answer = None
        if self._has_api:
            answer = self._send("GET", repository, f"referrers/{subject}", subject)
            self._has_api = answer.status not in _NO_API
        data = answer.body if answer and answer.status == 200 else self.manifest(repository, _tag(subject))
        return manifests.parse_list(data, what=self.place(repository, subject)) if data else []

    def refer(self, repository: str, subject: Digest, data: bytes) -> None:
        """Write a manifest that refers to another one, and list it where the registry keeps no list of its own."""
        new, tag = manifests.listed(data), _tag(subject)
        answer = self.write_manifest(repository, new.digest, data)
        if "oci-subject" in answer.headers:
            return
        for _ in range(_LISTINGS):
            before = self.manifest(repository, tag)
            listed = manifests.parse_list(before, what=self.place(repository, tag)) if before else []
            if any(descriptor.digest == new.digest for descriptor in listed):
                return
            self.write_manifest(repository, tag, manifests.compose_list([*listed, new]), INDEX_TYPE)
        hint = "others write there all the time; try again later"
        raise UnavailableError(Problem(f"does not list {new.digest}", file=self.place(repository, tag), hint=hint))

    # Blobs.

    def blob(self, repository: str, layer: Descriptor) -> bytes:
        """Return a blob's bytes, or raise `NotFoundError`, or `TooLongError` or `IntegrityError` for other bytes."""
        answer = self._send("GET", repository, f"blobs/{layer.digest}", layer.digest, limit=layer.size)
        layer.digest.verify(self._check(answer, 200).body, what=answer.request.place)
        return answer.body

    def upload(self, repository: str, data: bytes) -> None:
        """Make sure that there is a blob with these bytes."""
        self._written(lambda: self._upload(repository, Digest.of(data), data))

    def _upload(self, repository: str, digest: Digest, data: bytes) -> Answer:
        answer = self._send("POST", repository, f"blobs/uploads/?mount={digest}", digest)
        if answer.status != 202:  # 201 where it has the blob in another repository
            return answer
        location = target(answer.request, answer.url, answer.headers.get("location", ""))
        url = f"{location}{'&' if '?' in location else '?'}{urlencode({'digest': digest})}"
        headers = {"Content-Type": "application/octet-stream"}
        return self._send("PUT", repository, "", digest, url=url, headers=headers, body=data)

    # Tags.

    def tags(self, repository: str) -> Sequence[str]:
        """Return all tags of a repository; none if there is no such repository, `HiddenError` if it is not shown."""
        request = self._request("GET", repository, "tags/list", limit=record.LIMIT)
        tags: dict[str, None] = {}
        for page in count(1):
            answer = self._ask(repository, request)
            if answer.status == 404:
                if self._client.ask(self._request("GET", "", "")).status not in (200, *_DENIED):
                    raise MissingStoreError(Problem("is no registry", file=request.place, hint="check the address"))
                break
            self._check(answer, 200)
            before = len(tags)
            tags.update(dict.fromkeys(_tags(answer.body, request.place)))
            check_listed(max(len(tags), page * _PAGE), request.place)
            link = _NEXT.search(answer.headers.get("link", ""))
            if link is None or len(tags) == before:
                break
            following = target(request, answer.url, link[1])
            if origin(following) != origin(request.url):
                raise request.refusal("the registry has the next page of tags on another server")
            request = replace(request, url=following)
        return list(tags)

    # Requests.

    def _send(self, method: str, repository: str, path: str, reference: str, **more: Any) -> Answer:
        return self._ask(repository, self._request(method, repository, path, reference, **more))

    def _request(self, method: str, repository: str, path: str, reference: str = "", **more: Any) -> Request:
        url = f"{self._address.url}/v2/" + (f"{quote(repository)}/{path}" if repository else "")
        how = {"url": url, "limit": manifests.LARGEST, **more}
        return Request(method=method, place=self.place(repository, reference), **how)

    def _check(self, answer: Answer, *statuses: int) -> Answer:
        if answer.status not in statuses:
            login = f"log in with an account that may: docker login {self._address.host}"
            kind = HiddenError if answer.request.method == "GET" else DeniedError
            raise answer.refusal(login, _said(answer.body), kind)
        return answer


def _tag(subject: Digest) -> str:
    """Return the tag that lists what refers to a manifest ("Referrers Tag Schema")."""
    return subject.replace(":", "-")


def _said(body: bytes) -> str:
    """Return the first message of an error (distribution specification, "Error Codes"), on one line, or nothing."""
    try:
        error = record.parse_any(body, lambda fields: fields.take("errors", list_of(Record))[0], file="")
        return f": {shown(on_one_line(error.take('message', text, '') or error.take('code', text)))}"
    except (IntegrityError, IndexError, FaultError):
        return ""


def _tags(body: bytes, place: str) -> Sequence[str]:
    """Read a page of tags, which some registries have as null where there are none."""
    return record.parse_any(
        body, lambda fields: fields.take("tags", lambda tags: list_of(text)(tags or []), ()), file=place
    )
