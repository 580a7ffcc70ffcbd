"""Web servers: the one way to ask them, within bounds, and the channel that one serves, read-only and by key.

1. A request ends after so many seconds and so many bytes, whatever the server does: a `_Bound` times and counts each
   read of a connection, that of status lines, headers, ``100 Continue``, chunk headers and trailers too. It runs in a
   thread, as look-ups of names and handshakes of TLS cannot be bounded otherwise.
2. Redirections are followed here: none leads from https to http, and no other server gets the credentials.
3. What is safe to repeat is repeated a few times where the server is busy or the connection breaks off.
4. Bytes are taken as they are stored, whatever the server says about their encoding: some label a ``.tar.gz`` as gzip
   *content encoding*, and a client that decodes it returns a tar with another digest.
"""

from __future__ import annotations

import http.client
import io
import random
import re
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NoReturn
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.store import (
    FOLDER,
    PATIENCE,
    DeniedError,
    NotFoundError,
    ReadOnly,
    check_key,
    too_long,
)
from packyard.sharing.stores.wire import LOOK, OverdueError, authorities, late, may_have_secrets, within

WAITS = (0.1, 0.3, 1.0)  # seconds before each repetition, unless the server says how long
_CONNECT = 10.0  # seconds
_CONNECTIONS, _REDIRECTIONS = 32, 10
_PIECE = 64 * 1024  # bytes that are read at a time, and of what a server says of an error
_FRAME, _FRAME_SHARE = 256 * 1024, 1 / 16  # bytes beside the body: at most so many, and for each of the body

_LONGEST_DATE = 40  # characters
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = ("GET", "HEAD", "PUT", "DELETE")  # to repeat: twice has the effect of once
_TOO_MANY, _PROXY_WANTS = 429, 407
_BUSY = (_TOO_MANY, 500, 502, 503, 504)
_MOVED_AS_IT_IS = (307, 308)  # with the same method and body
_MOVED = (301, 302, 303, *_MOVED_AS_IT_IS)

_EARLY = "the server closed the connection early"
_WHO = "is the address right? A user and password go into ~/.netrc, for the machine"
_PROXY = "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, then run again"
_TRUST = "check its address; REQUESTS_CA_BUNDLE=FILE names the authorities to trust, those of a company too"
_CLOCK = "is the clock of this machine right? See: date; otherwise its certificate has to be renewed"
_NOT_NOW = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
#: What failed, in our words: the libraries' messages may show the address with its password. And what to check.
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str, str], ...] = (
    ((requests.exceptions.ProxyError,), "the proxy cannot be reached, or refuses", _PROXY),
    ((requests.exceptions.InvalidProxyURL,), "the address of the proxy is invalid", _PROXY),
    ((ConnectionRefusedError, socket.gaierror), "the server cannot be reached", LOOK),
    ((TimeoutError, urllib3.exceptions.TimeoutError), "the server did not answer in time", LOOK),
    ((ssl.SSLCertVerificationError,), "the server's certificate is not trusted", _TRUST),
    ((ssl.SSLError,), "the server speaks no TLS, or TLS failed", LOOK),
    ((ConnectionError, http.client.IncompleteRead), _EARLY, LOOK),
    ((http.client.HTTPException, ValueError), "the server sent an invalid response", LOOK),
    ((OSError,), "the server cannot be reached", LOOK),
)


class BrokenOffError(UnavailableError):
    """A transfer ended before its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last answer of a server, from the address ``url``; the names of its headers are in lower case.

    The body of an answer that is no success is what the server says of it, if that is short, or empty.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A method and an address, its credentials apart; what messages call it; and the bounds.

    ``authorization`` is the value of that header, for the server of the address alone; where there is none, and
    ``netrc`` says so, a server gets what ``~/.netrc`` has for it. ``repeatable``: whether the request may be sent
    again, after each of ``waits``; by default that depends on the method. ``connections``: those to use, and to keep.
    """

    url: str
    place: str
    limit: int
    patience: float
    waits: Sequence[float] = WAITS
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    authorization: str = field(default="", repr=False)
    netrc: bool = True
    repeatable: bool | None = None
    connections: Connections = field(default_factory=lambda: Connections(), repr=False, compare=False)

    def refusal(self, message: str, hint: str = LOOK) -> UnavailableError:
        """Return the error to raise."""
        return UnavailableError(Problem(message, file=self.place, hint=hint))

    def denied(self, message: str, hint: str) -> DeniedError:
        """Return the error to raise where the server answers, and refuses."""
        return DeniedError(Problem(message, file=self.place, hint=hint))

    def broken_off(self, message: str = _EARLY) -> BrokenOffError:
        """Return the error to raise where less arrives than was announced."""
        return BrokenOffError(Problem(message, file=self.place, hint="run again"))

    def unexpected(self, answer: Answer) -> UnavailableError:
        """Return the error to raise for an answer that is no success."""
        if answer.status in (401, 403):
            hint = "check user and password" if self.authorization else f"{_WHO} {urlsplit(self.url).hostname}"
            return self.denied(f"access denied (HTTP {answer.status})", hint)
        if answer.status == _PROXY_WANTS:
            return self.denied(f"the proxy wants a user and password (HTTP {answer.status})", _PROXY)
        if answer.status in (_TOO_MANY, 503):
            seconds = answer.headers.get("retry-after", "")
            wait = f" in {seconds} seconds" if seconds.isdecimal() else " later"
            return self.refusal(f"the server is busy (HTTP {answer.status})", f"try again{wait}")
        hint = "check the address" if 300 <= answer.status < 500 else "try again later"
        return self.refusal(f"the server answers HTTP {answer.status}", hint)


