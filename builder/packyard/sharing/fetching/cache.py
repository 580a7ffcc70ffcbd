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
from typing import TYPE_CHECKING, BinaryIO, cast

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.core.files import atomic, regular

if TYPE_CHECKING:
    from io import BufferedReader

#: How many bytes are kept, unless the user says otherwise.
LIMIT = 2 * 1024**3

_LEFT_BEHIND = 24 * 3600  # seconds after which nobody is at a transfer
_FILE = re.compile(r"[0-9a-f]{62}")
_TRANSFER = re.compile(r"\.[0-9a-f]{62}\.[0-9a-f]{16}\.tmp")


@dataclass(frozen=True, slots=True)
class Cache:
    """The files in ``folder``, which is made with the first; not more than ``limit`` bytes stay after `prune`.

    ``room`` says what to do where nothing can be written.
    """

    folder: Path
    limit: int = field(default=LIMIT, kw_only=True)
    room: str = field(default="delete the folder, or set XDG_CACHE_HOME to one with more room", kw_only=True)

    @contextmanager
    def obtain(self, digest: Digest, fill: Callable[[BinaryIO], object]) -> Iterator[BinaryIO]:
        """Open the file of a digest, verified; where it is not cached, ``fill`` writes and verifies it first.

        Many processes may do so at once; each has a file of its own. What somebody removes meanwhile is not cached.
        """
        opened = self._find(digest)
        if opened is None:
            try:
                opened = self._filled(self.path(digest), fill)
            except OSError as error:
                place = Problem(error.strerror or str(error), file=str(self.folder), hint=self.room)
                raise UnavailableError(place) from error
            self.prune()
        with opened:
            opened.seek(0)
            yield opened

    def prune(self) -> None:
        """Delete the least recently used files until the rest is within the limit, and what transfers left long ago."""
        total, used = 0, list[tuple[float, int, Path]]()
        for file in (*self.folder.glob("[0-9a-f][0-9a-f]/*"), *self.folder.glob("[0-9a-f][0-9a-f]/.*")):
            with suppress(OSError):
                state = file.lstat()
                if _FILE.fullmatch(file.name):
                    used.append((state.st_mtime, state.st_size, file))
                elif _TRANSFER.fullmatch(file.name) and state.st_mtime < time.time() - _LEFT_BEHIND:
                    file.unlink()
        for _, size, file in sorted(used, reverse=True):
            total += size
            if total > self.limit:
                _delete(file)

    def _find(self, digest: Digest) -> BinaryIO | None:
        """Return a file that is cached, verified; a damaged one goes."""
        file = self.path(digest)
        try:
            opened = regular.opened(file)
        except PackyardError:
            return None
        with suppress(OSError):
            if digest_of(opened) == digest:
                with suppress(OSError):
                    os.utime(file)  # used now: `prune` begins with what was not
                return opened
        opened.close()
        _delete(file)
        return None

    def _filled(self, target: Path, fill: Callable[[BinaryIO], object]) -> BinaryIO:
        """Return the open file that ``fill`` wrote, in its place."""
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

    def path(self, digest: Digest) -> Path:
        """Return where the file of a digest is, if it is there."""
        return self.folder / digest.hex[:2] / digest.hex[2:]


def digest_of(file: BinaryIO) -> Digest:
    """Return the digest of an open file, from its beginning to its end."""
    file.seek(0)
    return Digest(f"sha256:{hashlib.file_digest(cast('BufferedReader', file), 'sha256').hexdigest()}")


def _delete(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
