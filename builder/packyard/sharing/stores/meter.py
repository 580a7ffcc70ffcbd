"""The bounds of what a server sends: every byte that a connection receives is counted and timed.

A `Meter` belongs to one request: status lines, headers, ``100 Continue``, chunk headers, trailers and the body all pass
it.
"""

from __future__ import annotations

import http.client
import io
import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

from packyard.core.errors import UnavailableError
from packyard.sharing.stores.wire import LOOK

CHUNK = 64 * 1024  # bytes that are read at a time
_CONNECT = 10.0  # seconds
_KEPT = 32  # connections to a server
_SPEED, WINDOW = 1000, 30.0  # bytes a second at least, in each so many seconds
#: Bytes beside the body: of status lines, headers and trailers; and of chunk headers, for each byte of the body.
_FRAME, _FRAME_SHARE = 256 * 1024, 1 / 16


class Meter:
    """Enforces the bounds of one request, its repetitions included: raises `UnavailableError` when one is exceeded.

    ``refusal`` makes that from a message and a hint, and ``late`` where the time is up. ``window``: the seconds in each
    of which the server has to send at some speed.
    """

    def __init__(
        self,
        patience: float,
        refusal: Callable[[str, str], UnavailableError],
        late: Callable[[], UnavailableError],
        window: float = WINDOW,
    ) -> None:
        self._refusal, self._late, self._window = refusal, late, window
        self._end = time.monotonic() + patience
        self._window_end = time.monotonic() + self._window
        self._in_window = 0
        self._left = 0

    def left(self) -> float:
        """Return the seconds until the deadline."""
        return max(0.0, self._end - time.monotonic())

    def begin(self) -> None:
        """Allow the status line, headers and trailers of one answer, and time its speed anew."""
        self._left = _FRAME + 2 * CHUNK
        self._in_window, self._window_end = 0, time.monotonic() + self._window

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
            if self._in_window < _SPEED * self._window:
                raise self._refusal(f"the server sends less than {_SPEED} bytes a second", "try again later")
            self._in_window, self._window_end = 0, now + self._window
        if now >= self._end:
            raise self._late()
        return min(self._end, self._window_end) - now

    def sent(self, count: int) -> None:
        """Count bytes that are sent, for the speed; after the last one the server may take its time to store them."""
        self._in_window += count
        if not count:
            self._window_end = math.inf

    def count(self, count: int) -> None:
        """Count bytes that were read."""
        if self._window_end == math.inf:
            self._window_end = time.monotonic() + self._window
        self._in_window += count
        self._left -= count
        if self._left < 0:
            raise self._refusal("the server sends too many bytes of headers or chunk headers", LOOK)

    def sending(self, data: bytes) -> io.BytesIO:
        """Return what reads the bytes of a body piece by piece, so that sending them is timed too."""
        return _Body(data, self)


class _Body(io.BytesIO):
    def __init__(self, data: bytes, meter: Meter) -> None:
        super().__init__(data)
        self._meter = meter

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        if piece:  # behind the last one, the server may have begun to store them
            self._meter.seconds()
        self._meter.sent(len(piece))
        return piece


class _Metered(io.RawIOBase):
    """The bytes that a connection receives, counted and timed by a meter."""

    def __init__(self, connection: Any, meter: Meter) -> None:
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
            self._connection.settimeout(_CONNECT)  # of what is sent next, perhaps for another meter
            self._meter.count(count)
            return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, connection: Any, *arguments: Any, meter: Meter, **named: Any) -> None:
        super().__init__(connection, *arguments, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_Metered(connection, meter))


class Connections(HTTPAdapter):
    """Connects as `requests` does, through proxies too, and keeps connections; each request reads through its meter.

    Any number of threads may use it, each for one request at a time.
    """

    def __init__(self) -> None:
        super().__init__(pool_maxsize=_KEPT)
        self.session = Session()
        self._current = threading.local()

    def ask(self, prepared: PreparedRequest, meter: Meter, settings: dict[str, Any]) -> Response:
        """Send a request; what comes back, also after this, is read through the meter."""
        self._current.meter = meter
        meter.begin()
        return self.send(prepared, timeout=meter.timeouts(), **settings)

    def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
        """Return a pool whose connections read through the meter of the thread's request."""
        pool: Any = super().get_connection_with_tls_context(*arguments, **named)
        if not isinstance(pool.ConnectionCls, partial):
            pool.ConnectionCls = partial(self._connect, pool.ConnectionCls)
        return pool

    def _connect(self, connect: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        connection = connect(*arguments, **named)
        connection.response_class = self._response
        return connection

    def _response(self, *arguments: Any, **named: Any) -> _Response:
        return _Response(*arguments, meter=self._current.meter, **named)
