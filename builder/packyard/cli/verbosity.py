"""How much a command prints: only results and problems, or also files, requests and programs as they are used.

Python's audit events tell about these, so that no part of packyard has to. Worker processes of a large build print
nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from packyard.cli import colors, output
from packyard.core.errors import UsageError


def choose(*, quiet: bool = False, verbose: bool = False, color: str | None = None) -> None:
    """Print less, or more, from now on, and in colors as ``color`` says."""
    if color and color not in colors.MODES:
        raise UsageError(
            f"packyard: --color is {', '.join(colors.MODES)}, not {color!r}; type packyard --color=auto VERB"
        )
    colors.mode = color or colors.mode
    output.quiet = output.quiet or quiet
    if verbose and not output.verbose:
        output.verbose = True
        sys.addaudithook(_see)


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    describe = _EVENTS.get(event)
    if describe and (text := describe(*arguments)):
        output.detail(text)


def _opened(path: object, _mode: object, flags: int) -> str:
    if not isinstance(path, str | bytes | os.PathLike) or flags & getattr(os, "O_DIRECTORY", 0):
        return ""  # a descriptor, which was opened before
    name = os.fsdecode(path)
    writes = flags & (os.O_WRONLY | os.O_RDWR)
    if name.startswith(_OWN) or name.endswith((".py", ".pyc")) or not (writes or os.path.isfile(name)):  # noqa: PTH113
        return ""
    return f"{'writes' if writes else 'reads'} {name}"


def _moved(_old: object, new: object, *_: object) -> str:
    """Return where a file is written that was made beside."""
    return f"writes {os.fsdecode(str(new))}"


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


#: Python's own files, devices, and files of the kernel.
_OWN = tuple({os.path.join(sys.prefix, "lib"), os.path.join(sys.base_prefix, "lib"), "/proc/", "/sys/", "/dev/"})  # noqa: PTH118

_EVENTS: dict[str, Callable[..., str]] = {
    "open": _opened,
    "os.rename": _moved,
    "http.client.send": _sent,
    "subprocess.Popen": _started,
    "os.exec": _started,
}
