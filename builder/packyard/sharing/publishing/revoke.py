"""Revoking: a key that signs nothing any more, for all who read a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.index import access
from packyard.sharing.index.head import Memory
from packyard.sharing.index.index import Index
from packyard.sharing.stores import Store
from packyard.sharing.trust import root
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust


def revoke(
    store: Store,
    key_id: Digest,
    *,
    keys: Sequence[SigningKey],
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
) -> Index | None:
    """Let a channel's index say that a key signs nothing any more; another key has to sign that.

    Where the channel has a root, the role for that signs a record, which counts at once; the index says it, too, where
    keys for heads are given. It returns None where they are not.
    """
    if trusted.rules and key_id not in trusted.rules.revoked:
        root.revoke(store, trusted, [key_id], keys)
        rules = replace(trusted.rules, revoked=trusted.rules.revoked | {key_id})
        trusted = replace(trusted, revoked=trusted.revoked | {key_id}, rules=rules)
        if not trusted.is_met(key.public.id for key in keys):
            return None
    if key_id in {key.public.id for key in keys} or not keys:
        hint = "sign with another key that its users trust: --key NAME"
        raise InputError(Problem("a key cannot be revoked by itself, or by nobody", file=store.address, hint=hint))
    with access.writer(store, keys=keys, trusted=trusted, memory=memory, alone=True) as writer:
        return writer.commit(lambda found: found.revoke(key_id))
