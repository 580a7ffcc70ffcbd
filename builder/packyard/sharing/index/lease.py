"""One writer at a time, on stores that cannot promise that one of many creates an object.

Lamport's bakery: a writer puts a ticket into ``index/writers/``, whose number is greater than those that it sees, and
waits for all lower ones. Each writer writes its own ticket only, so that no two ever write one object.

    index/writers/<writer>.json    {"number": 3, "renewed": 17}    number 0: still choosing

A holder renews its ticket. One that does not change for a while, by the clock of whoever waits, belongs to a writer
that was killed, and is removed. A holder that lost its ticket finds out before it writes the head.
"""

from __future__ import annotations

import math
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from packyard.core.bundle import record
from packyard.core.bundle.record import Record
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, PackyardError, Problem, UnavailableError
from packyard.sharing.stores.store import NotFoundError, Store, get_or_none

FOLDER = "index/writers/"
_STALE = 30.0  # seconds without a renewal
_PATIENCE = 600.0  # seconds that a writer waits
_PAUSE, _LONGEST_PAUSE = 0.05, 0.5  # seconds between two looks; each is twice as long as the one before
_SOON = 3.0  # seconds that nobody is told of
_LIMIT = 4096

Told = Callable[[], object]
"""Is told, once, that another writer has the channel, and that we wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ticket:
    number: int = 0
    renewed: int = 0

    @classmethod
    def take(cls, fields: Record) -> _Ticket:
        return cls(number=fields.take("number", record.size), renewed=fields.take("renewed", record.size))

    def to_bytes(self) -> bytes:
        fields = {"number": self.number, "renewed": self.renewed}
        return record.to_bytes({"apiVersion": record.API_VERSION, "kind": "WriterTicket", **fields})


class Lease:
    """A ticket of ours in a store, which others take for abandoned after ``stale`` seconds without a renewal."""

    def __init__(self, store: Store, stale: float) -> None:
        self._store, self._stale = store, stale
        self._key = f"{FOLDER}{secrets.token_hex(16)}.json"
        self._lock = threading.Lock()
        self._ticket: _Ticket | None = None

    def check(self) -> None:
        """Raise `UnavailableError` if somebody removed our ticket, because it was not renewed in time."""
        if get_or_none(self._store, self._key, limit=_LIMIT) is None:
            raise self._lost()

    def _lost(self) -> UnavailableError:
        problem = "this writer was slower than others wait: its ticket is gone"
        return UnavailableError(Problem(problem, file=self._store.address, hint="run again"))

    def _write(self, ticket: _Ticket) -> None:
        with self._lock:
            before = self._ticket
            expected = None if before is None else Digest.of(before.to_bytes())
            try:
                self._store.swap(self._key, ticket.to_bytes(), expected)
            except ConflictError as error:
                raise self._lost() from error
            self._ticket = ticket

    def _take(self) -> int:
        """Choose a number that is greater than all that are there."""
        self._write(_Ticket())
        number = 1 + max((ticket.number for _, ticket in _tickets(self._store)), default=0)
        self._write(_Ticket(number=number))
        return number

    def _wait(self, number: int, patience: float, told: Told) -> None:
        """Wait until no ticket comes before ours."""

        def is_before(key: str, other: int) -> bool:
            return key != self._key and (other, key) < (number, self._key)

        _wait(self._store, is_before, self._stale, patience, told)

    def _renew(self, stop: threading.Event) -> None:
        while not stop.wait(self._stale / 5):
            try:
                assert self._ticket
                self._write(replace(self._ticket, renewed=self._ticket.renewed + 1))
            except PackyardError:  # the next one may succeed; `check` finds out if not
                continue


@contextmanager
def hold(
    store: Store, told: Told = lambda: None, *, stale: float = _STALE, patience: float = _PATIENCE
) -> Iterator[Lease]:
    """Wait until no other writer has the channel, and keep others waiting.

    A ticket counts for ``stale`` seconds after its last renewal. Who waits ``patience`` seconds in vain is told by an
    `UnavailableError`.
    """
    lease, stop = Lease(store, stale), threading.Event()
    renewal = threading.Thread(target=lease._renew, args=(stop,), daemon=True)
    try:
        number = lease._take()
        renewal.start()
        lease._wait(number, patience, told)
        yield lease
    finally:
        stop.set()
        if renewal.ident:
            renewal.join()
        store.remove(lease._key)


@contextmanager
def exclusive(store: Store, told: Told = lambda: None, *, always: bool = False) -> Iterator[Callable[[], object]]:
    """Keep other writers waiting, if the store needs that; yield what checks, or waits, before something is listed."""
    if store.promises.create and not always:
        yield lambda: wait(store, told)
    else:
        with hold(store, told) as lease:
            yield lease.check


def wait(store: Store, told: Told = lambda: None, *, patience: float = _PATIENCE) -> None:
    """Wait while another writer holds the channel."""
    _wait(store, lambda _key, _number: True, _STALE, patience, told)


def _wait(store: Store, blocks: Callable[[str, int], bool], stale: float, patience: float, told: Told) -> None:
    """Wait while there is a ticket, by its key and number, that blocks us; remove those that do not change."""
    begin = time.monotonic()
    soon, end, seen, pause = begin + _SOON, begin + patience, dict[str, tuple[_Ticket, float]](), _PAUSE
    while True:
        now, waiting = time.monotonic(), ""
        for key, ticket in _tickets(store):
            if not blocks(key, ticket.number):
                continue
            before, since = seen.get(key, (None, now))
            if before == ticket and now - since > stale:
                store.remove(key)
                continue
            if before != ticket:
                seen[key] = ticket, now
            waiting = key
        if not waiting:
            return
        if now > end:
            problem = f"another writer has the channel for {patience:g} seconds: {waiting}"
            raise UnavailableError(Problem(problem, file=store.address, hint="run again later"))
        if now > soon:
            told()
            soon = math.inf
        time.sleep(random.uniform(0.2, 1) * pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _tickets(store: Store) -> Iterator[tuple[str, _Ticket]]:
    for key in store.list(FOLDER):
        try:
            yield key, record.parse(store.get(key, limit=_LIMIT), _Ticket.take, kind="WriterTicket", file=key)
        except NotFoundError:  # removed meanwhile
            continue
        except IntegrityError:  # nobody renews it
            yield key, _Ticket()
