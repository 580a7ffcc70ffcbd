"""How much a command prints: only results and problems, or also requests and programs as they are used.

Python's audit events tell about these, so that no part of packyard has to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from packyard.cli import output


def choose(*, quiet: bool = False, verbose: bool = False) -> None:
    """Print less, or more, from now on."""
    output.quiet = output.quiet or quiet
    if verbose and not output.verbose:
        output.verbose = True
        sys.addaudithook(_see)


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    describe = _EVENTS.get(event)
    if describe and (text := describe(*arguments)):
        output.detail(text)


def _sent(connection: Any, data: object) -> str:
    """Return the first line of a request and its host, never its headers."""
    if not isinstance(data, bytes) or b" HTTP/1." not in (head := data.partition(b"\r\n")[0]):
        return ""
    method, _, target = head.decode("latin-1").rpartition(" ")[0].partition(" ")
    scheme = "https" if type(connection).__name__.startswith("HTTPS") else "http"
    address = target if "://" in target else f"{scheme}://{connection.host}:{connection.port}{target}"
    return f"requests {method} {address}"


def _started(executable: object, words: object, *_: object) -> str:
    import shlex

    listed = words if isinstance(words, list | tuple) else [words or executable]
    return f"runs {shlex.join(os.fsdecode(str(word)) for word in listed)}"


_EVENTS: dict[str, Callable[..., str]] = {
    "http.client.send": _sent,
    "subprocess.Popen": _started,
    "os.exec": _started,
}
