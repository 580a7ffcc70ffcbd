"""Show how much is kept of what was fetched and built, or delete it.

packyard cache          what is kept, and where
packyard cache --clear  delete all of it: it is fetched and built again when it
                        is needed

The bundles that were fetched are bounded by cacheLimit in config.yaml; the one that was used least recently goes first.
"""

from __future__ import annotations

import argparse

from packyard.cli import declare, output, state
from packyard.cli.channels import bundle_cache, index_cache
from packyard.cli.libraries import shelf
from packyard.cli.rows import Rows
from packyard.core.work.cache import Cache
from packyard.sharing.fetching.cache import Cache as BundleCache
from packyard.writing.source.shelf import Shelf

ROWS = Rows(
    "kind of what is kept",
    "kind, files, size, limit, folder",
    columns="KIND, FILES, BYTES=size, LIMIT, FOLDER",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    declare.switch(parser, "--clear", "delete all that is kept")


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each kind of what is kept; with ``--clear``, of what was deleted."""
    folder = state.cache_dir()
    if folder is None:
        output.note("nothing is kept without a home folder (set HOME, or XDG_CACHE_HOME)")
    caches: dict[str, BundleCache | Cache | Shelf | None] = {"bundles": bundle_cache(), "indexes": index_cache()}
    if folder:
        caches |= {"builds": Cache(folder), "libraries": shelf()}
    rows = []
    for kind, cache in caches.items():
        if cache is None:
            continue
        sizes = cache.sizes()
        rows.append((kind, len(sizes), sum(sizes), cache.limit, cache.folder))
        if arguments.clear:
            cache.clear()
    if ROWS.show(rows, arguments.output) and arguments.clear:
        output.note("deleted")
    return 0
