"""Revoking: a key that signs nothing any more, for all who read a channel."""

from __future__ import annotations

from dataclasses import replace

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import root


def revoke(store: Store, key_id: Digest, by: Publisher) -> Index | None:
    """Let a channel's index say that a key signs nothing any more; another key has to sign that.

    Where the channel has a root, the role for that signs a record, which counts at once; the index says it, too, where
    keys for heads are given. It returns None where they are not.
    """
    trusted, ids = by.trusted, {key.public.id for key in by.keys}
    if trusted.rules and key_id not in trusted.rules.revoked:
        root.revoke(store, trusted, [key_id], by.keys)
        rules = replace(trusted.rules, revoked=trusted.rules.revoked | {key_id})
        trusted = replace(trusted, revoked=trusted.revoked | {key_id}, rules=rules)
        if not trusted.is_met(ids):
            return None
    if key_id in ids or not ids:
        hint = "sign with another key that its users trust: --key NAME"
        raise InputError(Problem("a key cannot be revoked by itself, or by nobody", file=store.address, hint=hint))
    with access.writer(store, replace(by, trusted=trusted), alone=True) as writer:
        return writer.commit(lambda index: index.revoke(key_id))
