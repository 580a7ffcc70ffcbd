"""The index in a channel's store: finding it, reading it, and changing it while others may do the same."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from packyard.core.errors import ConflictError, IntegrityError, Problem, UnavailableError
from packyard.sharing.index import flat, head, lease, trial
from packyard.sharing.index.head import Memory
from packyard.sharing.index.index import Index
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.stores.store import NotFoundError, Store, UnmadeStoreError, pointing_to_fsck
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust


def find(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Index | None:
    """Return a channel's index, or None if it has none. That of packyard 0.1.0 is an index with the head 0."""
    with pointing_to_fsck(store):
        latest = head.latest(store, trusted, memory)
        if latest is not None:
            return Index(head=latest, nodes=Nodes(store))
        entries = flat.read(store)
    if entries is None:
        return None
    if trusted.is_required:
        hint = "its publisher has to sign it: packyard fsck CHANNEL --repair --key NAME"
        raise IntegrityError(Problem("is not signed: it is of packyard 0.1.0", file=flat.KEY, hint=hint))
    return Index.of_entries(entries, Nodes(store))


def read(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Index:
    """Return a channel's index, or raise `NotFoundError` if it has none."""
    index = find(store, trusted, memory)
    if index is None:
        hint = "is this a channel, and has it lost its index?"
        raise NotFoundError(Problem("no index", file=f"{store.address}: {head.POINTER}", hint=hint))
    return index


def current(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Index:
    """Return a channel's index to change it; an empty one, with the head 0, where there is none, or no channel yet."""
    with suppress(UnmadeStoreError):
        return find(store, trusted, memory) or Index(nodes=Nodes(store))
    return Index(nodes=Nodes(store))


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who writes into a channel: signs with ``keys``, and follows no head that ``trusted`` and ``memory`` refuse.

    A channel that has no head gets its id from ``new_id``. ``waits`` is told of a wait for another writer.
    """

    keys: Sequence[SigningKey] = ()
    trusted: Trust = NOBODY
    memory: Memory | None = None
    new_id: Callable[[], str] = head.new_id
    waits: lease.Told = lambda: None

    def current(self, store: Store) -> Index:
        """Return the index of a channel as it is now; see `current`."""
        return current(store, self.trusted, self.memory)

    def in_channel(self) -> Publisher:
        """Return the same with what `head.trust_to_write` returns."""
        return replace(self, trusted=head.trust_to_write(self.keys, self.trusted))


#: Signs nothing, and trusts no key.
UNSIGNED = Publisher()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """What changes the index of a channel for a publisher.

    ``check`` raises if others took the lease from us, or waits for them; it comes before anything is listed.
    ``attempts``: how often a change is tried while others are faster.
    """

    store: Store
    by: Publisher
    check: Callable[[], object]
    attempts: int = 200

    def current(self) -> Index:
        """Return the index as it is now."""
        return self.by.current(self.store)

    def commit(self, change: Callable[[Index], Index]) -> Index:
        """Make a change of its index the channel's, while others may do the same; return the new index.

        The change is made again whenever another publisher was faster. A channel without an index gets one.
        """
        for attempt in range(self.attempts):
            before = self.current()
            after = change(before)
            if after == before and before.head.number:
                return after
            head.check_signed(self.store, before.head, self.by.keys)
            self.check()
            after.write()
            number, history = before.head.number + 1, before.head.next_history()
            channel = before.head.channel if before.head.number else self.by.new_id()
            following = replace(after.head, channel=channel, number=number, history=history)
            self.check()
            try:
                created = head.create(self.store, following, self.by.keys)
            except ConflictError:  # another publisher was faster: try again after a random pause
                time.sleep(random.uniform(0, min(2.0, 0.02 * 2**attempt)))
            else:
                if self.by.memory:
                    self.by.memory.write(created)
                return replace(after, head=created)
        problem = "too many others publish at the same time"
        raise UnavailableError(Problem(problem, file=self.store.address, hint="run again"))


@contextmanager
def writer(store: Store, by: Publisher = UNSIGNED, *, alone: bool = False) -> Iterator[Writer]:
    """Yield what changes the index of a channel.

    ``alone``, others wait until it is done, and there has to be an index. Otherwise they only wait if the store cannot
    promise that one of many creates a head.
    """
    by = by.in_channel()
    has_head = not alone or read(store, by.trusted, by.memory).head.number
    store = trial.tried(store)
    with pointing_to_fsck(store), lease.exclusive(store, by.waits, always=alone) as check:
        writing = Writer(store=store, by=by, check=check)
        if not has_head:  # it is of packyard 0.1.0, and has no id yet
            writing.commit(lambda index: index)
        yield writing
