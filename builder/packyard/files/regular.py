"""The one reader of files that somebody else may have put there.

A pipe is not waited for, a device not read, a file that never ends not swallowed, and every failure names the file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from packyard.errors import InputError, Problem, UnavailableError

#: No file that packyard reads whole is larger, unless its reader says so.
LIMIT = 64 * 1024 * 1024

#: Without waiting for somebody to write into a pipe.
_FOR_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


def is_file(path: str | os.PathLike[str]) -> bool:
    """Say whether there is a regular file, links followed; not, where there cannot be one of this name."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether there is a folder, links followed; not, where there cannot be one of this name."""
    return os.path.isdir(path)


def read(file: str | os.PathLike[str], *, limit: int = LIMIT, resolve: Callable[[str], str] | None = None) -> bytes:
    """Return the bytes of a regular file, links followed; with ``resolve`` to where it says that a link may lead.

    Raises `InputError` where it is missing, something else, or longer than ``limit`` bytes, and `UnavailableError`
    where it may not be read.
    """
    name = os.fspath(file)
    try:
        handle = _open(name, resolve)
    except OSError as error:
        if not os.path.isfile(name):
            raise InputError(Problem("is no regular file", file=name)) from error
        raise UnavailableError(Problem(error.strerror or str(error), file=name)) from error
    except ValueError as error:  # it has a NUL, say
        raise InputError(Problem("is a name that no file can have", file=name)) from error
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise InputError(Problem("is no regular file", file=name))
        data = os.read(handle, min(state.st_size, limit) + 1)
        while len(data) != state.st_size and len(data) <= limit and (more := os.read(handle, 1 << 16)):
            data += more
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file=name)) from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise InputError(Problem(f"is longer than {limit} bytes", file=name))
    return data


def _open(name: str, resolve: Callable[[str], str] | None) -> int:
    if resolve is None:
        return os.open(name, _FOR_READING)
    try:
        return os.open(name, _FOR_READING | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK):  # the second is what FreeBSD says of a link
            raise
    return os.open(resolve(name), _FOR_READING | os.O_NOFOLLOW)
