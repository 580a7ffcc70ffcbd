"""One writer at a time: who writes below a folder holds it, and shares in all those above it.

So a writer waits for those of the same folder, of folders above, and of folders below, with as many descriptors as the
path has parts. The locks are the system's, on the folders themselves: they leave no trace, and go with their process.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import sleep

from packyard.errors import Problem, UnavailableError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
#: So many tenths of a second a folder above that others may lock is waited for: nobody shall be able to stop all.
_PATIENCE = 50


@contextmanager
def held(root: str) -> Iterator[None]:
    """Hold a real folder for one writer, and wait for it where another has it."""
    handles: list[int] = []
    try:
        for folder in _above(root):  # from the top, as all do, so that no two wait for each other
            with suppress(OSError):  # where it cannot be opened or locked, no other writer of this user's can either
                handles.append(os.open(folder, _FOLDER))
                _share(handles[-1])
        try:
            handles.append(os.open(root, _FOLDER))
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=root)) from error
        try:
            fcntl.flock(handles[-1], fcntl.LOCK_EX)
        except OSError as error:
            message = f"cannot be locked for one writer at a time: {error.strerror or error}; nothing was changed"
            hint = "some file systems have no locks: work on a copy elsewhere"
            raise UnavailableError(Problem(message, file=root, hint=hint)) from error
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _above(folder: str) -> list[str]:
    parts = folder.rstrip("/").split("/")[:-1]
    return ["/".join(parts[: number + 1]) or "/" for number in range(len(parts))]


def _share(handle: int) -> None:
    """Share in a folder; one's own is waited for, others only for a while."""
    state = os.fstat(handle)
    if state.st_uid == os.geteuid() and not state.st_mode & stat.S_IWOTH:
        fcntl.flock(handle, fcntl.LOCK_SH)
        return
    for _ in range(_PATIENCE):
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(0.1)
        else:
            return
