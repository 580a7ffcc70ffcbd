"""The requests of the OCI distribution specification 1.1 to one registry, each bounded, and what their answers mean."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, PackyardError, Problem, UnavailableError, on_one_line, shown
from packyard.sharing.stores import client as web
from packyard.sharing.stores.client import Answer, BrokenOffError, Request
from packyard.sharing.stores.network import may_have_secrets
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.login import Login
from packyard.sharing.stores.oci.manifest import INDEX_TYPE, MANIFEST_TYPE, Descriptor
from packyard.sharing.stores.store import DeniedError, NotFoundError, UnmadeStoreError, check_listed

_PAGE, _PAGES, _LONGEST_PAGE = 1000, 10_000, 32 * 1024 * 1024
_UPLOADS, _LISTINGS = 3, 20  # attempts
_SMALL = 64 * 1024
_AGAIN, _PAUSES = (400, 404, 409), (0.05, 0.2)  # seconds
_NOT_DELETED = (400, 403, 404, 405, 501)  # where tags, or manifests, cannot be deleted, or are not there
_NO_API = (400, 404, 405, 501)
_DENIED = (401, 403)
_Outcome = TypeVar("_Outcome")
_NEXT = re.compile(r'<([^<>]*)>\s*;[^<>]*?\brel="?next"?')


class HiddenError(UnmadeStoreError, DeniedError):
    """A registry refuses to show a repository: many do so where there is none yet, and take what is pushed to it."""


class Registry:
    """A registry, asked for the repositories below a path; ``tell`` hears which logins are of no use."""

    def __init__(
        self,
        address: Address,
        patience: float,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._address, self._client = address, web.Client(patience)
        self._login = Login(address, self._client, tell)
        self._has_api = True  # until it says that it keeps no lists of referrers

    def place(self, repository: str, reference: str = "") -> str:
        """Return what messages call a repository, or the manifest of a tag or digest in it."""
        mark = "" if not reference else "@" if ":" in reference else ":"
        return f"oci://{self._address.host}/{repository}{mark}{reference}"

    @cached_property
    def is_there(self) -> bool:
        """Whether this is a registry, whether or not it knows us."""
        return self._client.ask(self._request("GET", "", "")).status in (200, *_DENIED)

    # Manifests.

    def manifest(self, repository: str, reference: str) -> bytes | None:
        """Return the manifest of a tag or a digest, None if there is none; `HiddenError` if it is not shown."""
        request = self._request("GET", repository, f"manifests/{reference}", reference)
        answer = self._ask(repository, replace(request, headers={"Accept": manifests.ACCEPTED}))
        if answer.status == 404:
            return None
        _check(request, answer, 200)
        if ":" in reference:
            Digest.parse(reference).verify(answer.body, what=request.place)
        return answer.body

    def write_manifest(self, repository: str, reference: str, data: bytes, kind: str = MANIFEST_TYPE) -> Answer:
        """Write a manifest, or raise where it is not taken.

        Registries refuse some of those that write the same at the same moment: they try again.
        """
        request = self._request("PUT", repository, f"manifests/{reference}", reference)
        request = replace(request, headers={"Content-Type": kind}, body=data)
        for pause in (*_PAUSES, 0.0):
            answer = self._ask(repository, request)
            if answer.status not in _AGAIN:
                break
            time.sleep(random.uniform(pause / 2, pause))
        _check(request, answer, 201)
        return answer

    def delete(self, repository: str, reference: str) -> bool:
        """Delete what a tag, or a digest, names; return whether the registry lets that be done."""
        request = self._request("DELETE", repository, f"manifests/{reference}", reference)
        answer = self._ask(repository, request)
        if answer.status not in _NOT_DELETED:
            _check(request, answer, 200, 202, 204)
        return answer.status not in _NOT_DELETED

    # Referrers: the registry lists them, or, where it does not, a tag made of the subject's digest does.

    def referrers(self, repository: str, subject: Digest) -> list[Descriptor]:
        """Return what refers to a manifest."""
        answer = None
        if self._has_api:
            answer = self._ask(repository, self._request("GET", repository, f"referrers/{subject}", subject))
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
            there = manifests.parse_list(before, what=self.place(repository, tag)) if before else []
            if any(each.digest == new.digest for each in there):
                return
            self.write_manifest(repository, tag, manifests.compose_list([*there, new]), INDEX_TYPE)
        hint = "others write there all the time; try again later"
        raise UnavailableError(Problem(f"does not list {new.digest}", file=self.place(repository, tag), hint=hint))

    # Blobs.

    def blob(self, repository: str, layer: Descriptor) -> bytes:
        """Return a blob's bytes, or raise `NotFoundError`, `TooLongError`, or `IntegrityError` for other bytes."""
        request = replace(self._blob_request("GET", repository, layer.digest), limit=layer.size)
        answer = self._ask(repository, request)
        _check(request, answer, 200)
        layer.digest.verify(answer.body, what=request.place)
        if len(answer.body) != layer.size:
            problem = f"expected {layer.size} bytes, found {len(answer.body)}"
            raise IntegrityError(Problem(problem, file=request.place))
        return answer.body

    def pieces(self, repository: str, layer: Descriptor, offset: int) -> Iterator[bytes]:
        """Yield the bytes of a blob from an offset in it, unverified, but as many as it is said to have."""
        if offset >= layer.size:
            return
        request = self._blob_request("GET", repository, layer.digest)
        send = partial(self._client.stream, offset=offset, size=layer.size)
        answer, pieces = self._authorized(repository, request, send, lambda outcome: outcome[0])
        _check(request, answer, 200, 206)
        for piece in pieces:
            offset += len(piece)
            if offset > layer.size:
                raise IntegrityError(Problem(f"expected {layer.size} bytes, found more", file=request.place))
            yield piece
        if offset != layer.size:
            raise IntegrityError(Problem(f"expected {layer.size} bytes, found {offset}", file=request.place))

    def upload(self, repository: str, data: bytes) -> None:
        """Make sure that there is a blob with these bytes."""
        digest = Digest.of(data)
        for left in reversed(range(_UPLOADS)):
            looks = len(data) > _SMALL or left < _UPLOADS - 1  # to send little again is quicker than to look
            if looks and self._ask(repository, self._blob_request("HEAD", repository, digest)).status == 200:
                return
            try:
                request, answer = self._upload(repository, digest, data)
            except BrokenOffError:
                if not left:
                    raise
            else:
                if answer.status == 201:  # also at once, where it has the blob in another repository
                    return
                if not left or answer.status in (*_DENIED, 413):
                    raise _refusal(request, answer)

    def _upload(self, repository: str, digest: Digest, data: bytes) -> tuple[Request, Answer]:
        begin = self._request("POST", repository, f"blobs/uploads/?mount={digest}", digest)
        answer = self._ask(repository, begin)
        if answer.status != 202:
            return begin, answer
        location = web.target(begin, answer.url, answer.headers.get("location", ""))
        if may_have_secrets(begin.url) and not may_have_secrets(location):
            raise begin.refusal("the registry wants the bytes where they cannot be sent safely")
        url = f"{location}{'&' if '?' in location else '?'}{urlencode({'digest': digest})}"
        headers = {"Content-Type": "application/octet-stream"}
        request = replace(begin, method="PUT", url=url, headers=headers, body=data)
        return request, self._ask(repository, request)

    # Tags.

    def tags(self, repository: str) -> Sequence[str]:
        """Return all tags of a repository; none if there is no such repository, `HiddenError` if it is not shown."""
        request = replace(self._request("GET", repository, f"tags/list?n={_PAGE}"), limit=_LONGEST_PAGE)
        tags: dict[str, None] = {}
        for _ in range(_PAGES):
            answer = self._ask(repository, request)
            if answer.status == 404:
                break
            if answer.status == 400 and request.url.endswith(f"?n={_PAGE}"):  # too many for it at once
                request = replace(request, url=request.url.partition("?")[0])
                continue
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
            url = web.target(request, answer.url, link[1])
            if web.origin(url) != web.origin(request.url):
                raise request.refusal("the registry has the next page of tags on another server")
            return url
        if len(page) != _PAGE:
            return None
        return f"{request.url.partition('?')[0]}?{urlencode({'n': _PAGE, 'last': page[-1]})}"

    # Requests.

    def _blob_request(self, method: str, repository: str, digest: Digest) -> Request:
        return self._request(method, repository, f"blobs/{digest}", digest)

    def _request(self, method: str, repository: str, path: str, reference: str = "") -> Request:
        return Request(
            method=method,
            url=f"{self._address.url}/v2/" + (f"{quote(repository)}/{path}" if repository else ""),
            place=self.place(repository, reference),
            limit=manifests.LARGEST,
        )

    def _ask(self, repository: str, request: Request) -> Answer:
        return self._authorized(repository, request, self._client.ask, lambda answer: answer)

    def _authorized(
        self,
        repository: str,
        request: Request,
        send: Callable[[Request], _Outcome],
        answer_of: Callable[[_Outcome], Answer],
    ) -> _Outcome:
        """Send a request, and again with what the registry wants to know us by, one login after another."""
        if web.origin(request.url) != web.origin(self._address.url):
            return send(request)
        sent = self._login.header(repository)
        outcome = send(replace(request, authorization=sent))
        if answer_of(outcome).status == 401:
            refused = _DENIED if request.method in ("GET", "HEAD") else (401,)
            for authorization in self._login.headers(answer_of(outcome), repository, sent):
                outcome = send(replace(request, authorization=authorization))
                if answer_of(outcome).status not in refused:
                    break
        return outcome


