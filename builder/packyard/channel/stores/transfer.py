"""One GET request over HTTP that ends after so many seconds and so many bytes, whatever the server does.

A `_Meter` counts and times everything that is read from the connection: status lines, headers, ``100 Continue``, chunk
headers, trailers and the body. The request runs in a thread that the caller waits for no longer than the patience
allows: name lookups cannot be interrupted otherwise. Redirections are followed here, and their bodies are not read.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OverdueError
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from packyard.channel.stores.store import TooLongError
from packyard.errors import PackyardError, Problem, UnavailableError

_CHUNK = 64 * 1024
_CONNECT = 10.0  # seconds
_SPEED, _WINDOW = 1000, 30.0  # bytes a second at least, in each so many seconds
_REDIRECTIONS = 10
_LOOK = "check the address and the network, then run again"
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Bytes beside the body: of status lines, headers and trailers; and of chunk headers, for each byte of the body.
_FRAME, _FRAME_SHARE = 256 * 1024, 1 / 16

#: What failed, in our words: the libraries' messages may show the address with its password.
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((ConnectionRefusedError, socket.gaierror), "the server cannot be reached"),
    ((TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError), "the server did not answer in time"),
    ((ssl.SSLError, requests.exceptions.SSLError), "the server's certificate is not trusted, or TLS failed"),
    ((requests.exceptions.ProxyError,), "the proxy cannot be reached, or refuses"),
    ((ConnectionError, http.client.IncompleteRead), "the server closed the connection early"),
    ((http.client.HTTPException, requests.exceptions.InvalidHeader, ValueError), "the server sent an invalid response"),
    ((OSError,), "the server cannot be reached"),
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last answer of a server; its body is only read if the status is 200."""

    status: int
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An address, its credentials apart; what messages call it; and the bounds."""

    url: str
    credentials: tuple[str, str] | None = field(repr=False)
    place: str
    limit: int
    patience: float

    def refusal(self, message: str, hint: str = _LOOK) -> UnavailableError:
        """Return the error to raise."""
        return UnavailableError(Problem(message, file=self.place, hint=hint))

    def late(self) -> UnavailableError:
        """Return the error to raise when time is up."""
        hint = "try again later, or set PACKYARD_TIMEOUT to more seconds"
        return self.refusal(f"the server did not answer in time ({self.patience:g} seconds)", hint)


def get(request: Request) -> Answer:
    """Send the request, follow redirections, and return the answer, or raise `UnavailableError`."""
    try:
        return _within(request.patience, partial(_follow, request))
    except OverdueError as error:
        raise request.late() from error


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    """Run a call in a thread, and return its result, or raise `OverdueError` when the time is up."""
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result(seconds)


def _follow(request: Request) -> Answer:
    meter = _Meter(request)
    url, credentials = request.url, request.credentials
    for _ in range(_REDIRECTIONS + 1):
        answer = _ask(request, meter, url, credentials)
        if isinstance(answer, Answer):
            return answer
        target = _target(request, url, answer)
        if _origin(urlsplit(target)) != _origin(urlsplit(url)):
            credentials = None
        url = target
    raise request.refusal(f"the server redirects more than {_REDIRECTIONS} times", "check the address")


def _ask(request: Request, meter: _Meter, url: str, credentials: tuple[str, str] | None) -> Answer | str:
    """Send one request, and return the answer, or the target of a redirection."""
    with requests.Session() as session, _Adapter(meter) as adapter:
        auth: Any = tuple(text.encode() for text in credentials) if credentials else None
        try:
            asked = requests.Request("GET", url, headers={"Accept-Encoding": "identity"}, auth=auth)
            prepared = session.prepare_request(asked)  # without credentials, those of ~/.netrc
            settings: Any = session.merge_environment_settings(url, {}, True, None, None)
        except Exception as error:
            raise request.refusal("the request cannot be made", "check the address") from error
        meter.begin()
        try:
            with adapter.send(prepared, timeout=meter.timeouts(), **settings) as response:
                if target := session.get_redirect_target(response):
                    return target
                if response.status_code != 200:
                    return Answer(status=response.status_code)
                return Answer(status=200, body=_body(request, response, meter))
        except PackyardError:
            raise
        except Exception as error:  # the libraries raise many kinds for what a server sends
            raise request.refusal(_reason(error)) from error


def _body(request: Request, response: requests.Response, meter: _Meter) -> bytes:
    """Return the body as it was sent, without decoding it."""
    length = response.headers.get("Content-Length")
    sizes = set() if length is None else {part.strip() for part in length.split(",")}
    if len(sizes) > 1 or any(not size.isascii() or not size.isdecimal() or len(size) > 19 for size in sizes):
        raise request.refusal("the server sent an invalid Content-Length", _LOOK)
    expected = int(sizes.pop()) if sizes else None
    body = io.BytesIO()
    while (expected or 0) <= request.limit and (chunk := response.raw.read(_CHUNK, decode_content=False)):
        body.write(chunk)
        meter.allow(len(chunk))
        if body.tell() > request.limit:
            break
    if max(body.tell(), expected or 0) > request.limit:
        problem = f"is larger than {request.limit} bytes"
        raise TooLongError(Problem(problem, file=request.place, hint="is this a channel?"))
    if expected not in (None, body.tell()):
        raise request.refusal(f"{body.tell()} of {expected} bytes arrived", "run again")
    return body.getvalue()


def _target(request: Request, url: str, location: str) -> str:
    """Return the target of a redirection without user and password."""
    try:
        target = urlsplit(urljoin(url, location))
        host, _ = target.hostname, target.port
    except ValueError as error:
        raise request.refusal("the server sent an invalid Location", _LOOK) from error
    if target.scheme not in _DEFAULT_PORTS or not host:
        raise request.refusal("the server redirects to something that is not a web address", _LOOK)
    if url.startswith("https:") and target.scheme != "https":
        raise request.refusal("the server redirects from https to http", "ask whoever runs it for an https address")
    return target._replace(netloc=target.netloc.rpartition("@")[2], fragment="").geturl()


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


class _Meter:
    """Enforces the bounds of one request: raises `UnavailableError` when one is exceeded."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._end = time.monotonic() + request.patience
        self._window_end = time.monotonic() + _WINDOW
        self._in_window = 0
        self._left = 0

    def begin(self) -> None:
        """Allow the status line, headers and trailers of one answer."""
        self._left = _FRAME + 2 * _CHUNK

    def allow(self, count: int) -> None:
        """Allow more bytes, after so many bytes of the body arrived."""
        self._left += int(count * (1 + _FRAME_SHARE))

    def timeouts(self) -> tuple[float, float]:
        """Return the seconds that are left to connect, and to read."""
        return min(_CONNECT, self.seconds()), self.seconds()

    def seconds(self) -> float:
        """Return how long the next read may take."""
        now = time.monotonic()
        if now >= self._window_end:
            if self._in_window < _SPEED * _WINDOW:
                raise self._request.refusal(f"the server sends less than {_SPEED} bytes a second", "try again later")
            self._in_window, self._window_end = 0, now + _WINDOW
        if now >= self._end:
            raise self._request.late()
        return min(self._end, self._window_end) - now

    def count(self, count: int) -> None:
        """Count bytes that were read."""
        self._in_window += count
        self._left -= count
        if self._left < 0:
            raise self._request.refusal("the server sends too many bytes of headers or chunk headers", _LOOK)


