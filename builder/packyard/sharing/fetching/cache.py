"""Bundles that were fetched, by the digests of their files: to get one again takes no network.

    <folder>/ab/cdef…                     the file whose SHA-256 is abcdef…
    <folder>/ab/.cdef….<random>.tmp       a transfer, locked by the process that is at it; a later one goes on with it

The folder may be deleted at any moment, and anybody may have written there: whatever is found is verified again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, PackyardError, Problem, UnavailableError
from packyard.core.files import atomic, regular

#: How many bytes are kept, unless the user says otherwise.
LIMIT = 2 * 1024**3

_LEFT_BEHIND = 24 * 3600  # seconds after which nobody goes on with a transfer
_FILE = re.compile(r"[0-9a-f]{62}")
_TRANSFER = re.compile(r"\.[0-9a-f]{62}\.[0-9a-f]{16}\.tmp")
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cached:
    """A file of the cache, its size in bytes, and when it was used last."""

    file: Path
    size: int
    used: float


@dataclass(frozen=True, slots=True)
class Cache:
    """The files in ``folder``, which is made with the first; not more than ``limit`` bytes stay after `prune`.

    ``room`` says what to do where nothing can be written.
    """

    folder: Path
    limit: int = field(default=LIMIT, kw_only=True)
    room: str = field(
        default="packyard cache --clear makes room; another XDG_CACHE_HOME may be elsewhere", kw_only=True, repr=False
    )

    @contextmanager
    def obtain(self, digest: Digest, fill: Callable[[BinaryIO], object]) -> Iterator[BinaryIO]:
        """Open the file of a digest, verified; where it is not cached, ``fill`` writes and verifies it first.

        ``fill`` gets a file that may have what an earlier transfer left. What it raises keeps what is written for the
        next one, unless it is an `IntegrityError`. Many processes may do so at once; each has a file of its own.
        """
        opened = self._find(digest)
        if opened is None:
            path, opened = self._begin(digest)
            try:
                fill(opened)
                opened.flush()
                path.replace(self.path(digest))
            except BaseException as error:
                with suppress(OSError):  # it fails as writing does
                    opened.close()
                if isinstance(error, IntegrityError | OSError) or _is_empty(path):
                    _delete(path)
                if isinstance(error, OSError):
                    raise self._refused(error) from error
                raise
            self.prune()
        with opened:
            opened.seek(0)
            yield opened

    def prune(self) -> None:
        """Delete the least recently used files until the rest is within the limit, and what transfers left long ago."""
        total = 0
        for cached in sorted(self.entries(), key=lambda cached: cached.used, reverse=True):
            total += cached.size
            if total > self.limit:
                _delete(cached.file)
        for file in self._files(_TRANSFER):
            with suppress(OSError):
                if file.lstat().st_mtime < time.time() - _LEFT_BEHIND:
                    file.unlink()

    def sizes(self) -> list[int]:
        """Return the size of each file."""
        return [each.size for each in self.entries()]

    def clear(self) -> None:
        """Delete all files, and what transfers left, but for those that a process is at."""
        for each in self.entries():
            _delete(each.file)
        for file in self._files(_TRANSFER):
            if opened := _taken(file):
                with opened:
                    _delete(file)

    def entries(self) -> list[Cached]:
        """Return all files."""
        entries = []
        for file in self._files(_FILE):
            with suppress(OSError):
                state = file.lstat()
                entries.append(Cached(file, state.st_size, state.st_mtime))
        return entries

    def _find(self, digest: Digest) -> BinaryIO | None:
        """Return a file that is cached, verified; a damaged one goes."""
        file = self.path(digest)
        try:
            opened = regular.opened(file)
        except PackyardError:
            return None
        try:
            if digest_of(opened) == digest:
                with suppress(OSError):
                    os.utime(file)  # used now: `prune` begins with what was not
                return opened
        except OSError:
            pass
        opened.close()
        _delete(file)
        return None

    def _begin(self, digest: Digest) -> tuple[Path, BinaryIO]:
        """Return a locked file to write: of a transfer that broke off, or a new one."""
        target = self.path(digest)
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in self._files(_TRANSFER):
                if (file.parent, file.name[1:63]) == (target.parent, target.name) and (opened := _taken(file)):
                    return file, opened
            while True:
                new = Path(atomic.beside(str(target)))
                if opened := _locked(new, atomic.create(str(new))):
                    return new, opened
        except OSError as error:
            raise self._refused(error) from error

    def _files(self, name: re.Pattern[str]) -> Iterator[Path]:
        for file in sorted(self.folder.glob("[0-9a-f][0-9a-f]/*")) + sorted(self.folder.glob("[0-9a-f][0-9a-f]/.*")):
            if name.fullmatch(file.name) and not file.is_symlink() and not file.parent.is_symlink():
                yield file

    def path(self, digest: Digest) -> Path:
        """Return where the file of a digest is, if it is there."""
        return self.folder / digest.hex[:2] / digest.hex[2:]

    def _refused(self, error: OSError) -> UnavailableError:
        return UnavailableError(Problem(error.strerror or str(error), file=str(self.folder), hint=self.room))


def digest_of(file: BinaryIO) -> Digest:
    """Return the digest of an open file, from its beginning to its end."""
    hasher = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_PIECE):
        hasher.update(piece)
    return Digest(f"sha256:{hasher.hexdigest()}")


def _taken(file: Path) -> BinaryIO | None:
    """Return a file of another transfer, open for writing and locked; None where its process may still be at it."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    return _locked(file, handle, or_not=())


def _locked(file: Path, handle: int, *, or_not: Sequence[int] = _NO_LOCKS) -> BinaryIO | None:
    """Return an open file, locked until it is closed; None if another process has it, or renamed or deleted it.

    Without a lock it is returned if the file system's error is one of ``or_not``.
    """
    with suppress(OSError):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in or_not:
                raise
        if os.path.samestat(os.fstat(handle), file.lstat()):
            return os.fdopen(handle, "r+b")
    os.close(handle)
    return None


def _is_empty(file: Path) -> bool:
    try:
        return not file.stat().st_size
    except OSError:
        return True


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
