"""One writer at a time: a writer locks its folder exclusively, and each folder above it in shared mode.

So it waits for writers of the same folder, and a while for those of folders above and below. The locks are the
system's, on the folders themselves: they leave no file, and end with their process.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep

from packyard.core.errors import Problem, UnavailableError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
#: Seconds to wait in silence for the folder itself, and in all for one above, which others may lock for ever.
_SILENCE, _PATIENCE = 1, 5


@contextmanager
def lock(root: str, tell: Callable[[str], object] = lambda _: None) -> Iterator[bool]:
    """Lock a real folder for one writer, and yield whether it was free at once.

    Where another one has it for long, say so, and wait for that.
    """
    handles: list[int] = []
    is_free = True
    try:
        for folder in map(str, reversed(Path(root).parents)):  # from the top, as every writer does: no deadlock
            with suppress(OSError):  # if we cannot open or lock it, no other writer of this user can
                handles.append(os.open(folder, _FOLDER))
                is_free &= take(handles[-1], fcntl.LOCK_SH, _PATIENCE) == 1
        try:
            handles.append(os.open(root, _FOLDER))
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=root)) from error
        try:
            is_free &= (tries := take(handles[-1], fcntl.LOCK_EX, _SILENCE)) == 1
            if not tries:
                tell(f"{root}: another command is changing this folder; waiting until it ends")
                fcntl.flock(handles[-1], fcntl.LOCK_EX)
        except OSError as error:
            message = f"cannot be locked for one writer at a time: {error.strerror or error}; nothing was changed"
            hint = "some file systems have no locks: work on a copy elsewhere"
            raise UnavailableError(Problem(message, file=root, hint=hint)) from error
        yield is_free
    finally:
        for handle in handles:
            os.close(handle)


def take(handle: int, kind: int, seconds: float) -> int:
    """Try to lock, for some seconds; return how many tries that took, 0 if all were in vain."""
    end = monotonic() + seconds
    for tries in count(1):
        with suppress(BlockingIOError):
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return tries
        if monotonic() > end:
            break
        sleep(0.003)
    return 0
