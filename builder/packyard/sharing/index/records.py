"""What is said in a channel beside its heads: signed records of what is pending, yanked, closed and removed.

A record names its channel by the id that the heads have: signed by the same key, it says nothing in another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from packyard.core.bundle import record
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.stores.store import Store, get_or_none
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import SigningKey, Trust

_LIMIT = 64 * 1024


class _Said(Protocol):
    @property
    def channel(self) -> str:
        """The id of the channel."""


_T = TypeVar("_T", bound=_Said)


@dataclass(frozen=True, slots=True)
class Kind(Generic[_T]):
    """A kind of records: its name, the type of its payload, and the dataclass that declares its fields."""

    name: str
    payload_type: str
    made: type[_T]

    def to_bytes(self, value: _T, keys: Sequence[SigningKey]) -> bytes:
        """Return the envelope of a record, signed by each key."""
        document = {"apiVersion": record.API_VERSION, "kind": self.name, **record.document(value)}
        return envelope.sign(record.to_bytes(document), self.payload_type, keys)

    def get(self, store: Store, key: str, channel: str | None, trusted: Trust) -> _T | None:
        """Read the record under a key as `parse` does, or return None if there is none."""
        data = get_or_none(store, key, limit=_LIMIT)
        return None if data is None else self.parse(data, channel, trusted, file=key)

    def parse(self, data: bytes, channel: str | None, trusted: Trust, *, file: str) -> _T:
        """Read a record, or raise `IntegrityError`; None accepts those of any channel."""
        payload = envelope.open(data, self.payload_type, trusted, file=file).payload
        value = record.parse(payload, lambda fields: fields.take_all(self.made), kind=self.name, file=file)
        if channel not in (None, value.channel):
            raise IntegrityError(Problem("was signed for another channel", file=file))
        return value
