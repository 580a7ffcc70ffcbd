"""Texts that are read again and again while many things are composed from a few: each is taken apart once.

    with Sharing():
        parse_shared(source) is parse_shared(source)      the very nodes: who wants to change them makes a copy first

Outside of it nothing is remembered. What was used least recently is forgotten, so that memory stays bounded.
"""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any, TypeVar

    Made = TypeVar("Made")

_LIMIT = 2048

_known: ContextVar[dict[Hashable, Any] | None] = ContextVar("sharing", default=None)


class Sharing:
    """A ``with`` in which `once` remembers, also from the last time; inside another it goes on with what that knows."""

    def __init__(self) -> None:
        self._own: dict[Hashable, Any] = {}
        self._before: list[dict[Hashable, Any] | None] = []

    def __enter__(self) -> None:
        before = _known.get()
        self._before.append(before)
        _known.set(self._own if before is None else before)

    def __exit__(self, *_: object) -> None:
        _known.set(self._before.pop())


def is_sharing() -> bool:
    """Say whether `once` remembers."""
    return _known.get() is not None


def once(key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what ``make`` returned the last time for an equal key, or what it returns now."""
    known = _known.get()
    if known is None:
        return make()
    found: Made | None = known.pop(key, None)
    if found is None:
        found = make()
        if len(known) >= _LIMIT:
            del known[next(iter(known))]
    known[key] = found  # at the end again: what is at the beginning was used least recently
    return found
