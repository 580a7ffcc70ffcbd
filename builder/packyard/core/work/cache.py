"""Bytes cached by their digest, in a folder that may be deleted at any moment.

    <folder>/ab/cdef…      the bytes whose SHA-256 this is

An entry that is damaged, truncated or missing is a miss: a cache can be slow, never wrong. Anybody may have written an
entry, so readers trust none. Many processes may share a cache; each entry is written beside its place, and renamed.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, UnavailableError
from packyard.core.files import atomic, regular

_ENTRY = re.compile(r"[0-9a-f]{62}|\..+")  # also what a killed writer left


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries in ``folder``, which is made with the first; after `prune` not more than ``limit`` bytes stay."""

    folder: Path
    limit: int

    def get(self, digest: Digest) -> bytes | None:
        """Return the bytes that have a digest, or None."""
        file = self._file(digest)
        try:
            data = regular.read(file, limit=self.limit)
            os.utime(file)  # used now: `prune` begins with what was not
        except (OSError, PackyardError):  # missing, or not readable: a miss
            return None
        return data if Digest.of(data) == digest else None

    def put(self, digest: Digest, data: bytes) -> None:
        """Cache the bytes that have a digest."""
        file = self._file(digest)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic.write(str(file), data, mode=0o600, durable=False)
        except OSError as error:
            raise UnavailableError(f"{self.folder}: results cannot be cached: {error.strerror or error}") from error

    def prune(self) -> None:
        """Delete the least recently used until the rest is within the limit."""
        try:
            total = 0
            for _, size, file in sorted(self._entries(), reverse=True):
                total += size
                if total > self.limit:
                    file.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(f"{self.folder}: results cannot be deleted: {error.strerror or error}") from error

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield last use, size and file of each entry; links are not entered."""
        for file in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            if _ENTRY.fullmatch(file.name) and not file.parent.is_symlink():
                with suppress(FileNotFoundError):  # another process prunes too
                    state = file.lstat()
                    yield state.st_mtime, state.st_size, file

    def _file(self, digest: Digest) -> Path:
        return self.folder / digest.hex[:2] / digest.hex[2:]
