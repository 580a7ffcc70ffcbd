"""What may go over a network, whom it trusts, and how long a call may take: alike for all stores."""

import ipaddress
import os
import re
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.sharing.stores.store import patience

#: What to do about a server that does not answer as it should.
LOOK = "check the address and the network, then run again"
_TRUST = "check its address; REQUESTS_CA_BUNDLE=FILE names the authorities to trust, those of a company too"
_CLOCK = "check this computer's clock; if it is right, tell whoever runs the server"
_REACH = "check the address, the network and HTTPS_PROXY, then run again"
_PROXY = "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, then run again"
#: What libraries call a failure; what it is in our words, as theirs may show addresses with passwords; what to check.
_REASONS = (
    (r"certificate (has exp|is not yet)|\(\s*(Expired|NotValid)", "the server's certificate is not valid now", _CLOCK),
    (r"Certificate|CertVerification|UnknownIssuer|HandshakeFailure", "the server's certificate is not trusted", _TRUST),
    (r"Proxy(Connect|Auth|Error|URL|Scheme)|Tunnel", "the proxy cannot be reached, or refuses", _PROXY),
    (r"gaierror|ConnectionRefused", "the server cannot be reached", _REACH),  # to urllib3 a kind of timeout, too
    (r"Timeout|TimedOut", "the server did not answer in time", LOOK),
    (r"kind: Connect,|dns error", "the server cannot be reached", _REACH),
    (r"ssl\.SSLError", "the server speaks no TLS, or TLS failed", LOOK),
    (
        r"Incomplete|NoContentRange|UnexpectedEof|ConnectionReset|builtins\.ConnectionError|Body",
        "the server closed the connection early",
        "run again",
    ),
    (r"Parse|Header|invalid|HTTPException|ValueError", "the server sent an invalid response", LOOK),
    (r"OSError", "the server cannot be reached", _REACH),
)
_AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")

_T = TypeVar("_T")


def authorities(*variables: str) -> str | None:
    """Return the file or folder of authorities that the environment names, by these variables or the usual ones."""
    for name in (*variables, *_AUTHORITIES):
        if path := os.environ.get(name):
            check_authorities(path, name)
            return path
    return None


@cache
def check_authorities(path: str, name: str) -> None:
    """Refuse a file or folder that has no certificates; ``name`` is the setting that names it."""
    where = {"capath": path} if Path(path).is_dir() else {"cafile": path}
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(**where)
    except OSError as error:
        reason = "has no certificate" if isinstance(error, ssl.SSLError) else f"cannot be read: {error.strerror}"
        hint = f"{name} names it: let it name a file of certificates, or unset it"
        raise InputError(Problem(reason, file=path, hint=hint)) from error


def may_have_secrets(url: str) -> bool:
    """Return whether passwords, and tokens, may be sent there: over TLS, or on this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.hostname is not None and (parts.scheme == "https" or is_loopback(parts.hostname))


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reason(error: str) -> tuple[str, str]:
    """Return why a transfer failed, and what to check, by what a library says, or by the names of its errors."""
    return next(
        ((problem, hint) for pattern, problem, hint in _REASONS if re.search(pattern, error)),
        ("the transfer failed", LOOK),
    )


def late(place: str) -> UnavailableError:
    """Return the error to raise where a server does not answer in time."""
    problem = f"the server did not answer in time ({round(patience(), 1):g} seconds)"
    hint = "try again later"
    return UnavailableError(Problem(problem, file=place, hint=hint))


def within(place: str, call: Callable[[], _T]) -> _T:
    """Run a call in a thread, and return its result, or raise that its server is `late` when the time is up.

    Name lookups, and calls into other languages, cannot be interrupted otherwise; the thread is left behind.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait([outcome], patience()).done:
        raise late(place)
    return outcome.result()
