"""The heads of an index: numbered envelopes, each created once. To create the next one is to publish.

    index/heads/12.json    immutable: the roots of the maps, and the digests of earlier heads
    index/head.json        a copy of the latest, or of one before it: where readers begin

A head links back to the head before it, the last one whose number is even, the last that is a multiple of four, and so
on. So a new head's links follow from those of the one before, and a reader who knows an old head can prove with few
requests that a new one descends from it.

The first head makes an id for its channel, which every later one has, and every record beside them (`records`). So
nothing that one key signed for one channel counts in another. Channels made before that have no id.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, checked, in_json
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files import atomic, regular
from packyard.sharing.index.tree import Node
from packyard.sharing.stores.store import Store, get_or_none
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust

POINTER = "index/head.json"
FOLDER = "index/heads/"
TYPE = "application/vnd.packyard.index-head+json"
LIMIT = 1024 * 1024  # bytes
_MOST = 10**12  # heads
_EMPTY = Node()
_NONE = Digest("")


_ID = re.compile(r"[0-9a-f]{32}")


def check_id(channel: str) -> None:
    """Refuse what is neither the id of a channel nor empty."""
    if channel and not _ID.fullmatch(channel):
        raise InputError(f"{channel[:80]!r} is not the id of a channel")


def new_id() -> str:
    """Return an id for a channel, at random."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a channel holds, once its ``number``-th change is made; ``digest`` is that of the file.

    ``channel`` is the id of the channel.
    ``packages`` maps names to the digests of records, ``releases`` maps versions to what is said of the release.
    ``listing`` maps names to what is listed of them (`summary`); its root has one entry, so that a head stays small.
    Heads of earlier releases have none, but ``words``, which are no longer used or written.
    ``signers`` are the trusted keys that signed it; ``is_signed`` says whether anybody did.
    """

    number: int = 0
    digest: Digest = _NONE
    channel: str = ""
    history: Mapping[int, Digest] = field(default_factory=dict)
    packages: Node = _EMPTY
    listing: Node = _EMPTY
    words: Node = _EMPTY
    releases: Node = _EMPTY
    extra: Mapping[str, object] = field(default_factory=dict)
    signers: tuple[str, ...] = field(default=(), compare=False)
    is_signed: bool = field(default=False, compare=False)

    @classmethod
    def parse(cls, data: bytes, trusted: Trust, *, file: str, number: int | None = None) -> Head:
        """Open the envelope of a head; it must have the number that is asked for, if one is."""
        opened = envelope.open(data, TYPE, trusted, file=file)
        head = record.parse(opened.payload, partial(cls._read, Digest.of(data)), kind="IndexHead", file=file)
        if number not in (None, head.number):
            raise IntegrityError(Problem(f"must be head {number}, found head {head.number}", file=file))
        return replace(head, signers=opened.signers, is_signed=bool(opened.signers or opened.others))

    @classmethod
    def _read(cls, digest: Digest, fields: Record) -> Head:
        number = fields.take("number", record.size)
        if not 0 < number < _MOST:
            raise FaultError(f"expected the number of a head, found {number}", "number")
        history = fields.take("history", record.map_of(record.digest))
        if sorted(history) != sorted(map(str, links(number))):
            raise FaultError(f"expected the heads that head {number} links to", "history")
        return cls(
            number=number,
            digest=digest,
            channel=fields.take("channel", record.checked(check_id), ""),
            history={int(text): linked for text, linked in history.items()},
            packages=fields.take("packages", Node.read),
            listing=fields.take("listing", Node.read, _EMPTY),
            words=fields.take("words", Node.read, _EMPTY),
            releases=fields.take("releases", Node.read),
            extra=fields.rest(),
        )

    def payload(self) -> bytes:
        """Return what the envelope of this head holds, a line for each field."""
        fields = {
            "apiVersion": record.API_VERSION,
            "kind": "IndexHead",
            **({"channel": self.channel} if self.channel else {}),
            "number": self.number,
            "history": {str(number): digest for number, digest in self.history.items()},
            "packages": self.packages.document(),
            "listing": self.listing.document(),
            "releases": self.releases.document(),
        }
        return record.to_lines({**fields, **self.extra}, levels={})

    def next_history(self) -> dict[int, Digest]:
        """Return the history of the head after this one."""
        history = {**self.history, self.number: self.digest} if self.number else {}
        return {number: history[number] for number in links(self.number + 1)}


def key(number: int) -> str:
    """Return the key of a head."""
    return f"{FOLDER}{number}.json"


def read(store: Store, number: int, trusted: Trust = NOBODY) -> Head:
    """Return the head of a number."""
    return Head.parse(store.get(key(number), limit=LIMIT), trusted, file=key(number), number=number)


def links(number: int) -> Iterator[int]:
    """Yield the numbers of the earlier heads that a head links to: 13 links to 12 and 8."""
    number -= 1
    while number > 0:
        yield number
        number &= number - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A head by its number and digest, with the id of its channel, and the file that says so; number 0 is none."""

    number: int = field(default=0, metadata=in_json(record.size))
    digest: Digest = field(default=_NONE, metadata=in_json(record.digest))
    channel: str = field(default="", metadata=in_json(checked(check_id), ""))
    extra: Mapping[str, object] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a client remembers of a channel: the last head that it saw, in a file of its own."""

    file: Path

    def read(self) -> Remembered:
        """Return what was remembered, if anything."""
        if not self.file.exists():
            return Remembered()
        name = str(self.file)
        try:
            data = regular.read(self.file, limit=LIMIT)
            remembered = record.parse(
                data, lambda fields: fields.take_all(Remembered), kind="RememberedHead", file=name
            )
            return replace(remembered, file=name)
        except IntegrityError as error:
            hint = "remove the file to forget what this channel had"
            raise IntegrityError(*(Problem(each.message, file=name, hint=hint) for each in error.problems)) from error

    def write(self, head: Head) -> None:
        """Remember a head; a file that cannot be written is no reason to fail."""
        remembered = Remembered(number=head.number, digest=head.digest, channel=head.channel)
        fields = {"apiVersion": record.API_VERSION, "kind": "RememberedHead", **record.document(remembered)}
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(str(self.file), record.to_bytes(fields), mode=0o644, durable=False)


def latest(store: Store, trusted: Trust = NOBODY, memory: Memory | None = None) -> Head | None:
    """Return the latest head of a channel, verified, or None if the channel has none.

    One that is older than the remembered head, does not descend from it, or is another channel's, is an
    `IntegrityError`.
    """
    remembered = memory.read() if memory else Remembered()
    begin = _begin(store, trusted, remembered)
    head = _forward(store, trusted, begin)
    if head is None:
        if remembered.number:
            raise _older(store, remembered, "the channel has no head any more")
        return None
    if (begin and begin.channel != head.channel) or (remembered.number and remembered.channel != head.channel):
        problem = f"has the head {head.number} of another channel"
        hint = f"{_ASK}; if its index was made anew, remove {remembered.file}" if remembered.file else _ASK
        raise IntegrityError(Problem(problem, file=store.address, hint=hint))
    _check_descent(store, head, remembered)
    if memory and head.number > remembered.number:
        memory.write(head)
    return head


def trust_to_write(keys: Sequence[SigningKey], trusted: Trust) -> Trust:
    """Return whom to trust in a channel that is written to, and refuse to write what we would refuse to read there.

    Who signs a head vouches for all that it lists. So whoever signs, and trusts no key, trusts the own ones: what
    somebody else wrote into the channel is refused, and not signed.
    """
    if keys and not trusted.is_required:
        return replace(Trust.of(*(key.public for key in keys), revoked=trusted.revoked), is_own=True)
    if trusted.is_required and not any(trusted.get(key.public.id) for key in keys):
        signed = f"signed by {keys[0].public.id}, which you do not trust for this channel" if keys else "not signed"
        hint = "sign with a key that you trust for this channel: --key NAME; packyard keys list shows them"
        raise InputError(Problem(f"what you publish would be {signed}", hint=hint))
    return trusted


def check_signed(store: Store, before: Head, keys: Sequence[SigningKey]) -> None:
    """Refuse to let a head that is signed be followed by one that is not."""
    if before.is_signed and not keys:
        problem = "its index is signed, and you have no key"
        hint = "sign with a key that its users trust, by --key NAME or PACKYARD_SIGNING_KEY"
        raise InputError(Problem(problem, file=store.address, hint=hint))


def create(store: Store, head: Head, keys: Sequence[SigningKey]) -> Head:
    """Write the head that follows ``head.number - 1``, or raise `ConflictError` if another one does; then point to it.

    What it names must be in the store.
    """
    data = envelope.sign(head.payload(), TYPE, keys)
    if len(data) > LIMIT:
        raise UnavailableError(Problem(f"would be larger than {LIMIT} bytes", file=key(head.number)))
    store.put(key(head.number), data)
    with suppress(ConflictError):  # readers find their way from any head
        _point(store, data, head.number)
    return Head.parse(data, NOBODY, file=key(head.number))


def _point(store: Store, data: bytes, number: int) -> None:
    """Let the pointer be a copy of this head, unless it is one of a later head."""
    before, other = get_or_none(store, POINTER, limit=LIMIT), 0
    with suppress(IntegrityError):  # a damaged one is replaced
        other = 0 if before is None else Head.parse(before, NOBODY, file=POINTER).number
    if other < number:
        store.swap(POINTER, data, None if before is None else Digest.of(before))


def _begin(store: Store, trusted: Trust, remembered: Remembered) -> Head | None:
    """Return the head to begin with: the pointer's, or the remembered one where the pointer is behind it."""
    data = get_or_none(store, POINTER, limit=LIMIT)
    head = None if data is None else Head.parse(data, trusted, file=POINTER)
    if remembered.number > (head.number if head else 0):
        data = get_or_none(store, key(remembered.number), limit=LIMIT)
        if data is None:
            raise _older(store, remembered, f"its latest head is {head.number}" if head else "the channel has no head")
        head = Head.parse(data, trusted, file=key(remembered.number), number=remembered.number)
    return head


