"""The requests of the OCI distribution specification 1.1 to one registry, each bounded, and what their answers mean."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, PackyardError, Problem, UnavailableError, on_one_line, shown
from packyard.sharing.stores import http
from packyard.sharing.stores.http import Answer, BrokenOffError, Request
from packyard.sharing.stores.oci import artifact
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.authorization import Authorization
from packyard.sharing.stores.store import NotFoundError, check_listed
from packyard.sharing.stores.wire import may_have_secrets

_PAGE, _PAGES, _LONGEST_PAGE = 1000, 10_000, 32 * 1024 * 1024
_UPLOADS = 3
_BYTES = "application/octet-stream"
_SMALL = 64 * 1024
_AGAIN, _PAUSES = (400, 404, 409), (0.05, 0.2)  # seconds
_NOT_DELETED = (400, 403, 404, 405, 501)  # where tags, or manifests, cannot be deleted, or are not there
_Found = TypeVar("_Found")
_NEXT = re.compile(r'<([^<>]*)>\s*;[^<>]*?\brel="?next"?')


class Registry:
    """A registry, asked for the repositories below a path; see `Address`."""

    def __init__(self, address: Address, patience: float, waits: Sequence[float] = http.WAITS) -> None:
        self._address = address
        self._patience = patience
        self._waits = waits
        self._connections = http.Connections()
        self._authorization = Authorization(address, patience, self._connections)

    def place(self, repository: str, reference: str = "") -> str:
        """Return what messages call a repository, or the manifest of a tag or digest in it."""
        mark = "" if not reference else "@" if ":" in reference else ":"
        return f"oci://{self._address.host}/{repository}{mark}{reference}"

    def is_there(self) -> bool:
        """Return whether this is a registry, whether or not it knows us."""
        return http.send(self._request("GET", "", "")).status in (200, 401, 403)

    def manifest(self, repository: str, reference: str) -> bytes | None:
        """Return the manifest of a tag or a digest, None if there is none."""
        request = self._request("GET", repository, f"manifests/{reference}", reference)
        request = replace(request, headers={"Accept": artifact.ACCEPTED}, limit=artifact.LARGEST)
        answer = self._ask(repository, request)
        if answer.status == 404:
            return None
        _check(request, answer, 200)
        if ":" in reference:
            Digest.parse(reference).verify(answer.body, what=request.place)
        return answer.body

    def put_manifest(self, repository: str, reference: str, data: bytes, media_type: str) -> Answer:
        """Write a manifest; what is not taken is an answer too.

        Registries refuse some of those that write the same at the same moment: they try again.
        """
        request = self._request("PUT", repository, f"manifests/{reference}", reference)
        request = replace(request, headers={"Content-Type": media_type}, body=data)
        for pause in _PAUSES:
            answer = self._ask(repository, request)
            if answer.status not in _AGAIN:
                return answer
            time.sleep(random.uniform(pause / 2, pause))
        return self._ask(repository, request)

    def write_manifest(
        self, repository: str, reference: str, data: bytes, media_type: str = artifact.MANIFEST_TYPE
    ) -> Answer:
        """Write a manifest as `put_manifest` does, and raise where it is not taken."""
        answer = self.put_manifest(repository, reference, data, media_type)
        if answer.status != 201:
            raise self.refusal(repository, reference, answer)
        return answer

    def refusal(self, repository: str, reference: str, answer: Answer) -> UnavailableError:
        """Return the error to raise where a manifest is not taken."""
        return _refusal(self._request("PUT", repository, "", reference), answer)

    def referrers(self, repository: str, subject: Digest) -> bytes | None:
        """Return the list of what refers to a manifest, None if the registry keeps no such lists."""
        answer = self._ask(repository, self._request("GET", repository, f"referrers/{subject}", subject))
        return answer.body if answer.status == 200 else None

    def delete(self, repository: str, tag: str) -> bool:
        """Delete a tag, or what it names; return whether the registry lets that be done."""
        if self._delete(repository, tag):
            return True
        manifest = self.manifest(repository, tag)
        return manifest is None or self._delete(repository, Digest.of(manifest))

    def _delete(self, repository: str, reference: str) -> bool:
        request = self._request("DELETE", repository, f"manifests/{reference}", reference)
        answer = self._ask(repository, request)
        if answer.status not in _NOT_DELETED:
            _check(request, answer, 200, 202, 204)
        return answer.status not in _NOT_DELETED

    def blob(self, repository: str, digest: Digest, *, limit: int) -> bytes:
        """Return a blob's bytes, or raise `NotFoundError`, `TooLongError`, or `IntegrityError` for other bytes."""
        request = replace(self._request("GET", repository, f"blobs/{digest}", digest), limit=limit)
        answer = self._ask(repository, request)
        _check(request, answer, 200)
        digest.verify(answer.body, what=request.place)
        return answer.body

    def pieces(self, repository: str, digest: Digest, offset: int, size: int) -> Iterator[bytes]:
        """Yield the bytes of a blob of a size from an offset in it, unverified."""
        request = self._request("GET", repository, f"blobs/{digest}", digest)
        answer, pieces = self._authorized(
            repository, request, partial(http.stream, offset=offset, size=size), itemgetter(0)
        )
        _check(request, answer, 200, 206)
        yield from pieces

    def has_blob(self, repository: str, digest: Digest) -> bool:
        """Return whether there is a blob."""
        request = self._request("HEAD", repository, f"blobs/{digest}", digest)
        answer = self._ask(repository, request)
        if answer.status != 404:
            _check(request, answer, 200)
        return answer.status == 200

    def upload(self, repository: str, data: bytes) -> None:
        """Make sure that there is a blob with these bytes."""
        digest = Digest.of(data)
        for left in reversed(range(_UPLOADS)):
            looks = len(data) > _SMALL or left < _UPLOADS - 1  # to send little again is quicker than to look
            if looks and self.has_blob(repository, digest):
                return
            try:
                request, answer = self._upload(repository, digest, data)
            except BrokenOffError:
                if not left:
                    raise
            else:
                if answer.status == 201:
                    return
                if not left or answer.status in (401, 403, 413):
                    raise _refusal(request, answer)

    def tags(self, repository: str) -> Sequence[str]:
        """Return all tags of a repository; none if there is no such repository."""
        request = self._request("GET", repository, f"tags/list?n={_PAGE}")
        request = replace(request, limit=_LONGEST_PAGE)
        tags: dict[str, None] = {}
        for _ in range(_PAGES):
            answer = self._ask(repository, request)
            if answer.status == 404:
                break
            _check(request, answer, 200)
            before, page = len(tags), _tags(answer.body, request.place)
            tags.update(dict.fromkeys(page))
            check_listed(len(tags), request.place)
            following = self._following(request, answer, page)
            if following is None or len(tags) == before:
                break
            request = replace(request, url=following)
        else:
            raise request.refusal(f"has more than {_PAGES} pages of tags", "is this a channel of packyard?")
        return list(tags)

    def _following(self, request: Request, answer: Answer, page: Sequence[str]) -> str | None:
        """Return where the next page of tags is: where the registry says, or behind the last tag of a full page."""
        link = _NEXT.search(answer.headers.get("link", ""))
        if link:
            url = http.target(request, answer.url, link[1])
            if http.origin(url) != http.origin(request.url):
                raise request.refusal("the registry has the next page of tags on another server")
            return url
        if len(page) != _PAGE:
            return None
        return f"{request.url.partition('?')[0]}?{urlencode({'n': _PAGE, 'last': page[-1]})}"

    def _upload(self, repository: str, digest: Digest, data: bytes) -> tuple[Request, Answer]:
        begin = replace(self._request("POST", repository, "blobs/uploads/", digest), repeatable=True)
        answer = self._ask(repository, begin)
        if answer.status != 202:
            return begin, answer
        location = http.target(begin, answer.url, answer.headers.get("location", ""))
        if may_have_secrets(begin.url) and not may_have_secrets(location):
            raise begin.refusal("the registry wants the bytes where they cannot be sent safely")
        url = f"{location}{'&' if '?' in location else '?'}{urlencode({'digest': digest})}"
        headers = {"Content-Type": _BYTES}
        request = replace(begin, method="PUT", url=url, headers=headers, body=data, repeatable=False)
        return request, self._ask(repository, request)

    def _request(self, method: str, repository: str, path: str, reference: str = "") -> Request:
        url = f"{self._address.url}/v2/" + (f"{quote(repository)}/{path}" if repository else "")
        place = self.place(repository, reference)
        return Request(
            method=method,
            url=url,
            place=place,
            limit=artifact.LARGEST,
            patience=self._patience,
            waits=self._waits,
            netrc=False,
            connections=self._connections,
        )

    def _ask(self, repository: str, request: Request) -> Answer:
        return self._authorized(repository, request, http.send, lambda answer: answer)

    def _authorized(
        self,
        repository: str,
        request: Request,
        send: Callable[[Request], _Found],
        answer_of: Callable[[_Found], Answer],
    ) -> _Found:
        """Send a request, and once more with what the registry wants to know us by."""
        own = http.origin(request.url) == http.origin(self._address.url)
        outcome = send(replace(request, authorization=self._authorization.header(repository) if own else ""))
        if own and answer_of(outcome).status == 401 and self._authorization.accept(answer_of(outcome), repository):
            outcome = send(replace(request, authorization=self._authorization.header(repository)))
        return outcome


