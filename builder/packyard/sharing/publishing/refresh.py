"""Signing a head anew: the same content under the next number, before it expires, or that of an earlier one."""

from __future__ import annotations

from dataclasses import replace

from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.index import access, head, lease, trial
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.head import Head
from packyard.sharing.publishing.reindex import following, stored_head
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import Trust


def refresh(store: Store, by: Publisher, *, number: int | None = None) -> Head:
    """Let the next head say what the last one says, or an earlier one: whoever names that says that it is good.

    So the heads after that one, which a stolen key may have signed, list nothing any more.
    """
    by = by.in_channel(store)
    store = trial.tried(store)
    with lease.hold(store, by.waits) as held:
        if number is None:
            before = _latest(store, by)
            following_number, history = before.number + 1, before.next_history()
        else:
            following_number, history = following(store, store.list(""))
            before = _earlier(store, number, by.trusted, following_number)
        head.check_signed(store, before, by.keys, before.revoked)
        held.check()
        following_head = replace(before, number=following_number, history=history)
        created = head.create(store, following_head, by.keys, by.trusted.rules)
    if by.memory:
        by.memory.write(created)
    return created


def _latest(store: Store, by: Publisher) -> Head:
    try:
        return access.read(store, by.trusted, by.memory).head
    except IntegrityError as error:
        hint = "if you know which head is good, name it: packyard keys refresh --in CHANNEL --head NUMBER"
        raise IntegrityError(*error.problems, Problem("its last head does not count", hint=hint)) from error


def _earlier(store: Store, number: int, trusted: Trust, end: int) -> Head:
    """Return the head of a number, with all that trusted keys have revoked since."""
    earlier = head.read(store, number)
    if trusted.rules and earlier.channel != trusted.rules.channel:
        raise InputError(Problem(f"is of another channel, {earlier.channel}", file=head.key(number)))
    later = [
        Head.parse(stored_head(store, each), trusted.optional(), file=head.key(each)) for each in range(number, end)
    ]
    revoked = {key for each in later if each.signers for key in each.revoked}
    if trusted.rules:
        revoked -= trusted.rules.keys - trusted.rules.revoked
    return replace(earlier, revoked=tuple(sorted(revoked)))
