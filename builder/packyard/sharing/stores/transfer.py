"""The one way to a web server: a request ends after so many seconds and so many bytes, whatever the server does.

A `Meter` counts and times everything that is read. The request runs in a thread that the caller waits for no longer
than the patience allows: name lookups cannot be interrupted otherwise. Redirections are followed here, their bodies are
not read, and no other server gets the credentials. What is safe to repeat is repeated a few times where the server is
busy or the connection breaks off.
"""

from __future__ import annotations

import http.client
import io
import random
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.sharing.stores.meter import CHUNK, WINDOW, Meter
from packyard.sharing.stores.meter import Connections as Connections
from packyard.sharing.stores.store import DeniedError, too_long
from packyard.sharing.stores.wire import LOOK, OverdueError, authorities, late, may_have_secrets, within

_REDIRECTIONS = 10
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = ("GET", "HEAD", "PUT", "DELETE")  # to repeat: twice has the effect of once
_TOO_MANY, _PROXY_WANTS = 429, 407
_BUSY = (_TOO_MANY, 500, 502, 503, 504)
_MOVED_AS_IT_IS = (307, 308)  # with the same method and body
_MOVED = (301, 302, 303, *_MOVED_AS_IT_IS)
WAITS = (0.1, 0.3, 1.0)  # seconds before each repetition, unless the server says how long
_MESSAGE = 64 * 1024  # bytes of what a server says of an error

_EARLY = "the server closed the connection early"
_INVALID = "the server sent an invalid response"
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
    ((TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError), "the server did not answer in time", LOOK),
    ((ssl.SSLCertVerificationError,), "the server's certificate is not trusted", _TRUST),
    ((ssl.SSLError, requests.exceptions.SSLError), "the server speaks no TLS, or TLS failed", LOOK),
    ((ConnectionError, http.client.IncompleteRead), _EARLY, LOOK),
    ((http.client.HTTPException, requests.exceptions.InvalidHeader, ValueError), _INVALID, LOOK),
    ((OSError,), "the server cannot be reached", LOOK),
)

_Found = tuple["Answer", Iterator[bytes]]


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
    again, after each of ``waits``; by default that depends on the method. ``window``: see `Meter`. ``connections``:
    those to use, and to keep.
    """

    url: str
    place: str
    limit: int
    patience: float
    window: float = WINDOW
    waits: Sequence[float] = WAITS
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    authorization: str = field(default="", repr=False)
    netrc: bool = True
    repeatable: bool | None = None
    connections: Connections = field(default_factory=Connections, repr=False, compare=False)

    def refusal(self, message: str, hint: str = LOOK) -> UnavailableError:
        """Return the error to raise."""
        return UnavailableError(Problem(message, file=self.place, hint=hint))

    def denied(self, message: str, hint: str) -> DeniedError:
        """Return the error to raise where the server answers, and refuses."""
        return DeniedError(Problem(message, file=self.place, hint=hint))

    def broken_off(self, message: str = _EARLY) -> BrokenOffError:
        """Return the error to raise where less arrives than was announced."""
        return BrokenOffError(Problem(message, file=self.place, hint="run again"))

    def late(self) -> UnavailableError:
        """Return the error to raise when time is up."""
        return late(self.place, self.patience)

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
        request = replace(
            request, headers={**request.headers, "Range": f"bytes={offset}-{'' if size is None else size - 1}"}
        )
    return _repeated(request, partial(_streamed, offset=offset))


def basic(user: str, password: str) -> str:
    """Return the authorization of a user by a password."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return what says which server an address is of: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _repeated(request: Request, call: Callable[[Request, Meter], _Found]) -> _Found:
    """Make a call, and make it again where that is safe and may help."""
    meter = Meter(request.patience, request.refusal, request.late, request.window)
    safe = request.method in _SAFE if request.repeatable is None else request.repeatable
    for wait in (*request.waits, None):
        pause = None if wait is None else wait * random.uniform(1, 1.5)
        try:
            result = within(meter.left(), partial(call, request, meter))
        except OverdueError as error:
            raise request.late() from error
        except BrokenOffError:
            if not safe or pause is None or not _has_time(meter, pause):
                raise
        else:
            answer = result[0]
            if answer.status not in _BUSY or pause is None or not (safe or answer.status == _TOO_MANY):
                return result
            pause = _retry_after(answer, pause)
            if not _has_time(meter, pause):
                return result
        time.sleep(pause)
    raise AssertionError("the last time returns or raises")


def _has_time(meter: Meter, pause: float) -> bool:
    """Return whether the deadline allows a pause and a request after it."""
    return pause + min(pause, 1.0) <= meter.left()


