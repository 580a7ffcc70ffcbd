"""Several bundles at a time: their files, or what a store answers, are waited for by threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def each(
    act: Callable[[_Item], _Made],
    items: Sequence[_Item],
    at_once: int,
    done: Callable[[int], object] = lambda _: None,
) -> list[_Made]:
    """Do something for each item, several at a time; after the first refusal no more are begun.

    ``done`` hears of each item that is done, by its place.
    """
    made: list[_Made] = []
    with ThreadPoolExecutor(at_once) as pool:
        futures = deque(pool.submit(act, item) for item in items)
        try:
            while futures:
                made.append(futures.popleft().result())
                done(len(made) - 1)
        finally:
            pool.shutdown(cancel_futures=True)
    return made
