"""What may go over a network, whom it trusts, and how long a call may take: alike for all stores."""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OverdueError
from typing import TypeVar
from urllib.parse import urlsplit

from packyard.core.errors import Problem, UnavailableError

__all__ = ["LOOK", "OverdueError", "authorities", "is_loopback", "late", "may_have_secrets", "within"]

#: What to do about a server that does not answer as it should.
LOOK = "check the address and the network, then run again"
_AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")

_T = TypeVar("_T")


def authorities(*variables: str) -> str | None:
    """Return the file of certificate authorities that the environment names, by these variables or the usual ones."""
    return next((os.environ[name] for name in (*variables, *_AUTHORITIES) if os.environ.get(name)), None)


def may_have_secrets(url: str) -> bool:
    """Return whether passwords, and tokens, may be sent there: over TLS, or on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def late(place: str, patience: float) -> UnavailableError:
    """Return the error to raise where a server does not answer in time."""
    problem = f"the server did not answer in time ({round(patience, 1):g} seconds)"
    hint = "try again later, or set PACKYARD_TIMEOUT to more seconds"
    return UnavailableError(Problem(problem, file=place, hint=hint))


def within(seconds: float, call: Callable[[], _T]) -> _T:
    """Run a call in a thread, and return its result, or raise `OverdueError` when the time is up.

    Name lookups, and calls into other languages, cannot be interrupted otherwise; the thread is left behind.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result(seconds)
