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

__all__ = ["OverdueError", "authorities", "is_loopback", "may_have_secrets", "within"]

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
