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
        end = time.monotonic() + patience
        yield held.enter_context(cache.obtain(wanted.digest, lambda file: _fill(file, read, wanted, end, heard)))


def _fill(file: BinaryIO, read: Read, wanted: Wanted, end: float, heard: Heard) -> None:
    """Write what is wanted to an empty file, and go on where a transfer breaks off, until the time is up."""
    hashed, size = hashlib.sha256(), wanted.size
    limit = LIMITS.packed_size if size is None else size
    while True:
        start, broken = file.tell(), None
        try:
            for piece in read(start):
                if file.tell() + len(piece) > limit:
                    raise _other(wanted, f"expected {'up to ' * (size is None)}{limit} bytes, found more")
                hashed.update(piece)
                file.write(piece)
                heard(wanted.what, file.tell(), size)
                if time.monotonic() > end:
                    break
        except (NotFoundError, MissingStoreError):
            raise
        except UnavailableError as error:
            broken = error
        if time.monotonic() > end and file.tell() != size:
            arrived = f"{file.tell()} bytes" if size is None else f"{file.tell()} of {size} bytes"
            problem = f"the transfer took too long: {arrived} arrived"
            hint = "set PACKYARD_TIMEOUT to more seconds, and run again"
            raise UnavailableError(Problem(problem, file=wanted.what, hint=hint))
        if file.tell() == size or (broken is None and size is None):
            break
        if file.tell() == start:
            raise broken or _other(wanted, f"expected {size} bytes, found {start}")
        time.sleep(_PAUSE)
    digest = Digest(f"sha256:{hashed.hexdigest()}")
    if digest != wanted.digest:
        raise _other(wanted, f"expected {wanted.digest}, found {digest}")


def _other(wanted: Wanted, problem: str) -> IntegrityError:
    return IntegrityError(Problem(problem, file=wanted.what))
