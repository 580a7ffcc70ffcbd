"""The three standard streams: there from the start, written to as bytes, and failing by their names.

Who reads standard output may go (`packyard … | head`): `Closed`. Any other failure, a full disk say, is an
`UnavailableError`. A stream that failed leads to the null device from then on, so that nothing fails again.
"""

from __future__ import annotations

import os
import sys

from packyard.errors import InputError, Problem, UnavailableError
from packyard.files import regular

_NAMES = ("stdin", "stdout", "stderr")


class Closed(Exception):  # noqa: N818  # no error: `| head` has enough
    """Nobody reads any more."""


def open_missing() -> None:
    """Open streams that this process was started without on the null device, before another file gets their number."""
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            _to_null(number)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def write(data: bytes, name: str = "stdout") -> None:
    """Write to a stream."""
    try:
        getattr(sys, name).buffer.write(data)
        if name == "stderr":
            sys.stderr.flush()
    except OSError as error:
        raise _failed(name, error) from error


def flush() -> None:
    """Write what is left to standard output."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _failed("stdout", error) from error


def read() -> bytes:
    """Return all that standard input has, if that is no more than a file may have."""
    try:
        data = sys.stdin.buffer.read(regular.LIMIT + 1)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file="stdin")) from error
    if len(data) > regular.LIMIT:
        raise InputError(Problem(f"standard input is longer than {regular.LIMIT} bytes", file="stdin"))
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