def send(request: Request) -> Answer:
    """Send the request, follow redirections, and return the answer with its body, or raise `UnavailableError`."""
    return _repeated(request, _whole)[0]


def stream(request: Request, *, offset: int = 0, size: int | None = None) -> tuple[Answer, Iterator[bytes]]:
    """Send the request, and return the answer and the pieces of its body from an offset, however long it is.

    ``size`` is that of the whole, if it is known: some servers know no open ranges. Where the transfer breaks off, the
    iterator raises `BrokenOffError`. An answer other than 200 or 206 has no pieces.
    """
    if offset:
        wanted = f"bytes={offset}-{'' if size is None else size - 1}"
        request = replace(request, headers={**request.headers, "Range": wanted})
    return _repeated(request, partial(_streamed, offset=offset))


def basic(user: str, password: str) -> str:
    """Return the authorization of a user by a password."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return what says which server an address is of: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


def target(request: Request, url: str, location: str) -> str:
    """Return the address that a server names in an answer from ``url``, without user and password."""
    try:
        parts = urlsplit(urljoin(url, location.encode("latin-1").decode()))
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise request.refusal("the server sent an invalid Location") from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise request.refusal("the server redirects to something that is not a web address")
    if url.startswith("https:") and parts.scheme != "https":
        raise request.refusal("the server redirects from https to http", "ask whoever runs it for an https address")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


# The bounds of one request.


class _Bound:
    """The deadline of a request with its repetitions, and the bytes that one answer may still have."""

    def __init__(self, request: Request) -> None:
        self.request, self.end, self.bytes = request, time.monotonic() + request.patience, 0

    def seconds(self) -> float:
        """Return the seconds that are left, or raise."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise late(self.request.place, self.request.patience)
        return left

    def count(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise self.request.refusal("the server sends too many bytes of headers or chunk headers")


class _Received(io.RawIOBase):
    """The bytes that a connection receives, timed and counted."""

    def __init__(self, connection: Any, bound: _Bound) -> None:
        self.connection, self.raw, self.bound = connection, connection.makefile("rb", buffering=0), bound

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.connection.settimeout(self.bound.seconds())
        try:
            count: int = self.connection.recv_into(buffer)
        except TimeoutError:
            self.bound.seconds()
            raise
        self.bound.count(count)
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, connection: Any, *arguments: Any, bound: _Bound, **named: Any) -> None:
        super().__init__(connection, *arguments, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Received(connection, bound))


