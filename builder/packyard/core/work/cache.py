"""Results cached by the digest of what they were made from, in a folder that may be deleted at any moment.

    <folder>/ab/cdef…      one entry: the SHA-256 of its key and its bytes, and its bytes

An entry that is damaged, truncated, missing or in the place of another is a miss: a cache can be slow, never wrong.
Anybody may have written an entry, so readers trust none.
Many processes may share a cache; each entry is written beside its place, and renamed into it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, UnavailableError
from packyard.core.files import atomic, regular

LIMIT = 512 * 1024 * 1024
MAX_AGE = 30 * 24 * 3600
_LEFT_BEHIND = 3600  # how old a file is that a killed writer left
_ENTRY = re.compile(r"[0-9a-f]{62}|\..+")
_HEAD = 65  # a SHA-256 in hexadecimal digits, a line feed


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries in ``folder``, which is made with the first.

    After `prune`, not more than ``limit`` bytes stay, and none that was not used for ``age`` seconds.
    """

    folder: Path
    limit: int = field(default=LIMIT, kw_only=True)
    age: float = field(default=MAX_AGE, kw_only=True)

    def get(self, key: Digest) -> bytes | None:
        """Return the bytes that are cached under a key, or None."""
        file = self._file(key)
        try:
            entry = regular.read(file, limit=self.limit + _HEAD)
            os.utime(file)  # used now: `prune` begins with what was not
        except (OSError, PackyardError):  # missing, or not readable: a miss
            return None
        data = entry[_HEAD:]
        return data if entry[:_HEAD] == _head(key, data) else None

    def put(self, key: Digest, data: bytes) -> None:
        """Cache bytes under a key, and replace those that are there."""
        file = self._file(key)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic.write(str(file), _head(key, data) + data, mode=0o600, durable=False)
        except OSError as error:
            raise UnavailableError(f"{self.folder}: results cannot be cached: {error.strerror or error}") from error

    def prune(self, now: float) -> None:
        """Delete what was not used for long, then the least recently used until the rest is within the limit."""
        try:
            total = 0
            for last, size, file in sorted(self._entries(), reverse=True):
                at_work = file.name.startswith(".")  # another process is writing it
                total += size
                if last < now - (_LEFT_BEHIND if at_work else self.age) or (total > self.limit and not at_work):
                    file.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(f"{self.folder}: results cannot be deleted: {error.strerror or error}") from error

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield last use, size and file of each entry, and of what killed writers left; links are not entered."""
        for file in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            if not _ENTRY.fullmatch(file.name) or file.parent.is_symlink():
                continue
            try:
                state = file.lstat()
            except FileNotFoundError:  # another process prunes too
                continue
            yield state.st_mtime, state.st_size, file

    def _file(self, key: Digest) -> Path:
        return self.folder / key.hex[:2] / key.hex[2:]


def _head(key: Digest, data: bytes) -> bytes:
    return Digest.of(key.encode() + b"\n" + data).hex.encode() + b"\n"
