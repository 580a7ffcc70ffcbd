"""Several things at a time whose files, or what a server answers, are waited for by threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

#: How many there are at a time, in memory too.
AT_ONCE = 8

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def run(
    act: Callable[[_Item], _Made],
    items: Iterable[_Item],
    done: Callable[[int], object] = lambda _: None,
) -> list[_Made]:
    """Do something for each item, several at a time; after the first refusal no more are begun.

    ``done`` hears of each item that is done, by its place.
    """
    results: list[_Made] = []
    for result in stream(act, items):
        results.append(result)
        done(len(results) - 1)
    return results


def stream(act: Callable[[_Item], _Made], items: Iterable[_Item]) -> Iterator[_Made]:
    """Yield what is made of each item, in their order; no more are begun than the caller will soon ask for."""
    remaining = iter(items)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = deque(pool.submit(act, item) for item in islice(remaining, 2 * AT_ONCE))
        try:
            while futures:
                yield futures.popleft().result()
                futures.extend(pool.submit(act, item) for item in islice(remaining, 1))
        finally:
            pool.shutdown(cancel_futures=True)
