"""Reading files that somebody else may have put there: only regular ones, only up to a limit.

A named pipe does not block it, and every failure names the file.
"""

import errno
import os
import stat
from collections.abc import Callable
from typing import BinaryIO

from packyard.core.errors import InputError, Problem, UnavailableError

#: The largest file that packyard reads, unless its reader gives another limit.
LIMIT = 64 * 1024 * 1024

#: Without waiting for the writer of a pipe.
_FOR_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a regular file; links are followed, and an impossible name is False."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a folder; links are followed, and an impossible name is False."""
    return os.path.isdir(path)


def make_folder(folder: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise not_a_folder(folder) from error
    except OSError as error:
        raise _unavailable(error, str(error.filename or folder)) from error


def not_a_folder(path: str | os.PathLike[str]) -> InputError:
    """Return that a file stands where a path has a folder."""
    from pathlib import Path  # `packyard version` starts without it

    file = next(filter(os.path.lexists, (Path(path), *Path(path).parents)), path)
    return InputError(Problem("is a file, and a folder is needed here", file=str(file), hint="name another folder"))


def read(file: str | os.PathLike[str], *, limit: int = LIMIT, resolve: Callable[[str], str] | None = None) -> bytes:
    """Return the bytes of a regular file; links are followed, or, with ``resolve``, only to where it allows.

    Raises `InputError` where it is missing, no regular file, or larger than ``limit`` bytes, and `UnavailableError`
    where it cannot be read.
    """
    name = os.fspath(file)
    handle, size = _handle(name, resolve)
    try:
        data = os.read(handle, min(size, limit) + 1)
        while len(data) != size and len(data) <= limit and (more := os.read(handle, 1 << 16)):
            data += more
    except OSError as error:
        raise _unavailable(error, name) from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise InputError(Problem(f"is larger than {limit} bytes", file=name))
    return data


def opened(file: str | os.PathLike[str]) -> BinaryIO:
    """Return a regular file open for reading, of whatever size; it raises what `read` does."""
    return os.fdopen(_handle(os.fspath(file), None)[0], "rb")


def _handle(name: str, resolve: Callable[[str], str] | None) -> tuple[int, int]:
    """Return a regular file open for reading, and its size."""
    try:
        handle = _open(name, resolve)
    except OSError as error:
        if isinstance(error, FileNotFoundError) or not os.path.isfile(name):  # it may be made just now
            problem = "is not a regular file" if os.path.lexists(name) else "no such file"
            raise InputError(Problem(problem, file=name)) from error
        raise _unavailable(error, name) from error
    except ValueError as error:  # a NUL, for example
        raise InputError(Problem("is not a possible file name", file=name)) from error
    try:
        state = os.fstat(handle)
    except OSError as error:  # of a server that is gone
        os.close(handle)
        raise _unavailable(error, name) from error
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise InputError(Problem("is not a regular file", file=name))
    return handle, state.st_size


def _unavailable(error: OSError, file: str) -> UnavailableError:
    return UnavailableError(Problem(error.strerror or str(error), file=file))


def _open(name: str, resolve: Callable[[str], str] | None) -> int:
    if resolve is None:
        return os.open(name, _FOR_READING)
    try:
        return os.open(name, _FOR_READING | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK):  # EMLINK is FreeBSD's error for a link
            raise
    return os.open(resolve(name), _FOR_READING | os.O_NOFOLLOW)