class _Metered(io.RawIOBase):
    """The bytes that a connection receives, counted and timed by a meter."""

    def __init__(self, connection: Any, meter: _Meter) -> None:
        self._connection = connection
        self._raw = connection.makefile("rb", buffering=0)
        self._meter = meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            self._connection.settimeout(self._meter.seconds())
            try:
                count: int = self._connection.recv_into(buffer)
            except TimeoutError:
                continue  # the meter decides which bound was exceeded
            self._meter.count(count)
            return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, connection: Any, *arguments: Any, meter: _Meter, **named: Any) -> None:
        super().__init__(connection, *arguments, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Metered(connection, meter))


class _Adapter(HTTPAdapter):
    """Connects as `requests` does, through proxies too, and reads through a meter."""

    def __init__(self, meter: _Meter) -> None:
        super().__init__()
        self._meter = meter

    def __enter__(self) -> _Adapter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
        """Return a pool whose connections read through the meter."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **named)
        connect = pool.ConnectionCls

        def metered(*arguments: Any, **named: Any) -> Any:
            connection = connect(*arguments, **named)
            connection.response_class = partial(_Response, meter=self._meter)
            return connection

        pool.ConnectionCls = metered
        return pool


def _reason(error: Exception) -> str:
    """Say what failed."""
    causes = list(_causes(error))
    for kinds, reason in _REASONS:
        if any(isinstance(cause, kinds) for cause in causes):
            return reason
    return f"the transfer failed ({type(error).__name__})"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
