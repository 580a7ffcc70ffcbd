"""The verbs of a store, what they raise, and what a key is."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import NoReturn, Protocol

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, PackyardError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT

#: See `patience`.
PATIENCE = 300.0
#: Keys that are listed at most: more than any channel has. A listing without end is refused there.
MOST_KEYS = 10_000_000
#: Below it lies the index.
FOLDER = "index/"
#: Below it a store asks its server what it keeps; what lies there later was left by a process that was killed.
PROBES = f"{FOLDER}probe/"

_IMMUTABLE = re.compile(r"index/(?:p/[^/]+/)?([0-9a-f]{64})\.json")
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")


def patience() -> float:
    """Return the seconds that one call, or the wait for another writer, may take."""
    return PATIENCE


class NotFoundError(UnavailableError):
    """The store has nothing under that key."""


class MissingStoreError(UnavailableError):
    """There is no store at this address; whoever takes a missing object for an answer does not take this for one."""


class UnmadeStoreError(MissingStoreError):
    """There is no store yet at this address; the first write makes it."""


class DeniedError(UnavailableError):
    """The store answers, and refuses: the credentials are missing or wrong, or may not do that. It is no outage."""


class TooLongError(UnavailableError):
    """An object is larger than the limit of the caller."""


class Store(Protocol):
    """Bytes by key. What fails now, or is not possible with this kind of store, is an `UnavailableError`.

    Where the place itself does not exist, reading verbs raise `MissingStoreError`, or `UnmadeStoreError`.
    """

    @property
    def address(self) -> str:
        """The address as messages show it: never with a user or password."""

    def keeps_conditions(self) -> bool:
        """Return whether of many that `put` or `swap` one key at once exactly one wins; its server may be asked."""

    def put(self, key: str, data: bytes) -> None:
        """Create an immutable object, in one step.

        Putting the same bytes again changes nothing; other bytes are a `ConflictError`.
        """

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes, or raise `NotFoundError`, or `TooLongError` beyond ``limit`` bytes."""

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
        """Return, sorted, the keys that begin with ``prefix``, which may end inside a part.

        With an age, those that were written so many seconds ago; none where that is not known.
        """

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object if its bytes still have the digest ``expected``, or create it if that is None.

        Otherwise another writer was faster: `ConflictError`, and nothing is changed. Readers see old or new bytes.
        """

    def remove(self, key: str) -> None:
        """Remove an object; that it is missing is fine."""


class ReadOnly:
    """A store that is only read: its verbs that write are `refuse`, which says why."""

    refusal: PackyardError

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse."""
        raise self.refusal


def too_long(place: str, limit: int) -> TooLongError:
    """Return the error to raise for an object beyond a limit."""
    return TooLongError(Problem(f"is larger than {limit} bytes", file=place, hint="is this a channel?"))


@contextmanager
def pointing_to_fsck(store: Store) -> Iterator[None]:
    """Say of what is damaged or missing in a channel, with no next step yet, what shows to its publisher what to do."""
    try:
        yield
    except (IntegrityError, NotFoundError) as error:
        who, channel = "there", quote(store.address)
        if store.address.startswith(("http://", "https://")):
            who, channel = f"what {store.address} serves", "CHANNEL"
        raise error.hinted(f"whoever publishes {who} sees what to do: packyard fsck {channel}") from error


def get_or_none(store: Store, key: str, *, limit: int = LIMIT) -> bytes | None:
    """Return an object's bytes, or None where the store has none; that there is no store remains an error."""
    try:
        return store.get(key, limit=limit)
    except NotFoundError:
        return None


def digest_in(key: str) -> Digest | None:
    """Return the digest in the key of a shard or a record of an index, None for any other key."""
    match = _IMMUTABLE.fullmatch(key)
    return Digest(f"sha256:{match[1]}") if match else None


def is_key(text: str) -> bool:
    """Say whether a text is a key."""
    return bool(_KEY.fullmatch(text))


def check_key(key: str) -> None:
    """Refuse a text that is not a key, so that no key leads out of a store."""
    if not is_key(key):
        raise InputError(f"{key!r} is not a key for a store")


def check_listed(count: int, place: str) -> None:
    """Refuse to list more keys than `MOST_KEYS`."""
    if count > MOST_KEYS:
        raise UnavailableError(Problem(f"lists more than {MOST_KEYS} objects", file=place, hint="is this a channel?"))


def check_same(place: str, actual: Digest, wanted: Digest) -> None:
    """Refuse to put other bytes than those that are there."""
    if actual != wanted:
        problem = f"exists with other content: it has {actual}, the new one {wanted}"
        raise ConflictError(Problem(problem, file=place, hint="what is published never changes"))
