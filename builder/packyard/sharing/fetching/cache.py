"""Bundles that were fetched, by the digests of their files: to get one again takes no network.

    <folder>/ab/cdef…                     the file whose SHA-256 is abcdef…
    <folder>/ab/.cdef….<random>.tmp       a transfer; what a killed process left goes after a day

The folder may be deleted at any moment, and anybody may have written there: whatever is found is verified again.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.core.files import atomic, regular

#: How many bytes are kept, unless the user says otherwise.
LIMIT = 2 * 1024**3

_LEFT_BEHIND = 24 * 3600  # seconds after which nobody is at a transfer
_FILE = re.compile(r"[0-9a-f]{62}")
_TRANSFER = re.compile(r"\.[0-9a-f]{62}\.[0-9a-f]{16}\.tmp")
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
        default="delete the folder, or set XDG_CACHE_HOME to one with more room", kw_only=True, repr=False
    )

    @contextmanager
    def obtain(self, digest: Digest, fill: Callable[[BinaryIO], object]) -> Iterator[BinaryIO]:
        """Open the file of a digest, verified; where it is not cached, ``fill`` writes and verifies it first.

        Many processes may do so at once; each has a file of its own. What somebody removes meanwhile is not cached.
        """
        opened = self._find(digest)
        if opened is None:
            try:
                opened = self._filled(digest, fill)
            except OSError as error:
                raise UnavailableError(
                    Problem(error.strerror or str(error), file=str(self.folder), hint=self.room)
                ) from error
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

    def _filled(self, digest: Digest, fill: Callable[[BinaryIO], object]) -> BinaryIO:
        """Return the open file that ``fill`` wrote, in its place."""
        target = self.path(digest)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = Path(atomic.beside(str(target)))
        opened = os.fdopen(atomic.create(str(new)), "r+b")
        try:
            fill(opened)
            opened.flush()
            with suppress(FileNotFoundError):  # cleared meanwhile
                new.replace(target)
        except BaseException:
            with suppress(OSError):  # it fails as writing does
                opened.close()
            _delete(new)
            raise
        return opened

    def _files(self, name: re.Pattern[str]) -> Iterator[Path]:
        for file in sorted(self.folder.glob("[0-9a-f][0-9a-f]/*")) + sorted(self.folder.glob("[0-9a-f][0-9a-f]/.*")):
            if name.fullmatch(file.name) and not file.is_symlink() and not file.parent.is_symlink():
                yield file

    def path(self, digest: Digest) -> Path:
        """Return where the file of a digest is, if it is there."""
        return self.folder / digest.hex[:2] / digest.hex[2:]


def digest_of(file: BinaryIO) -> Digest:
    """Return the digest of an open file, from its beginning to its end."""
    hasher = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_PIECE):
        hasher.update(piece)
    return Digest(f"sha256:{hasher.hexdigest()}")


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
