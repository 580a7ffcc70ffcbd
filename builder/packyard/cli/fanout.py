"""Flags of verbs that build many packages: how many at once, and whether results are cached."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import time

from packyard.cli import declare, output, state
from packyard.core.errors import UsageError
from packyard.core.work.cache import Cache
from packyard.writing.build.packing import Settings
from packyard.writing.source.library import Library

#: Fewer packages than this are built one after another by default: what packages share is parsed again in each worker.
#: Measured by tests/bench_catalogue.py: workers are slower for 4 packages, and faster for 8.
WORTH_WORKERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    declare.value(parser, "--jobs N", "packages built at once (default: one per processor)", type=int)
    declare.switch(parser, "--no-cache", "rebuild everything; do not cache")


def settings(arguments: argparse.Namespace, root_dir: Path, version: str, libraries: Sequence[Library]) -> Settings:
    """Return how packages of a workspace are to be built."""
    return Settings(root_dir=root_dir, version=version, cache_dir=cache_dir(arguments), libraries=tuple(libraries))


def cache_dir(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the cache, unless the flags say that nothing is cached."""
    return None if arguments.no_cache else state.cache_dir()


def jobs(arguments: argparse.Namespace, names: Sequence[str]) -> int:
    """Return how many processes build packages; 0, which is this one alone, if they are few and no flag says more."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs: must be at least 1, found {arguments.jobs}")
    if arguments.jobs is None:
        count = len(os.sched_getaffinity(0)) if len(names) >= WORTH_WORKERS else 0
    else:
        count = arguments.jobs
    return count if count > 1 else 0


def finish(folder: Path | None, faults: Iterable[str]) -> None:
    """Print why results could not be cached, once, and keep the cache within its limit."""
    faults = set(filter(None, faults))
    for fault in sorted(faults):
        output.warning(fault)
    if folder and not faults:
        Cache(folder).prune(time())