def _forward(store: Store, trusted: Trust, head: Head | None) -> Head | None:
    """Return the last of the heads that follow: look ahead in growing steps, then in between."""
    low, step = head.number if head else 0, 1
    by_number: dict[int, bytes] = {}

    def exists(number: int) -> bool:
        data = get_or_none(store, key(number), limit=LIMIT) if number < _MOST else None
        by_number.update({} if data is None else {number: data})
        return data is not None

    while exists(low + step):
        low, step = low + step, step * 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exists(middle) else (low, middle)
    return Head.parse(by_number[low], trusted, file=key(low), number=low) if low in by_number else head


def _check_descent(store: Store, head: Head, remembered: Remembered) -> None:
    """Follow the links from a head back to the remembered one."""
    if not remembered.number:
        return
    digest = head.digest
    while head.number > remembered.number:
        number = min(each for each in head.history if each >= remembered.number)
        digest = head.history[number]
        if number == remembered.number:
            break
        data = _linked(store, number)
        digest.verify(data, what=f"{store.address}: {key(number)}")
        head = Head.parse(data, NOBODY, file=key(number), number=number)
    if digest != remembered.digest:
        problem = f"has another history: its head {remembered.number} was {remembered.digest}, and is {digest} now"
        raise IntegrityError(Problem(problem, file=store.address, hint=_ASK))


def _linked(store: Store, number: int) -> bytes:
    """Return a head to which a later one links."""
    data = get_or_none(store, key(number), limit=LIMIT)
    if data is None:
        problem = "is missing, and a later head links to it"
        raise IntegrityError(Problem(problem, file=f"{store.address}: {key(number)}", hint=_ASK))
    return data


_ASK = "do not use it; ask whoever publishes there what happened"


def _older(store: Store, remembered: Remembered, state: str) -> IntegrityError:
    problem = f"is older than before: it had head {remembered.number}, and now {state}"
    hint = f"{_ASK}; if its index was lost or made anew, remove {remembered.file}"
    return IntegrityError(Problem(problem, file=store.address, hint=hint))
