"""A store that a web server or a public bucket serves: read-only, and only by key.

Bytes are taken as they are stored, whatever the server says about their encoding: some label a ``.tar.gz`` as gzip
*content encoding*, and a client that decodes it returns a tar with another digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import SplitResult, quote, unquote, urlsplit

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.store import PATIENCE, REMOVABLE, NotFoundError, ReadOnly, check_key
from packyard.sharing.stores.wire import may_have_secrets

if TYPE_CHECKING:
    from packyard.sharing.stores.transfer import Answer, Connections, Request


#: What buckets say, with HTTP 403, of an object that is not there to who may read their objects, and not list them.
_NOT_LISTED = b"<Code>AccessDenied</Code>"
_FIRST = f"{REMOVABLE}head.json"
#: No file of a channel that is read whole begins so; login pages, and servers that have a page for all paths, do.
_PAGE = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)
_LOGIN = "check the address; does a browser show a page to log in there?"


class HTTPStore(ReadOnly):
    """The store whose keys are the paths below an address. ``patience``: the seconds that a request may take.

    A user and password in the address are used, and never shown; without them, those of ``~/.netrc`` for the host,
    if that takes them over TLS, or is this machine; no redirection takes either to another host or port.
    """

    def __init__(self, address: str, *, patience: float = PATIENCE) -> None:
        parts = _split(address)
        host = parts.netloc.rpartition("@")[2]
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._credentials = (user, password) if user or password else None
        if self._credentials and not may_have_secrets(f"{parts.scheme}://{host}"):
            hint = "write https://, or put them into no address"
            raise InputError(Problem("a user and password need TLS, or a server on this machine", hint=hint))
        self.address = f"{parts.scheme}://{host}{parts.path.rstrip('/')}/"
        self._patience = patience

    def __repr__(self) -> str:
        return f"HTTPStore({self.address!r})"

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        from packyard.sharing.stores import transfer  # slow to import, and only needed here

        request = self._request(key, limit)
        answer = transfer.send(request)
        if answer.status != 200:
            raise self._refusal(request, key, answer)
        self._is_given = True
        if _PAGE.match(answer.body):
            raise request.refusal("the server sent a web page in place of a file of a channel", _LOGIN)
        return answer.body

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`. A server that knows no ranges sends all, and the rest is taken."""
        from packyard.sharing.stores import transfer

        request = self._request(key)
        answer, pieces = transfer.stream(request, offset=offset)
        if answer.status not in ((200, 206, 416) if offset else (200,)):
            raise self._refusal(request, key, answer)
        yield from pieces

    def _request(self, key: str, limit: int = LIMIT) -> Request:
        from packyard.sharing.stores import transfer

        check_key(key)
        return transfer.Request(
            url=self.address + quote(key),
            authorization=transfer.basic(*self._credentials) if self._credentials else "",
            place=self.address + key,
            limit=limit,
            patience=self._patience,
            connections=self._connections,
        )

    @cached_property
    def _connections(self) -> Connections:
        from packyard.sharing.stores import transfer

        return transfer.Connections()

    def _refusal(self, request: Request, key: str, answer: Answer) -> UnavailableError:
        if answer.status in (404, 410):
            return NotFoundError(Problem("not found", file=request.place))
        refusal = request.unexpected(answer)
        if answer.status == 403 and _NOT_LISTED in answer.body and key != _FIRST and self._is_given:
            problem = f"not found, or access denied (HTTP {answer.status})"
            return NotFoundError(refusal.problems[0]._replace(message=problem))
        return refusal

    @cached_property
    def _is_given(self) -> bool:
        """Whether the server gives us files at all."""
        from packyard.sharing.stores import transfer

        return transfer.send(self._request(_FIRST)).status == 200

    def list(self, prefix: str) -> Sequence[str]:  # noqa: ARG002
        """Refuse: HTTP has no listing; the index says what exists."""
        self.refuse()

    def refuse(self) -> NoReturn:
        """Say that HTTP is for reading."""
        hint = "name the directory or bucket that the server serves instead"
        raise UnavailableError(Problem("an HTTP channel is read-only", file=self.address, hint=hint))


def _split(address: str) -> SplitResult:
    """Split an address, or refuse it without showing it: it may hold a password."""
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and not (parts.query or parts.fragment) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(Problem("this must be the address of a channel", hint="write https://host/path"))
    return parts
