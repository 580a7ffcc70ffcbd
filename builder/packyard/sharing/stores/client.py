"""Web servers, and the one way to ask them, within bounds.

`requests` connects, and urllib3's `Retry` repeats what a server is too busy for, or breaks off before it answers. All
that packyard sends may be sent twice. What both leave open:

1. A request ends after so many seconds, whatever the server does, and its body after so many bytes. It runs in a thread
   that is left behind: names, handshakes, headers, ``100 Continue`` and trailers cannot be bounded otherwise.
2. No redirection leads from https to http, and no other server gets the credentials. Its body is not read.
3. Bytes are taken as they are stored, whatever the server says about their encoding: some label a ``.tar.gz`` as gzip
   *content encoding*, and a client that decodes it returns a tar with another digest.
"""

import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.sharing.stores.network import LOOK, authorities, late, reason, within
from packyard.sharing.stores.store import DeniedError, NotFoundError, patience, too_long

_CONNECT = 10.0  # seconds
_CONNECTIONS, _REDIRECTIONS, _TRIES = 32, 10, 3
_PIECE = 64 * 1024  # bytes that are read at a time, and of what a server says of an error
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A method and an address, its credentials apart; what messages call it; and the bytes that its answer may have.

    ``authorization`` is the value of that header, for the server of the address alone.
    """

    url: str
    place: str
    limit: int
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    authorization: str = field(default="", repr=False)

    def refusal(self, message: str, hint: str = LOOK) -> UnavailableError:
        """Return the error to raise."""
        return UnavailableError(Problem(message, file=self.place, hint=hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last answer of a server, from the address ``url``; its headers are found in any case.

    The body of an answer that is no success is what the server says of it, if that is short, or empty.
    """

    request: Request
    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes = b""

    def refusal(self, login: str, said: str = "", kind: type[DeniedError] = DeniedError) -> UnavailableError:
        """Return the error to raise for an answer that is no success.

        ``login`` is what to do to be known, ``said`` what the server says of it, ``kind`` what it is where it denies.
        """
        place, answer = self.request.place, f"HTTP {self.status}{said}"
        if self.status in (404, 410) and self.request.method == "GET":
            return NotFoundError(Problem("not found", file=place))
        if self.status in (401, 403):
            return kind(Problem(f"access denied ({answer})", file=place, hint=login))
        is_ours = 300 <= self.status < 500 and self.status != 429
        hint = "see what it asks for" if said else "check the address"
        return self.request.refusal(f"the server answers {answer}", hint if is_ours else "try again later")


def basic(user: str, password: str) -> str:
    """Return the authorization of a user by a password."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Return what says which server an address is of: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def target(request: Request, url: str, location: str) -> str:
    """Return the address that a server names in an answer from ``url``, without user and password."""
    try:
        parts = urlsplit(urljoin(url, location.encode("latin-1").decode()))
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise request.refusal("the server sent an invalid Location") from error
    if parts.scheme not in _PORTS or not host:
        raise request.refusal("the server redirects to something that is not a web address")
    if url.startswith("https:") and parts.scheme != "https":
        raise request.refusal("the server redirects from https to http", "ask whoever runs it for an https address")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


#: Repetitions where a server is busy, when it asks for them or within seconds, or breaks off before it answers.
REPETITIONS = urllib3.Retry(
    total=_TRIES,
    connect=0,
    other=0,
    allowed_methods=None,
    status_forcelist=(429, 500, 502, 503, 504),
    raise_on_status=False,
    backoff_factor=0.2,
    backoff_jitter=0.2,
)


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002  # `Client` follows
        return None


class Client:
    """Asks servers, through proxies too, and keeps connections; any number of threads may use it.

    A request takes no longer than `patience`, with its redirections and repetitions.
    """

    def __init__(self) -> None:
        self._session = _Session()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in _PORTS:
            self._session.mount(f"{scheme}://", HTTPAdapter(pool_maxsize=_CONNECTIONS, max_retries=REPETITIONS))

    def ask(self, request: Request) -> Answer:
        """Send a request, follow redirections, and return the answer with its body, or raise `UnavailableError`.

        The socket that is read when the time is up is shut, if there is one yet.
        """
        end, responses = time.monotonic() + patience(), list[requests.Response]()
        try:
            return within(request.place, lambda: self._answer(request, end, responses))
        except PackyardError:
            raise
        except Exception as error:  # the libraries raise many kinds, which share no base, for what a server sends
            raise _refusal(request, error) from error
        finally:
            for response in responses:
                with suppress(OSError, RuntimeError, ValueError):  # of one that was read to its end
                    response.raw.shutdown()

    def _answer(self, request: Request, end: float, responses: list[requests.Response]) -> Answer:
        """Return the answer with its body as it was sent; what is said of an error at length is left out."""
        with self._opened(request) as response:
            responses.append(response)
            body, is_success = bytearray(), 200 <= response.status_code < 300
            limit = request.limit if is_success else _PIECE
            is_long = (response.raw.length_remaining or 0) > limit
            while not is_long and (piece := response.raw.read(_PIECE, decode_content=False)):
                if time.monotonic() > end:  # nobody waits for it any more
                    raise late(request.place)
                body += piece
                is_long = len(body) > limit
        if is_long and is_success:
            raise too_long(request.place, limit)
        return Answer(
            request=request,
            status=response.status_code,
            url=response.url,
            headers=response.headers,
            body=b"" if is_long else bytes(body),
        )

    def _opened(self, request: Request) -> requests.Response:
        """Send a request and follow redirections; a change goes to no other server, nor where it becomes a GET."""
        url, authorization, changes = request.url, request.authorization, request.method not in ("GET", "HEAD")
        for _ in range(_REDIRECTIONS + 1):
            response = self._session.request(
                request.method,
                url,
                headers={"Accept-Encoding": "identity", "Authorization": authorization or None, **request.headers},
                data=request.body or None,
                auth=lambda prepared: prepared,  # any callable keeps requests from ~/.netrc
                stream=True,
                timeout=(min(_CONNECT, patience()), patience() + 1),
                verify=authorities() if url.startswith("https:") else None,
            )
            if not response.is_redirect or (changes and response.status_code not in (307, 308)):
                return response
            response.close()
            following = target(request, url, response.headers["Location"])
            if origin(following) != origin(url):
                authorization = ""
                if changes:
                    raise request.refusal("the server redirects a change to another server")
            url = following
        raise request.refusal(f"the server redirects more than {_REDIRECTIONS} times", "check the address")


def _refusal(request: Request, error: Exception) -> UnavailableError:
    """Say what failed, and what to check."""
    causes = list(_causes(error))
    kinds = " ".join(f"{kind.__module__}.{kind.__name__}" for cause in causes for kind in type(cause).__mro__)
    more = [cause.verify_message.rstrip(".") for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)]
    problem, hint = reason(" ".join([*more, kinds]))
    return request.refusal(": ".join([problem, *more[:1]]), hint)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it; the libraries hand some on as arguments."""
    yield error
    for cause in (error.__cause__ or error.__context__, *error.args):
        if isinstance(cause, BaseException):
            yield from _causes(cause)
