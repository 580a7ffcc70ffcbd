"""A store that some web server or public bucket serves: read-only, and only by key.

Bytes are taken as they are stored, whatever the server says of their encoding: some label a ``.tar.gz`` as gzip
*content encoding*, and a client that believes it hands out a tar with another digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import SplitResult, quote, urlsplit

from packyard.channel.stores.store import NotFoundError, check_key
from packyard.errors import InputError, Problem, UnavailableError

if TYPE_CHECKING:
    from requests import Response

    from packyard.digest import Digest

_CHUNK = 64 * 1024
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and to wait for the next bytes


class HTTPStore:
    """The store whose keys are the paths below an address. A user and password in it are used, and never shown."""

    def __init__(
        self, address: str, *, limit: int = 256 * 1024 * 1024, timeout: tuple[float, float] = _TIMEOUT
    ) -> None:
        parts = _split(address)
        self._base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/"
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}/"
        self._limit = limit
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"HTTPStore({self._shown!r})"

    # What is refused takes the arguments of a `Store` all the same.
    def put(self, key: str, data: bytes) -> None:  # noqa: ARG002
        """Refuse."""
        self._refuse()

    def get(self, key: str) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        check_key(key)
        with self._response(key) as response:
            self._check_status(response, key)
            return self._body(response, key)

    def list(self, prefix: str) -> Sequence[str]:  # noqa: ARG002
        """Refuse: HTTP has no listing. What there is says the index."""
        self._refuse()

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:  # noqa: ARG002
        """Refuse."""
        self._refuse()

    @contextmanager
    def _response(self, key: str) -> Iterator[Response]:
        import requests  # slow to import, and only needed here
        import urllib3

        headers = {"Accept-Encoding": "identity"}
        try:
            url = self._base + quote(key)
            with requests.get(url, headers=headers, stream=True, timeout=self._timeout) as response:
                yield response
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise self._problem(key, _reason(error), "check the address and the network, then run again") from error

    def _check_status(self, response: Response, key: str) -> None:
        if response.status_code in (404, 410):
            raise NotFoundError(Problem("not found", file=self._shown + key))
        if response.status_code in (401, 403):
            raise self._problem(key, f"access denied (HTTP {response.status_code})", "check user and password")
        if response.status_code != 200:
            raise self._problem(key, f"the server answers HTTP {response.status_code}", "try again later")

    def _body(self, response: Response, key: str) -> bytes:
        length = response.headers.get("Content-Length", "")
        body = bytearray()
        while chunk := response.raw.read(_CHUNK, decode_content=False):
            body += chunk
            if len(body) > self._limit:
                raise self._problem(key, f"is larger than {self._limit} bytes", "is this a channel?")
        if length.isdecimal() and int(length) != len(body):
            raise self._problem(key, f"{len(body)} of {length} bytes arrived", "run again")
        return bytes(body)

    def _problem(self, key: str, message: str, hint: str) -> UnavailableError:
        return UnavailableError(Problem(message, file=self._shown + key, hint=hint))

    def _refuse(self) -> NoReturn:
        hint = "publish to the directory that the server serves"
        raise UnavailableError(Problem("an HTTP channel is read-only", file=self._shown, hint=hint))


def _split(address: str) -> SplitResult:
    """Take an address apart, or refuse it without showing what may be a password."""
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and not (parts.query or parts.fragment) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(Problem("this is not the address of a channel", hint="write https://host/path"))
    return parts


def _reason(error: Exception) -> str:
    """Say what failed, in our words: messages of the libraries below may show the whole address."""
    import requests
    import urllib3

    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate is not trusted, or TLS failed"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached"
    return f"the transfer failed ({type(error).__name__})"
