"""One GET request over HTTP that ends: after so many seconds, at so many bytes, whatever a server does.

Everything is bounded in one place: what is read from the connection, be it a status line, headers, ``100 Continue``,
the frame of chunks or trailers, is counted and timed by a `_Meter`; and whoever asks waits for a thread, and for no
longer than asked, so that not even a name server holds anybody up. Redirections are followed here, their bodies unread.
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
#: Bytes beside the body: status lines, headers, trailers; and of the frame of chunks, for each byte of the body.
_FRAME, _FRAME_SHARE = 256 * 1024, 1 / 16

#: What failed, in our words: messages of the libraries may show a whole address.
_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((ConnectionRefusedError, socket.gaierror), "the server cannot be reached"),
    ((TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError), "the server did not answer in time"),
    ((ssl.SSLError, requests.exceptions.SSLError), "the server's certificate is not trusted, or TLS failed"),
    ((requests.exceptions.ProxyError,), "the proxy cannot be reached, or refuses"),
    ((ConnectionError, http.client.IncompleteRead), "the transfer failed, the server broke off"),
    ((http.client.HTTPException, requests.exceptions.InvalidHeader, ValueError), "the server answers nonsense"),
    ((OSError,), "the server cannot be reached"),
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server says in the end; the body of any status but 200 was not read."""

    status: int
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An address without user and password, these beside it, what messages call it, and the bounds."""

    url: str
    credentials: tuple[str, str] | None = field(repr=False)
    place: str
    limit: int
    patience: float

    def refusal(self, message: str, hint: str = _LOOK) -> UnavailableError:
        """Return what to raise."""
        return UnavailableError(Problem(message, file=self.place, hint=hint))

    def late(self) -> UnavailableError:
        """Return what to raise where it takes too long."""
        hint = "try again later, or set PACKYARD_TIMEOUT to more seconds"
        return self.refusal(f"the server did not answer in time ({self.patience:g} seconds)", hint)


def get(request: Request) -> Answer:
    """Ask, follow redirections, and return the answer, or raise `UnavailableError`."""
    try:
        return _within(request.patience, partial(_follow, request))
    except OverdueError as error:
        raise request.late() from error


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    """Return what a call returns in a thread that nobody waits for longer, or raise `OverdueError`."""
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
    """Send one request, and return the answer, or where it redirects to."""
    with requests.Session() as session, _Adapter(meter) as adapter:
        auth: Any = tuple(text.encode() for text in credentials) if credentials else None
        try:
            asked = requests.Request("GET", url, headers={"Accept-Encoding": "identity"}, auth=auth)
            prepared = session.prepare_request(asked)  # without credentials, those of ~/.netrc
            settings: Any = session.merge_environment_settings(url, {}, True, None, None)
        except Exception as error:
            raise request.refusal("cannot be asked for", "check the address") from error
        meter.begin()
        try:
            with adapter.send(prepared, timeout=meter.timeouts(), **settings) as response:
                if "Location" in response.headers and response.status_code in (301, 302, 303, 307, 308):
                    return response.headers["Location"]
                if response.status_code != 200:
                    return Answer(status=response.status_code)
                return Answer(status=200, body=_body(request, response, meter))
        except PackyardError:
            raise
        except Exception as error:  # whatever the libraries make of what a server sends
            raise request.refusal(_reason(error)) from error


def _body(request: Request, response: requests.Response, meter: _Meter) -> bytes:
    """Return the body as it was sent, whatever the server calls its encoding."""
    length = response.headers.get("Content-Length")
    sizes = set() if length is None else {part.strip() for part in length.split(",")}
    if len(sizes) > 1 or any(not size.isascii() or not size.isdecimal() or len(size) > 19 for size in sizes):
        raise request.refusal("the server answers nonsense: a Content-Length that is none", _LOOK)
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
    """Return the address that a redirection leads to, without the user and password that it may name."""
    try:
        target = urlsplit(urljoin(url, location.encode("latin-1").decode()))
        host, _ = target.hostname, target.port
    except ValueError as error:
        raise request.refusal("the server answers nonsense: a Location that is no address", _LOOK) from error
    if target.scheme not in _DEFAULT_PORTS or not host:
        raise request.refusal("the server redirects to what is no web address", _LOOK)
    if url.startswith("https:") and target.scheme != "https":
        raise request.refusal("the server redirects from https to http", "ask whoever runs it for an https address")
    return target._replace(netloc=target.netloc.rpartition("@")[2], fragment="").geturl()


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


class _Meter:
    """Holds what is read for one request to its bounds, and raises `UnavailableError` beyond them."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._end = time.monotonic() + request.patience
        self._window_end = time.monotonic() + _WINDOW
        self._in_window = 0
        self._left = 0

    def begin(self) -> None:
        """Let one answer's frame be read."""
        self._left = _FRAME + 2 * _CHUNK

    def allow(self, count: int) -> None:
        """Let more be read, for so many bytes of a body that arrived."""
        self._left += int(count * (1 + _FRAME_SHARE))

    def timeouts(self) -> tuple[float, float]:
        """Return the seconds that are left to connect, and to read something."""
        return min(_CONNECT, self.seconds()), self.seconds()

    def seconds(self) -> float:
        """Return how long the next bytes may take."""
        now = time.monotonic()
        if now >= self._window_end:
            if self._in_window < _SPEED * _WINDOW:
                raise self._request.refusal(f"the server sends less than {_SPEED} bytes a second", "try again later")
            self._in_window, self._window_end = 0, now + _WINDOW
        if now >= self._end:
            raise self._request.late()
        return min(self._end, self._window_end) - now

    def count(self, count: int) -> None:
        """Count what was read."""
        self._in_window += count
        self._left -= count
        if self._left < 0:
            raise self._request.refusal("the server sends headers or frames without end", _LOOK)


class _Metered(io.RawIOBase):
    """What a connection receives, within the bounds of a meter."""

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
                continue  # the meter says what it is
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
    """Connects as `requests` does, through proxies too, and reads by a meter."""

    def __init__(self, meter: _Meter) -> None:
        super().__init__()
        self._meter = meter

    def __enter__(self) -> _Adapter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
        """Return a pool of connections that are metered."""
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
