"""Changing an existing file: a new one with its owner and mode takes its name, or it is written through.

A file is written through where it has a second name, is a mount point, has an owner that the new file cannot get, or
attributes that it does not have.
That is not one step: the step log has both contents until it is done, and `is_torn` recognizes what a crash left.
"""

import errno
import os

from packyard.core.files import atomic

_BLOCK = 512  # bytes that a disk writes whole or not at all
_CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def stage(staged: str, data: bytes, like: str | None, *, mode: int = 0o644) -> bool:
    """Write a new file with the owner, mode and extended attributes of the file ``like``, or with ``mode`` without one.

    Return whether it got them all: if not, it must not replace the other file.
    """
    handle = atomic.create(staged, (data,))
    try:
        if like is None:
            os.fchmod(handle, mode)
            return True
        return _dress(handle, like)
    except OSError as error:
        atomic.name_file(error, staged)
        raise
    finally:
        os.close(handle)


def _dress(handle: int, like: str) -> bool:
    state, own = os.lstat(like), os.fstat(handle)
    try:
        if (own.st_uid, own.st_gid) != (state.st_uid, state.st_gid):
            os.fchown(handle, state.st_uid, state.st_gid)
        if attributes(handle) != attributes(like):
            return False
        os.fchmod(handle, state.st_mode & 0o7777)
    except OSError:
        return False
    return True


def attributes(file: str | int) -> dict[str, bytes]:
    """Return a file's extended attributes, such as access lists and labels; none where the file system has none."""
    if not hasattr(os, "listxattr"):
        return {}
    follow = isinstance(file, int)
    try:
        names = os.listxattr(file, follow_symlinks=follow)
        return {name: os.getxattr(file, name, follow_symlinks=follow) for name in names}
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENODATA):
            return {}
        raise


def write_through(file: str, old: bytes, new: bytes) -> None:
    """Overwrite a file's bytes. On failure the old bytes are put back, if the disk allows, and `OSError` is raised."""
    handle = os.open(file, _CHANGE)
    try:
        try:
            _write_at_start(handle, new)
        except OSError as error:
            atomic.name_file(error, file)
            _write_at_start(handle, old)
            raise
    finally:
        os.close(handle)


def _write_at_start(handle: int, data: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    atomic.write_all(handle, data)
    os.ftruncate(handle, len(data))
    os.fsync(handle)


def is_torn(data: bytes | None, old: bytes | None, new: bytes | None) -> bool:
    """Return whether an interrupted `write_through` leaves this: each block is from the old or the new content."""
    if data is None or old is None or new is None:
        return False
    longest = max(len(old), len(new))
    if len(data) not in (len(old), len(new), longest):
        return False
    before, after = old.ljust(longest, b"\0"), new + old[len(new) :]
    return all(
        data[at : at + _BLOCK]
        in (before[at : at + _BLOCK][: len(data) - at], after[at : at + _BLOCK][: len(data) - at])
        for at in range(0, len(data), _BLOCK)
    )
