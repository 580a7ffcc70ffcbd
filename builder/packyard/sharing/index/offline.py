"""What is remembered of a channel: the last index that was accepted, and all that was read, for when it is offline.

Shards and records never change: those that are remembered are not asked for again. Everything else is asked for every
time, as long as there is an answer; from the first time that there is none, the channel is as it was: what was not read
then is not there. One that refuses us is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NoReturn

from packyard.core.bundle import record
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.core.files import atomic, regular
from packyard.core.files.regular import LIMIT
from packyard.core.work.cache import Cache
from packyard.sharing.index.index import KEY, Index
from packyard.sharing.stores.store import (
    DeniedError,
    MissingStoreError,
    NotFoundError,
    ReadOnly,
    Store,
    TooLongError,
    digest_in,
)
from packyard.sharing.trust.keys import NOBODY, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a client remembers of a channel: the index that it accepted last, byte for byte, in a file of its own."""

    file: Path

    def read(self, store: Store | None = None, trusted: Trust = NOBODY) -> Index | None:
        """Return what was remembered, if anything; ``store`` has its shards and records."""
        if not self.file.exists():
            return None
        name = str(self.file)
        try:
            return Index.parse(regular.read(self.file, limit=record.LIMIT), store, trusted, file=name)
        except IntegrityError as error:
            raise error.hinted("remove the file to forget what this channel had") from error

    def write(self, index: Index) -> None:
        """Remember an index; a file that cannot be written is no reason to fail."""
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(str(self.file), index.data, mode=0o644, durable=False)

    def forget(self) -> None:
        """Forget the channel."""
        self.file.unlink(missing_ok=True)


class RememberedStore(ReadOnly):
    """A store to read from; ``tell`` is called once, with the error, if it cannot be reached and is remembered.

    It is remembered under a name, which tells two servers apart; without one, under its address.
    """

    def __init__(
        self, store: Store, cache: Cache, tell: Callable[[UnavailableError], object], *, name: str = ""
    ) -> None:
        self.address = store.address
        self._name = name or store.address
        self._store, self._cache, self._tell = store, cache, tell
        self._room = cache.limit  # bytes that are kept, as the cache may be smaller than the channel
        self._error: UnavailableError | None = None
        self._once = Lock()

    @property
    def is_reached(self) -> bool:
        """Whether the store has answered all that was asked; otherwise what was remembered is what it had."""
        return self._error is None

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes, from the store or as they were; see `Store.get`."""
        if key.endswith(".tar.gz"):  # bundles have a cache of their own
            if self._error is not None:
                raise self._error
            return self._store.get(key, limit=limit)
        place, named = Digest.of(f"{self._name}\n{key}".encode()), digest_in(key)
        kept = self._cache.get(place)
        if kept is not None and named and Digest.of(kept) == named:
            return kept
        if self._error is None:
            try:
                data = self._store.get(key, limit=limit)
            except (DeniedError, MissingStoreError, NotFoundError, TooLongError):
                raise
            except UnavailableError as error:
                if kept is None:
                    raise
                with self._once:  # several are asked for at a time
                    if self._error is None:
                        self._error = error
                        self._tell(error)
            else:
                self._room -= len(data)
                if self._room >= 0:
                    with suppress(UnavailableError):  # a cache that cannot be written is no reason to fail
                        self._cache.put(place, data)
                return data
        if kept is None and (named or key == KEY):
            raise self._error
        if kept is None:
            raise NotFoundError(Problem("was not there", file=key))
        return kept

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
        """Return keys; see `Store.list`."""
        return self._store.list(prefix, age=age)

    def refuse(self) -> NoReturn:
        """Say that this one is for reading."""
        raise UnavailableError(Problem("is opened to read", file=self.address))
