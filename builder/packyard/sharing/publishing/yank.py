"""Yanking: a published version that nobody should use any more, and why. It stays where it is, and is never chosen."""

from __future__ import annotations

from dataclasses import replace

from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, Problem, shown
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.access import UNSIGNED, Publisher, check_there
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import Store

_LONGEST = 500  # characters of a reason


def check_reason(reason: str) -> None:
    """Refuse a reason that is empty, has several lines, or is too long to be shown."""
    if not reason.strip() or not reason.isprintable() or len(reason) > _LONGEST:
        hint = f"write why nobody should use it, in one line of at most {_LONGEST} characters"
        raise InputError(Problem(f"{shown(reason, quoted=True)} is not a reason", hint=hint))


def yank(store: Store, text: str, reason: str, by: Publisher = UNSIGNED) -> tuple[IndexEntry, bool]:
    """Yank ``NAME@VERSION``, and return its entry, and whether it was not yanked before.

    A reason stays: another one for the same version is a `ConflictError`.
    """
    check_reason(reason)
    wanted = Reference.parse(text)
    if wanted.version is None:
        raise InputError(Problem(f"{text[:80]!r} does not say which version", hint=f"write {wanted.name}@VERSION"))
    before = check_there(by.current(store))
    old = before.named(wanted.name).get(wanted.version)

    def change(index: Index) -> Index:
        entry = index.named(old.name).get(old.version)
        if entry.yanked and entry.yanked != reason:
            raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="a reason never changes"))
        return index.put(replace(entry, yanked=reason))

    by.commit(store, change, before=before)
    return replace(old, yanked=reason), not old.yanked
