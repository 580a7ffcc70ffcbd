"""The index in a channel's store: reading it as far as the user trusts it, and changing it while others do the same.

A reader takes index.json, checks who signed it, and compares it with what is remembered of this address: another
channel, an older index, or one that is no longer signed is refused. A publisher does so, too, and then

1. writes the records and shards that are new,
2. swaps index.json with the one whose number follows, if it is still what was read,
3. or, where another publisher was faster, pauses at random and begins again with what is there now.

A crash before the swap has changed nothing that anybody reads.
"""

import random
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote

from packyard.core.bundle import record
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, UnavailableError, suggest
from packyard.core.files import atomic, regular
from packyard.core.work import parallel
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.index import KEY, MANY, ONE, Index, sealed
from packyard.sharing.index.repositories import RegistryIndex
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.store import NotFoundError, Store, UnmadeStoreError, patience, pointing_to_fsck
from packyard.sharing.trust import envelope, provenance
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import NOBODY, Trust

_PAUSE, _LONGEST_PAUSE = 0.02, 2.0  # seconds
_SHOWN = 5  # names in a message


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


class OlderError(IntegrityError):
    """The channel shows an older index than before: a cache may lag, or somebody may hide what is new."""


def _find(store: Store, trusted: Trust, memory: Memory | None) -> Index:
    """Return a channel's index, verified; one with the number 0 where it has none. A registry always has one."""
    if registry := as_registry(store):
        return RegistryIndex.of(registry)
    remembered = memory.read() if memory else None
    index = _get(store, trusted)
    if remembered and 0 < index.number < remembered.number and index.channel == remembered.channel:
        index = _get(store, trusted)  # another cache may have a newer one
    if remembered:
        _check(store, index, remembered, trusted)
    if memory and index.number > (remembered.number if remembered else 0):
        memory.write(index)
    return index


def _get(store: Store, trusted: Trust) -> Index:
    with pointing_to_fsck(store):
        try:
            data = store.get(KEY, limit=record.LIMIT)
        except NotFoundError:
            return Index(store=store)
        return Index.parse(data, store, trusted)


def _check(store: Store, index: Index, remembered: Index, trusted: Trust) -> None:
    """Refuse an index that is not the one after what is remembered."""
    ask = f"ask its publisher why; if that is right, forget what it had: {trusted.let_go}"
    if not index.number:
        problem = f"has no index any more, and had number {remembered.number}"
    elif index.channel != remembered.channel:
        problem = f"is another channel than the one before: its id was {remembered.channel}, and is {index.channel}"
    elif remembered.is_signed and not index.is_signed:
        problem = "was signed before, and is not signed now"
    elif index.number < remembered.number:
        problem = f"shows an older index than before: number {index.number}, after number {remembered.number}"
        hint = f"a cache may be behind: try again in some minutes, or {ask}"
        raise OlderError(Problem(problem, file=store.address, hint=hint))
    else:
        return
    raise IntegrityError(Problem(problem, file=store.address, hint=ask))


