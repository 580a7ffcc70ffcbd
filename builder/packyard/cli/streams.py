"""The three standard streams: open from the start, written as bytes, and named in errors.

The reader of standard output may stop (`packyard … | head`): `Closed`. Any other failure, such as a full disk, is an
`UnavailableError`. A stream that failed is redirected to the null device, so that nothing fails twice.
"""

import os
import sys
from collections.abc import Callable

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files import regular

_NAMES = ("stdin", "stdout", "stderr")


class Closed(Exception):  # noqa: N818  # not an error: `| head` has enough
    """The reader of a stream is gone."""


def open_missing() -> None:
    """Open missing streams on the null device, before another file gets their descriptor."""
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            _to_null(number)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def nothing() -> None:
    """Hide nothing."""


#: Takes away what a terminal shows of work, before something is written in its place.
hide: Callable[[], None] = nothing


def write(data: bytes, name: str = "stdout") -> None:
    """Write to a stream; on a terminal in the order in which it is called."""
    hide()
    if name == "stderr" and sys.stdout.isatty():
        flush()
    try:
        getattr(sys, name).buffer.write(data)
        if name == "stderr":
            sys.stderr.flush()
    except OSError as error:
        raise _failed(name, error) from error


def flush() -> None:
    """Flush standard output."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _failed("stdout", error) from error


def read() -> bytes:
    """Return all of standard input, up to the largest size of a file."""
    try:
        data = sys.stdin.buffer.read(regular.LIMIT + 1)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file="stdin")) from error
    if len(data) > regular.LIMIT:
        raise InputError(Problem(f"standard input is larger than {regular.LIMIT} bytes", file="stdin"))
    return data


def _failed(name: str, error: OSError) -> Exception:
    _to_null(_NAMES.index(name))
    if isinstance(error, BrokenPipeError):
        return Closed()
    return UnavailableError(Problem(error.strerror or str(error), file=name, hint="the output is not complete"))


def _to_null(number: int) -> None:
    handle = os.open(os.devnull, os.O_RDWR)
    os.dup2(handle, number)
    if handle != number:
        os.close(handle)
