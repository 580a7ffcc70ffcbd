"""Flags of verbs that build many packages: where, how many at once, and whether results are cached."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import time

from packyard.cli import declare, output, state
from packyard.core.errors import UsageError
from packyard.core.work import executor
from packyard.core.work.cache import Cache
from packyard.core.work.executor import Engine
from packyard.writing.build.packing import Settings
from packyard.writing.source.library import Library

#: Fewer packages than this are built one after another by default: what packages share is parsed again in each worker.
#: Measured by tests/bench_catalogue.py: workers are slower for 4 packages, and faster for 8.
WORTH_WORKERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    declare.value(parser, "--jobs N", "packages built at once (default: one per processor)", type=int)
    declare.value(parser, "--executor NAME", "processes (default), dask, or dask=ADDRESS of a scheduler")
    declare.switch(parser, "--no-cache", "rebuild everything; do not cache")


def settings(arguments: argparse.Namespace, root_dir: Path, version: str, libraries: Sequence[Library]) -> Settings:
    """Return how packages of a workspace are to be built."""
    root_dir = root_dir.absolute() if arguments.executor else root_dir  # workers may be elsewhere
    return Settings(root_dir=root_dir, version=version, cache_dir=cache_dir(arguments), libraries=tuple(libraries))


def cache_dir(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the cache, unless the flags say that nothing is cached."""
    return None if arguments.no_cache else state.cache_dir()


def engine(arguments: argparse.Namespace, names: Sequence[str]) -> Engine | None:
    """Return where packages are to be built: in this process if they are few, unless flags say otherwise."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs: must be at least 1, found {arguments.jobs}")
    chosen = executor.engine(arguments.executor or "processes", arguments.jobs)
    if arguments.executor:
        return chosen
    worth = arguments.jobs is not None or len(names) >= WORTH_WORKERS
    return chosen if chosen.jobs > 1 and worth else None


def finish(folder: Path | None, faults: Iterable[str]) -> None:
    """Print why results could not be cached, once, and keep the cache within its limit."""
    faults = set(filter(None, faults))
    for fault in sorted(faults):
        output.warning(fault)
    if folder and not faults:
        Cache(folder).prune(time())