def _retry_after(answer: Answer, pause: float) -> float:
    """Return the seconds that a busy server asks to wait, or the pause that we choose."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return max(int(text), pause)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), pause)
    except (ValueError, TypeError, OverflowError, IndexError):  # from the standard library, for odd dates
        return pause


def _whole(request: Request, meter: Meter) -> _Found:
    with _opened(request, meter) as (answer, response):
        return replace(answer, body=_body(request, answer, response, meter)), iter(())


def _streamed(request: Request, meter: Meter, *, offset: int) -> _Found:
    connection = ExitStack()
    answer, response = connection.enter_context(_opened(request, meter))
    if answer.status in (200, 206):
        skip = 0 if answer.status == 206 else offset
        if answer.status == 206 and not answer.headers.get("content-range", "").startswith(f"bytes {offset}-"):
            connection.close()
            raise request.refusal("the server sent another part than the one that was asked for")
        return answer, _pieces(request, answer, response, meter, connection, skip)
    connection.close()
    return answer, iter(())


def _pieces(
    request: Request, answer: Answer, response: requests.Response, meter: Meter, connection: ExitStack, skip: int
) -> Iterator[bytes]:
    """Yield the body in pieces but for its first bytes, and close the connection."""
    expected, arrived = _length(request, answer), 0
    with connection:
        while chunk := response.raw.read(CHUNK, decode_content=False):
            meter.allow(len(chunk))
            arrived += len(chunk)
            if skip < len(chunk):
                yield chunk[skip:]
            skip = max(0, skip - len(chunk))
        if expected not in (None, arrived):
            raise request.broken_off(f"{arrived} of {expected} bytes arrived")


@contextmanager
def _opened(request: Request, meter: Meter) -> Iterator[tuple[Answer, requests.Response]]:
    """Send the request and follow redirections; the body of the last answer can be read until the block ends."""
    url, safe, authorization = request.url, request.method in ("GET", "HEAD"), request.authorization
    for _ in range(_REDIRECTIONS + 1):
        with _asked(request, meter, url, authorization) as response:
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
def _asked(request: Request, meter: Meter, url: str, authorization: str) -> Iterator[requests.Response]:
    """Send one request; the body of the answer can be read until the block ends."""
    headers = {"Accept-Encoding": "identity", **request.headers}
    if authorization:
        headers["Authorization"] = authorization
    is_there = origin(url) == origin(request.url) and may_have_secrets(url)
    netrc = request.netrc and not authorization and is_there
    auth = None if netrc else lambda prepared: prepared  # any callable keeps requests from ~/.netrc
    session = request.connections.session
    try:
        data = meter.sending(request.body) if request.body else None
        unprepared = requests.Request(request.method, url, headers=headers, auth=auth, data=data)
        prepared = session.prepare_request(unprepared)
        settings: Any = session.merge_environment_settings(url, {}, True, authorities(), None)
    except Exception as error:  # of requests, urllib3 and idna for an address: they share no base
        raise request.refusal("the request cannot be made", "check the address") from error
    try:
        with request.connections.ask(prepared, meter, settings) as response:
            yield response
    except PackyardError:
        raise
    except Exception as error:  # the libraries raise many kinds for what a server sends
        reason, hint = _reason(error)
        raise (request.broken_off() if reason == _EARLY else request.refusal(reason, hint)) from error


def _body(request: Request, answer: Answer, response: requests.Response, meter: Meter) -> bytes:
    """Return the body as it was sent, without decoding it."""
    if request.method == "HEAD":
        return response.raw.read() or b""  # nothing; the connection may be kept
    expected, success = _length(request, answer), 200 <= answer.status < 300
    if not success and (expected is None or expected > _MESSAGE):
        return b""
    limit = request.limit if success else _MESSAGE
    body = io.BytesIO()
    while (expected or 0) <= limit and (chunk := response.raw.read(CHUNK, decode_content=False)):
        body.write(chunk)
        meter.allow(len(chunk))
        if body.tell() > limit:
            break
    if max(body.tell(), expected or 0) > limit:
        raise too_long(request.place, limit)
    if expected not in (None, body.tell()):
        raise request.broken_off(f"{body.tell()} of {expected} bytes arrived")
    return body.getvalue()


def _length(request: Request, answer: Answer) -> int | None:
    """Return how many bytes the server announces."""
    length = answer.headers.get("content-length")
    sizes = set() if length is None else {part.strip() for part in length.split(",")}
    if len(sizes) > 1 or any(not size.isascii() or not size.isdecimal() or len(size) > 19 for size in sizes):
        raise request.refusal("the server sent an invalid Content-Length")
    return int(sizes.pop()) if sizes else None


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
