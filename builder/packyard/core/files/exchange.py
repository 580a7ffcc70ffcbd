"""Replacing a file only if it is still the expected one, under a lock of its folder that many processes may wait for.

The lock is the system's, on the file ``.packyard.lock`` beside it, which stays there empty: it ends with its process,
and holds on NFS too, whose servers lock files that are open for writing, and no folders.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, Problem, UnavailableError
from packyard.core.files import atomic, exclusive, regular

_LOCK = ".packyard.lock"
_FOR_LOCKING = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def exchange(file: str, data: bytes, expected: Digest | None, *, mode: int, patience: float) -> None:
    """Give a file these bytes if its own have the digest ``expected``, or, where that is None, if it is missing.

    Otherwise raise `ConflictError`. ``patience``: how many seconds it may take until other writers are done.
    """
    with _locked(os.path.dirname(file) or os.curdir, patience):
        actual = Digest.of(regular.read(file)) if os.path.lexists(file) else None
        check_expected(file, actual, expected)
        atomic.write(file, data, mode=mode, durable=True)


def check_expected(place: str, actual: Digest | None, expected: Digest | None) -> None:
    """Refuse to replace what has other bytes than expected."""
    if actual != expected:
        problem = f"was changed meanwhile: expected {expected or 'nothing'}, found {actual or 'nothing'}"
        raise ConflictError(Problem(problem, file=place))


@contextmanager
def _locked(folder: str, patience: float) -> Iterator[None]:
    """Lock a folder for one writer at a time."""
    file = os.path.join(folder, _LOCK)
    handle = os.open(file, _FOR_LOCKING, 0o600)
    try:
        with suppress(PermissionError):  # whoever may write in the folder may lock it; only its maker can say so
            os.fchmod(handle, stat.S_IMODE(os.stat(folder).st_mode) & 0o666)
        try:
            is_taken = exclusive.take(handle, fcntl.LOCK_EX, patience)
        except OSError as error:  # Lustre without flock, NFS 3 without its lock daemon
            hint = "mount its file system with locks, as by -o flock, or publish to a bucket or a registry"
            problem = f"cannot be locked for one writer at a time: {error.strerror}"
            raise UnavailableError(Problem(problem, file=file, hint=hint)) from error
        if not is_taken:
            hint = "run again when no other packyard writes there"
            raise UnavailableError(Problem("is locked by another writer", file=file, hint=hint))
        yield
    finally:
        os.close(handle)
