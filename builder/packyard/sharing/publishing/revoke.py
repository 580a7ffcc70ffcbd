"""Revoking: a key that signs nothing any more, for all who read a channel."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.index import access
from packyard.sharing.index.head import Memory
from packyard.sharing.index.index import Index
from packyard.sharing.stores import Store
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust


def revoke(
    store: Store,
    key_id: Digest,
    *,
    keys: Sequence[SigningKey],
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
) -> Index:
    """Let a channel's index say that a key signs nothing any more; another key has to sign that."""
    if key_id in {key.public.id for key in keys} or not keys:
        hint = "sign with another key that its users trust: --key NAME"
        raise InputError(Problem("a key cannot be revoked by itself, or by nobody", file=store.address, hint=hint))
    with access.writer(store, keys=keys, trusted=trusted, memory=memory, alone=True) as writer:
        return writer.commit(lambda found: found.revoke(key_id))
