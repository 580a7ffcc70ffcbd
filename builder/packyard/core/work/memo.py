"""What one run has made, remembered by what it was made from, so that it is made once.

    memo = Memo()
    memo.once(("documents", text), lambda: parse(text))      parses
    memo.once(("documents", text), lambda: parse(text))      returns the very same

Who wants to change what is remembered makes a copy first. A run makes one memo and hands it on. It is bounded: what was
used least recently is forgotten. Another process that it is sent to gets an empty one.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Made = TypeVar("Made")

LIMIT = 1024


class Memo:
    """The results of a run, by their keys; not more than `LIMIT`."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def __reduce__(self) -> "tuple[type[Memo], tuple[()]]":
        return Memo, ()

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned for an equal key, or what it returns now."""
        result: Made
        if key in self._made:
            result = self._made.pop(key)
        else:
            result = make()
            if len(self._made) >= LIMIT:
                del self._made[next(iter(self._made))]
        self._made[key] = result  # at the end: what is at the beginning was used least recently
        return result
