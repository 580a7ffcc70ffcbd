"""Giving a file that exists other bytes: by a new file that takes its name and is like it in all but the bytes, or in
its place.

A file that has another name too, that another file system mounts in its place, or whose owner a new one cannot have, is
written in its place. That is not one step: the caller keeps both contents until it is done, and `is_torn` tells what a
crash in the middle left.
"""

from __future__ import annotations

import errno
import os

from packyard.files import atomic

_BLOCK = 512  # a disk writes a block of so many bytes whole or not at all
_CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def stage(staged: str, data: bytes, like: str | None, *, mode: int = 0o644) -> bool:
    """Write a new file with the owner, mode and extended attributes of another one, or else with ``mode``.

    Say whether it has them: if not it cannot take the other's place.
    """
    handle = atomic.create(staged, data)
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
        wanted, found = attributes(like), attributes(handle)
        for name in found.keys() - wanted.keys():  # what a folder gives to each new file, say
            os.removexattr(handle, name)
        for name, value in wanted.items():
            if found.get(name) != value:
                os.setxattr(handle, name, value)
        os.fchmod(handle, state.st_mode & 0o7777)
    except OSError:
        return False
    return True


def attributes(file: str | int) -> dict[str, bytes]:
    """Return a file's extended attributes, access lists and labels among them; none where there are no such."""
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


def can_stand_for(staged: str, file: str) -> bool:
    """Say whether a staged file has all that the file has, its bytes apart, so that it may take its place."""
    ours, theirs = os.lstat(staged), os.lstat(file)
    return (
        theirs.st_nlink == 1
        and (ours.st_uid, ours.st_gid, ours.st_mode) == (theirs.st_uid, theirs.st_gid, theirs.st_mode)
        and attributes(staged) == attributes(file)
    )


def write_through(file: str, old: bytes, new: bytes) -> None:
    """Give a file other bytes in its place. Raises `OSError`; it has the old ones then, if the disk lets it."""
    handle = os.open(file, _CHANGE)
    try:
        try:
            _allocate(handle, len(new))
            _write_at_start(handle, new)
        except OSError as error:
            atomic.name_file(error, file)
            _write_at_start(handle, old)
            raise
    finally:
        os.close(handle)


def _allocate(handle: int, size: int) -> None:
    """Let a full disk say so now, and not in the middle."""
    if size and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise


def _write_at_start(handle: int, data: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    atomic.write_all(handle, data)
    os.ftruncate(handle, len(data))
    os.fsync(handle)


def is_torn(data: bytes, old: bytes, new: bytes) -> bool:
    """Say whether `write_through` was stopped at work: every block is of the old content, or of the new one."""
    longest = max(len(old), len(new))
    if len(data) not in (len(old), len(new), longest):
        return False
    before, after = old.ljust(longest, b"\0"), new + old[len(new) :]
    return all(
        data[at : at + _BLOCK]
        in (before[at : at + _BLOCK][: len(data) - at], after[at : at + _BLOCK][: len(data) - at])
        for at in range(0, len(data), _BLOCK)
    )
