"""The channel that a command line names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, preferences
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem
from packyard.core.files import home
from packyard.core.work.cache import Cache
from packyard.sharing import stores
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import Store

#: What is said of a bundle, and of what was done for it.
DONE = "name, version, tar, digest, size, model, useCases, needs, description, yanked, key, status"
BUNDLES = Rows("package", DONE, columns="BUNDLE=key, STATUS")
_BUNDLES_LIMIT = 2 * 1024**3  # bytes of bundles that are kept


def open_channel(address: str) -> Store:
    """Open a channel."""
    if re.fullmatch(r"(localhost|[\w-]+(\.[\w-]+)+):\d+(/.*)?", address) and not Path(address).exists():
        raise InputError(Problem("is not a channel", file=address, hint=f"did you mean http://{address}?"))
    return stores.open_store(address, tell=output.warning)


def listed(address: str, store: Store | None = None) -> Index:
    """Return what a channel lists, as far as the user trusts it; ``store`` is the channel, if it is open."""
    store = store or open_channel(address)
    return access.read(store, preferences.trust(address), preferences.memory(address))


def signed(address: str, index: Index) -> Sequence[str]:
    """Return lines that say who signed an index, as far as the user can tell."""
    if not index.channel:
        return ["a registry has no index: each version is signed by itself, or not"]
    return preferences.trust(address).signed(index.signers, index.others)


def fetching(address: str) -> Fetching:
    """Return how to fetch from a channel: the user's trust, memory and cache."""
    trusted, memory = preferences.trust(address), preferences.memory(address)
    return Fetching(trusted=trusted, memory=memory, cache=bundle_cache(), warn=output.warning)


def bundle_cache() -> Cache:
    """Return the bundles that were fetched, by their digests; they are verified again, whoever wrote there."""
    return Cache(home.cache_dir() / "bundles", limit=_BUNDLES_LIMIT)


def row(entry: IndexEntry, status: str) -> dict[str, object]:
    """Return the row of a bundle and what was done for it."""
    return {**entry.document(), "needs": list(entry.needs), "key": entry.key, "status": status}
