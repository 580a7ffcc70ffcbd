"""Flags of verbs that make many packages: where they are made, how many at once, and whether results are kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import time

from packyard.build.catalogue import Plan
from packyard.cli import output, state
from packyard.errors import UsageError
from packyard.source.workspace import Workspace
from packyard.work import executor
from packyard.work.cache import Cache
from packyard.work.executor import Engine

#: Fewer packages than this are made one after another, if nothing else is asked for: each worker has to learn what one
#: process knows after its first package. Measured by tests/bench_catalogue.py: slower with 4, faster with 8.
WORTH_WORKERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--jobs", metavar="N", type=int, help="packages made at once (default: one for each processor)")
    parser.add_argument("--executor", metavar="NAME", help="processes (default), dask, or dask=ADDRESS of a scheduler")
    add_cache_argument(parser)


def add_cache_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the flag of verbs that keep what they make."""
    parser.add_argument("--no-cache", action="store_true", help="make everything anew, and keep nothing")


def plan(arguments: argparse.Namespace, workspace: Workspace) -> Plan:
    """Return how packages are to be made."""
    cache_dir = None if arguments.no_cache else state.cache_dir()
    return Plan(root_dir=workspace.root_dir, version=arguments.version, cache_dir=cache_dir)


def engine(arguments: argparse.Namespace, names: Sequence[str]) -> Engine | None:
    """Return where they are to be made: here, if they are few and nothing else was asked for."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs: at least 1, not {arguments.jobs}")
    chosen = executor.engine(arguments.executor or "processes", arguments.jobs)
    if arguments.executor:
        return chosen
    worth = arguments.jobs is not None or len(names) >= WORTH_WORKERS
    return chosen if chosen.jobs > 1 and worth else None


def progress(names: Sequence[str]) -> Callable[[int], None]:
    """Return what is told of each package that is made, by its place among the names."""
    return output.Progress(names).done


def finish(cache_dir: Path | None, faults: Iterable[str]) -> None:
    """Tell why results could not be kept, once, and keep the cache within its limit."""
    faults = set(filter(None, faults))
    for fault in sorted(faults):
        output.warning(fault)
    if cache_dir and not faults:
        Cache(cache_dir).prune(time())
