"""Whether a server lets exactly one of many create an object: asked of the server itself, because servers differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from packyard.core.errors import ConflictError
from packyard.sharing.stores.store import Store

#: Below it a probe writes; what lies there later was left by one that was killed.
PROBES = "index/probe/"
_WRITERS, _ROUNDS = 8, 10


def trusting(store: Store) -> Store:
    """Return a store that relies on its server to create exclusively; one whose kind says what it promises stays."""
    trust: Callable[[], Store] | None = getattr(store, "trusting", None)
    return store if trust is None or store.promises.create else trust()


def probe(store: Store) -> bool:
    """Return whether it creates exclusively: where its kind does not say, eight writers create one key, ten times.

    The keys are removed afterwards. A server that passes may still fail under more load; none that fails is trusted.
    """
    trusted = trusting(store)
    if trusted is store:
        return store.promises.create
    run = os.urandom(8).hex()
    with ThreadPoolExecutor(_WRITERS) as pool:
        return all(_one_wins(trusted, f"{PROBES}{run}-{number}", pool) for number in range(_ROUNDS))


def _one_wins(store: Store, key: str, pool: ThreadPoolExecutor) -> bool:
    together = Barrier(_WRITERS)

    def wins(number: int) -> bool:
        together.wait()
        try:
            store.put(key, b"%d" % number)
        except ConflictError:
            return False
        return True

    try:
        won = [number for number, each in enumerate(pool.map(wins, range(_WRITERS))) if each]
        return len(won) == 1 and store.get(key) == b"%d" % won[0]
    finally:
        store.remove(key)