def _check(request: Request, answer: Answer, *statuses: int) -> None:
    if answer.status not in statuses:
        raise _refusal(request, answer)


def _refusal(request: Request, answer: Answer) -> UnavailableError:
    """Return the error to raise, with what the registry says of it."""
    if answer.status == 404 and request.method == "GET":
        return NotFoundError(Problem("not found", file=request.place))
    reason = _said(answer.body)
    if answer.status in (401, 403):
        host = urlsplit(request.url).netloc
        hint = f"log in with an account that may: docker login {host}"
        return request.denied(f"access denied (HTTP {answer.status}{reason})", hint)
    if reason and answer.status < 500 and answer.status != 429:
        return request.refusal(f"the registry refuses (HTTP {answer.status}{reason})", "see what the registry asks for")
    return request.unexpected(answer)


def _said(body: bytes) -> str:
    """Return the first message of an error (distribution specification, "Error Codes"), on one line, or nothing."""
    try:
        error = artifact.parse_json(body, what="")["errors"][0]
        message = error.get("message") or error.get("code")
        return f": {shown(on_one_line(message))}" if isinstance(message, str) else ""
    except (PackyardError, LookupError, TypeError, AttributeError):
        return ""


def _tags(body: bytes, place: str) -> Sequence[str]:
    tags = artifact.parse_json(body, what=place).get("tags")
    if tags is None:
        return []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise IntegrityError(Problem("the registry sent no list of tags", file=place))
    return tags