def _tag(subject: Digest) -> str:
    """Return the tag that lists what refers to a manifest ("Referrers Tag Schema")."""
    return subject.replace(":", "-")


def _check(request: Request, answer: Answer, *statuses: int) -> None:
    if answer.status not in statuses:
        raise _refusal(request, answer)


def _refusal(request: Request, answer: Answer) -> UnavailableError:
    """Return the error to raise, with what the registry says of it."""
    reason = _said(answer.body)
    if answer.status in _DENIED:
        hint = f"log in with an account that may: docker login {urlsplit(request.url).netloc}"
        kind = HiddenError if request.method == "GET" else DeniedError
        return kind(Problem(f"access denied (HTTP {answer.status}{reason})", file=request.place, hint=hint))
    if answer.status == 404 and request.method == "GET":
        return NotFoundError(Problem("not found", file=request.place))
    if reason and answer.status < 500 and answer.status != 429:
        return request.refusal(f"the registry refuses (HTTP {answer.status}{reason})", "see what the registry asks for")
    return answer.unexpected()


def _said(body: bytes) -> str:
    """Return the first message of an error (distribution specification, "Error Codes"), on one line, or nothing."""
    try:
        error = manifests.parse_json(body, what="")["errors"][0]
        message = error.get("message") or error.get("code")
        return f": {shown(on_one_line(message))}" if isinstance(message, str) else ""
    except (PackyardError, LookupError, TypeError, AttributeError):
        return ""


def _tags(body: bytes, place: str) -> Sequence[str]:
    tags = manifests.parse_json(body, what=place).get("tags")
    if tags is None:
        return []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise IntegrityError(Problem("the registry sent no list of tags", file=place))
    return tags
