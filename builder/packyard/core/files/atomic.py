"""Files that appear whole: written under another name beside their place, then moved into it.

A reader sees what was there before, or all of the new bytes. A killed writer leaves at most what `beside` names.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

#: Up to this many files are flushed one by one: each waits for the whole queue of the disk.
MANY = 32
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write(file: str, data: bytes, *, mode: int, durable: bool, replace: bool = True) -> None:
    """Give a file these bytes and this mode in one step.

    With ``durable``, bytes and name are on the disk when this returns. Without ``replace``, which needs hard links, an
    existing file is left alone: `FileExistsError`.
    """
    staged = beside(file)
    handle = create(staged, (data,))
    try:
        try:
            os.fchmod(handle, mode)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        (os.replace if replace else os.link)(staged, file)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(staged)
    if durable:
        flush(os.path.dirname(file) or os.curdir)


def beside(file: str) -> str:
    """Return a name in the same folder that nobody can guess: ``.<name>.<random>.tmp``."""
    folder, name = os.path.split(file)
    return os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")


def create(file: str, pieces: Iterable[bytes] = (), *, mode: int = 0o600) -> int:
    """Create a file, write it and return it open; its mode is less the umask. An existing one is `FileExistsError`."""
    handle = os.open(file, _NEW, mode)
    try:
        for piece in pieces:
            write_all(handle, piece)
    except BaseException as error:
        os.close(handle)
        os.unlink(file)
        name_file(error, file)
        raise
    return handle


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes to an open file: one system call may write fewer."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def name_file(error: BaseException, file: str) -> None:
    """Add the file's name to an error from a descriptor."""
    if isinstance(error, OSError) and error.filename is None:
        error.filename = file


def flush_all(files: Sequence[str]) -> None:
    """Wait until files are on the disk: one by one while they are few."""
    if len(files) > MANY:
        os.sync()
        return
    for file in files:
        flush(file)


def flush(path: str) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        name_file(error, path)
        raise
    finally:
        os.close(handle)