class Connections(HTTPAdapter):
    """Connects as `requests` does, through proxies too, and keeps connections; each request reads within its bound.

    Any number of threads may use it, each for one request at a time.
    """

    def __init__(self) -> None:
        super().__init__(pool_maxsize=_CONNECTIONS)
        self.session = requests.Session()
        self._current = threading.local()

    def ask(self, prepared: requests.PreparedRequest, bound: _Bound, settings: dict[str, Any]) -> requests.Response:
        """Send a request; what comes back, also after this, is read within the bound."""
        self._current.bound, bound.bytes = bound, _FRAME + 2 * _PIECE
        left = bound.seconds()
        return self.send(prepared, timeout=(min(_CONNECT, left), left), **settings)

    def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
        """Return a pool whose connections read within the bound of the thread's request."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **named)
        if not isinstance(pool.ConnectionCls, partial):
            pool.ConnectionCls = partial(self._connect, pool.ConnectionCls)
        return pool

    def _connect(self, connect: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        connection = connect(*arguments, **named)
        connection.response_class = lambda *own, **more: _Response(*own, bound=self._current.bound, **more)
        return connection


# One request, its redirections and its repetitions.

_Outcome = tuple[Answer, Iterator[bytes]]


def _repeated(request: Request, call: Callable[[Request, _Bound], _Outcome]) -> _Outcome:
    """Make a call, and make it again where that is safe and may help."""
    bound = _Bound(request)
    safe = request.method in _SAFE if request.repeatable is None else request.repeatable
    for wait in request.waits:
        pause = wait * random.uniform(1, 1.5)
        try:
            answer, pieces = _in_time(bound, call)
        except BrokenOffError:
            if not safe or bound.end - time.monotonic() < 2 * pause:
                raise
        else:
            if answer.status not in _BUSY or not (safe or answer.status == _TOO_MANY):
                return answer, pieces
            pause = max(pause, _retry_after(answer))
            if bound.end - time.monotonic() < pause + min(pause, 1.0):
                return answer, pieces
        time.sleep(pause)
    return _in_time(bound, call)


def _in_time(bound: _Bound, call: Callable[[Request, _Bound], _Outcome]) -> _Outcome:
    try:
        return within(bound.seconds(), partial(call, bound.request, bound))
    except OverdueError as error:
        raise late(bound.request.place, bound.request.patience) from error


def _retry_after(answer: Answer) -> float:
    """Return the seconds that a busy server asks to wait, 0 where it asks for nothing that can be read."""
    text = answer.headers.get("retry-after", "")
    try:
        return float(urllib3.Retry().parse_retry_after(text)) if len(text) < _LONGEST_DATE else 0.0
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return 0.0


def _whole(request: Request, bound: _Bound) -> _Outcome:
    with _opened(request, bound) as (answer, response):
        if request.method == "HEAD":
            return answer, iter(())
        expected, success = _length(request, answer), 200 <= answer.status < 300
        limit = request.limit if success else _PIECE
        if not success and (expected is None or expected > limit):
            return answer, iter(())
        if (expected or 0) > limit:
            raise too_long(request.place, limit)
        body = io.BytesIO()
        for piece in _pieces(request, answer, response, bound):
            body.write(piece)
            if body.tell() > limit:
                raise too_long(request.place, limit)
        return replace(answer, body=body.getvalue()), iter(())


def _streamed(request: Request, bound: _Bound, *, offset: int) -> _Outcome:
    stack = ExitStack()
    answer, response = stack.enter_context(_opened(request, bound))
    if answer.status not in (200, 206):
        stack.close()
        return answer, iter(())
    if answer.status == 206 and not answer.headers.get("content-range", "").startswith(f"bytes {offset}-"):
        stack.close()
        raise request.refusal("the server sent another part than the one that was asked for")

    def pieces() -> Iterator[bytes]:
        skip = offset if answer.status == 200 else 0
        with stack:
            for piece in _pieces(request, answer, response, bound):
                if skip < len(piece):
                    yield piece[skip:]
                skip = max(0, skip - len(piece))

    return answer, pieces()


def _pieces(request: Request, answer: Answer, response: requests.Response, bound: _Bound) -> Iterator[bytes]:
    """Yield the body piece by piece as it was sent, without decoding it."""
    expected, arrived = _length(request, answer), 0
    while piece := response.raw.read(_PIECE, decode_content=False):
        arrived += len(piece)
        bound.bytes += int(len(piece) * (1 + _FRAME_SHARE))
        yield piece
    if expected not in (None, arrived):
        raise request.broken_off(f"{arrived} of {expected} bytes arrived")


def _length(request: Request, answer: Answer) -> int | None:
    """Return how many bytes the server announces."""
    length = answer.headers.get("content-length")
    sizes = set() if length is None else {part.strip() for part in length.split(",")}
    if len(sizes) > 1 or any(not size.isascii() or not size.isdecimal() or len(size) > 19 for size in sizes):
        raise request.refusal("the server sent an invalid Content-Length")
    return int(sizes.pop()) if sizes else None


@contextmanager
def _opened(request: Request, bound: _Bound) -> Iterator[tuple[Answer, requests.Response]]:
    """Send the request and follow redirections; the body of the last answer can be read until the block ends."""
    url, safe, authorization = request.url, request.method in ("GET", "HEAD"), request.authorization
    for _ in range(_REDIRECTIONS + 1):
        with _asked(request, bound, url, authorization) as response:
            location = response.headers.get("Location") if response.status_code in _MOVED else None
            if location is None or not (safe or response.status_code in _MOVED_AS_IT_IS):
                headers = {name.lower(): value for name, value in response.headers.items()}
                yield Answer(status=response.status_code, url=url, headers=headers), response
                return
        following = target(request, url, location)
        if origin(following) != origin(url):
            authorization = ""
            if not safe:
                raise request.refusal("the server redirects a change to another server")
        url = following
    raise request.refusal(f"the server redirects more than {_REDIRECTIONS} times", "check the address")


@contextmanager
def _asked(request: Request, bound: _Bound, url: str, authorization: str) -> Iterator[requests.Response]:
    """Send one request; the body of the answer can be read until the block ends."""
    headers = {"Accept-Encoding": "identity", **request.headers}
    if authorization:
        headers["Authorization"] = authorization
    is_there = origin(url) == origin(request.url) and may_have_secrets(url)
    netrc = request.netrc and not authorization and is_there
    auth = None if netrc else lambda prepared: prepared  # any callable keeps requests from ~/.netrc
    session, trusted = request.connections.session, authorities() if url.startswith("https:") else None
    try:
        own = requests.Request(request.method, url, headers=headers, auth=auth, data=request.body or None)
        prepared = session.prepare_request(own)
        settings: Any = session.merge_environment_settings(url, {}, True, trusted, None)
    except Exception as error:  # of requests, urllib3 and idna for an address: they share no base
        raise request.refusal("the request cannot be made", "check the address") from error
    try:
        with request.connections.ask(prepared, bound, settings) as response:
            yield response
    except PackyardError:
        raise
    except Exception as error:  # the libraries raise many kinds for what a server sends
        reason, hint = _reason(error)
        raise (request.broken_off() if reason == _EARLY else request.refusal(reason, hint)) from error


def _reason(error: Exception) -> tuple[str, str]:
    """Say what failed, and what to check."""
    causes = list(_causes(error))
    for kinds, reason, hint in _REASONS:
        cause = next((cause for cause in causes if isinstance(cause, kinds)), None)
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason += f": {cause.verify_message.rstrip('.')}" if cause.verify_message else ""
            hint = _CLOCK if cause.verify_code in _NOT_NOW else hint
        if cause is not None:
            return reason, hint
    return f"the transfer failed ({type(error).__name__})", LOOK


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


# The store.

#: What buckets say, with HTTP 403, of a missing object to who may read their objects, and not list them.
_NOT_LISTED = b"<Code>AccessDenied</Code>"
_FIRST = f"{FOLDER}index.json"
#: No file of a channel that is read whole begins so; login pages, and servers that have a page for all paths, do.
_PAGE = re.compile(rb"\s*<(!doctype html\b|html\b|!--)", re.IGNORECASE)
#: What each JSON file of a channel, or of a tool that signs, says of itself.
_SELF = re.compile(rb'"(apiVersion|payloadType|mediaType|spdxVersion|_type)"')
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
        self._patience, self._connections = patience, Connections()

    def __repr__(self) -> str:
        return f"HTTPStore({self.address!r})"

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        request = self._request(key, limit)
        answer = send(request)
        if answer.status != 200:
            raise self._refusal(request, key, answer)
        is_other = key.endswith(".json") and key != _FIRST and not _SELF.search(answer.body)
        if _PAGE.match(answer.body) or is_other:
            problem = "the server sent something else in place of a file of a channel"
            if key != _FIRST and self._is_given:  # its answer for all that is missing
                raise NotFoundError(Problem(f"not found: {problem}", file=request.place))
            raise request.refusal(problem, _LOGIN)
        self._is_given = True
        return answer.body

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`. A server that knows no ranges sends all, and the rest is taken."""
        request = self._request(key)
        answer, pieces = stream(request, offset=offset)
        if answer.status not in ((200, 206, 416) if offset else (200,)):
            raise self._refusal(request, key, answer)
        yield from pieces

    def _request(self, key: str, limit: int = LIMIT) -> Request:
        check_key(key)
        return Request(
            url=self.address + quote(key),
            authorization=basic(*self._credentials) if self._credentials else "",
            place=self.address + key,
            headers={"Cache-Control": "no-cache"} if key == _FIRST else {},
            limit=limit,
            patience=self._patience,
            connections=self._connections,
        )

    def _refusal(self, request: Request, key: str, answer: Answer) -> UnavailableError:
        if answer.status in (404, 410):
            return NotFoundError(Problem("not found", file=request.place))
        refusal = request.unexpected(answer)
        is_missing = _NOT_LISTED in answer.body or key.endswith(".json")
        if answer.status == 403 and is_missing and key != _FIRST and self._is_given:
            problem = f"not found, or access denied (HTTP {answer.status})"
            return NotFoundError(refusal.problems[0]._replace(message=problem))
        return refusal

    @cached_property
    def _is_given(self) -> bool:
        """Whether the server gives us files at all."""
        answer = send(self._request(_FIRST))
        return answer.status == 200 and not _PAGE.match(answer.body)

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
