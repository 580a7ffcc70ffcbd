"""Downloads: an object goes to a file while it is hashed, and is what was asked for, or an error.

A transfer that breaks off goes on from where it was, within one deadline. No more is read than the size that is listed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from packyard.core.bundle.archive import LIMITS
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.sharing.fetching.cache import Cache
from packyard.sharing.stores.network import OverdueError, within
from packyard.sharing.stores.store import PATIENCE, MissingStoreError, NotFoundError

#: Yields the bytes of an object from an offset on, as `Store.read` does.
Read = Callable[[int], Iterator[bytes]]
#: Hears what arrives: what it is called, how many bytes are there, and how many it has, if that is known.
Heard = Callable[[str, int, "int | None"], object]

_PAUSE = 0.2  # seconds before a transfer goes on
#: What to do where temporary files cannot be written.
ROOM = "make room there, or set TMPDIR to another folder"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A bundle's file: what its bytes must be, and what messages call it."""

    digest: Digest
    what: str
    size: int | None = None


@contextmanager
def download(
    read: Read,
    wanted: Wanted,
    *,
    cache: Cache | None = None,
    patience: float = PATIENCE,
    heard: Heard = lambda *_: None,
) -> Iterator[BinaryIO]:
    """Open the file that is wanted: from the cache, or as it is read; its size and digest are verified.

    Raises `IntegrityError`, naming expected and found, and `UnavailableError` after ``patience`` seconds.
    """
    if wanted.size is not None and wanted.size > LIMITS.packed_size:
        problem = f"it is listed with {wanted.size} bytes; a bundle has at most {LIMITS.packed_size}"
        raise IntegrityError(f"{wanted.what}: {problem}")
    with ExitStack() as held:
        if cache is None:
            try:
                folder = held.enter_context(TemporaryDirectory(prefix="packyard-"))
            except OSError as error:
                where = "the folder for temporary files"
                raise UnavailableError(Problem(error.strerror or str(error), file=where, hint=ROOM)) from error
            cache = Cache(Path(folder), room=ROOM)
        transfer = _Transfer(read, wanted, time.monotonic() + patience, patience, heard)
        yield held.enter_context(cache.obtain(wanted.digest, transfer.fill))


@dataclass(frozen=True, slots=True)
class _Transfer:
    read: Read
    wanted: Wanted
    end: float
    patience: float
    heard: Heard

    def fill(self, file: BinaryIO) -> None:
        """Write what is wanted to an empty file, and go on where a transfer breaks off."""
        hashed, size = hashlib.sha256(), self.wanted.size

        def ask() -> None:
            """Ask for the rest; once time is up, whoever waits has left, and nothing more is written."""
            for piece in self.read(file.tell()):
                self._check(file.tell() + len(piece))
                hashed.update(piece)
                file.write(piece)
                self.heard(self.wanted.what, file.tell(), size)

        while True:
            start, broken = file.tell(), None
            try:
                within(max(0.0, self.end - time.monotonic()), ask)
            except (NotFoundError, MissingStoreError):
                raise
            except OverdueError:
                raise self._late(file.tell()) from None
            except UnavailableError as error:
                broken = error
            if file.tell() == size or (broken is None and size is None):
                break
            if file.tell() == start:
                raise broken or self._other(f"expected {size} bytes, found {start}")
            time.sleep(_PAUSE)
        digest = Digest(f"sha256:{hashed.hexdigest()}")
        if digest != self.wanted.digest:
            raise self._other(f"expected {self.wanted.digest}, found {digest}")

    def _check(self, size: int) -> None:
        """Refuse more bytes than are wanted, and to go on when the time is up."""
        limit = LIMITS.packed_size if self.wanted.size is None else self.wanted.size
        if size > limit:
            raise self._other(f"expected {'up to ' * (self.wanted.size is None)}{limit} bytes, found more")
        if time.monotonic() > self.end:
            raise OverdueError

    def _other(self, problem: str) -> IntegrityError:
        return IntegrityError(Problem(problem, file=self.wanted.what))

    def _late(self, size: int) -> UnavailableError:
        arrived = f"{size} bytes" if self.wanted.size is None else f"{size} of {self.wanted.size} bytes"
        hint = "set PACKYARD_TIMEOUT to more seconds, and run again"
        problem = f"the transfer took more than {self.patience:g} seconds: {arrived} arrived"
        return UnavailableError(Problem(problem, file=self.wanted.what, hint=hint))