def read(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Index:
    """Return a channel's index, or raise `NotFoundError` if it has none."""
    return check_there(_find(store, trusted, memory))


def current(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Index:
    """Return a channel's index; one with the number 0 where it has none, or is not there yet."""
    with suppress(UnmadeStoreError):
        return _find(store, trusted, memory)
    return Index(store=store)


def check_there(index: Index) -> Index:
    """Return the index of a channel that has one, or raise `NotFoundError`."""
    if not index.number:
        assert index.store
        hint = "check the address; whoever publishes there brings a lost index back: packyard fsck CHANNEL --repair"
        raise NotFoundError(Problem(f"has no {KEY}, as every channel has", file=index.store.address, hint=hint))
    return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who writes into a channel: signs with ``key``, and goes on from no index that ``trusted`` and ``memory`` refuse.

    ``tell`` hears what a publisher has to know.
    ``is_repairing``: whoever publishes looked at what is there.
    """

    key: Signing | None = None
    trusted: Trust = NOBODY
    memory: Memory | None = None
    tell: Callable[[str], object] = lambda _: None
    is_repairing: bool = False

    def current(self, store: Store) -> Index:
        """Return the index as it is now, to be changed; one with the number 0 where there is none yet.

        Whoever signs an index vouches for all that it lists: so it must not be signed by strangers alone, and a channel
        that is signed is not changed without a signature.
        """
        own = self.key.public.id if self.key else ""
        if self.trusted.is_required and own not in self.trusted.signatories:
            names = " or ".join(map(self.trusted.name, self.trusted.signatories))
            using = f"your key is {self.trusted.name(own)}" if own else "you have no key"
            hint = "sign with that key: --key NAME; "
            hint += f"to trust yours beside it: packyard keys trust KEY YOURS {quote(self.trusted.channel)}; "
            hint += f"to require no signature there: {self.trusted.let_go}"
            raise InputError(Problem(f"must be signed by {names}, and {using}", file=store.address, hint=hint))
        return self.checked(store, current(store, self.whom, self.memory))

    @property
    def own(self) -> Trust:
        """Whom to trust for what is published: without any keys that the user trusts there, the own one."""
        if self.trusted.is_required or not self.key:
            return self.trusted
        return Trust.of(self.key.public, channel=self.trusted.channel)

    @property
    def whom(self) -> Trust:
        """Whom to trust for an index to go on from, which may be one that nobody signed yet."""
        return self.own if self.trusted.is_required else self.own.optional()

    def checked(self, store: Store, index: Index) -> Index:
        """Return an index that this publisher may go on from, or refuse it."""
        if index.is_signed and not self.key:
            hint = "sign with the key of the channel, by --key NAME or PACKYARD_SIGNING_KEY"
            raise InputError(Problem("its index is signed, and you have no key", file=store.address, hint=hint))
        if index.is_signed and not index.signers:
            name, own = self.trusted.name(index.claimants[0]), self.trusted.key(self.key.public.id if self.key else "")
            hint = self.trusted.take(index.claimants[0], f" {own.name if own else 'YOURS'}")
            problem = f"its index names {name} as its signer, which you do not trust: your key would sign all of it"
            raise IntegrityError(Problem(problem, file=store.address, hint=hint))
        if index.number and self.key and not (index.is_signed or self.is_repairing or as_registry(store)):
            parallel.run(partial(self._check_unsigned, store), index.entries)
        return index

    def _check_unsigned(self, store: Store, entry: IndexEntry) -> None:
        """Refuse to sign an index that nobody signed, and that lists what an own key signed: it was signed before."""
        end, data = provenance.get(store, entry) or ("", b"")
        if envelope.open(data, self.own.optional(), file=entry.beside(end)).signers:
            problem = f"nobody signs its index any more, and you signed {entry} that it lists"
            channel = quote(self.trusted.channel)
            hint = f"bring the index back from a backup; or look at it, packyard list --from {channel}, "
            hint += f"and sign it: packyard fsck {channel} --repair --key NAME"
            raise IntegrityError(Problem(problem, file=store.address, hint=hint))

    def _tell_unsigned(self) -> None:
        if not self.key:
            self.tell("not signed: nobody can tell who published it; to sign the next time: packyard keys new NAME")

    def commit(self, store: Store, change: Callable[[Index], Index], *, before: Index | None = None) -> Index:
        """Make a change of its index the channel's, while others may do the same; return the new index.

        The change is made again whenever another publisher was faster. ``before`` is the index, if it was read already.
        """
        end, pause = time.monotonic() + patience(), _PAUSE
        while True:
            before = before or self.current(store)
            after = change(before)
            if isinstance(after, RegistryIndex):
                if not after.registry.marks:
                    once = "publish each package from one job at a time, as tags can be overwritten"
                    self.tell(f"{store.address}: {once}")
                self._tell_unsigned()
                return after.written()
            is_same = before.number and after == before and not after.files
            if is_same and (not self.key or self.key.public.id in (*before.signers, *before.claimants)):
                return before
            if not before.number:
                writers = MANY if store.keeps_conditions() else ONE
                after = replace(after, channel=after.channel or secrets.token_hex(16), writers=writers)
            try:
                return self._swap(store, before, after)
            except ConflictError as error:
                if time.monotonic() > end:
                    problem = f"others publish all the time, for {patience():g} seconds"
                    hint = "run again later"
                    raise UnavailableError(Problem(problem, file=store.address, hint=hint)) from error
            time.sleep(random.uniform(0, pause))
            before, pause = None, min(2 * pause, _LONGEST_PAUSE)

    def _swap(self, store: Store, before: Index, after: Index) -> Index:
        """Write what is new, and then the index that names it, if it is still as it was before."""
        after = replace(after, number=before.number + 1)
        data = sealed(after.payload(), self.key)
        try:
            parallel.run(lambda file: store.put(*file), after.files.items())
        except ConflictError as error:  # a shard or record that is there and damaged is no race
            raise IntegrityError(*error.problems) from error
        store.swap(KEY, data, Digest.of(before.data) if before.data else None)
        created = Index.parse(data, store, self.own)
        if self.memory:
            self.memory.write(created)
        if not before.number:
            self.tell(beginning(store))
        elif after.files and not self.is_repairing:
            self._tell_unsigned()
        if not before.number and created.writers == ONE:
            self.tell(f"{store.address} does not keep what several write at once: publish from one job at a time")
        if before.number and self.key and not before.is_signed:
            names = sorted(row.name for row in created.rows())
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            self.tell(f"your key now signs all that {store.address} lists: {', '.join(names[:_SHOWN])}{more}")
        return created


def beginning(store: Store, what: str = "is a new channel, which begins with this") -> str:
    """Say that a channel begins in a store, and ask whether one beside it was meant, which is called nearly so."""
    own = Path(store.address).absolute()
    names = [] if "://" in store.address else [file.parents[1].name for file in own.parent.glob(f"*/{KEY}")]
    hint = suggest(own.name, {*names} - {own.name})
    return f"{store.address} {what}" + (f" ({hint})" if hint else "")


#: Signs nothing, and trusts no key.
UNSIGNED = Publisher()
