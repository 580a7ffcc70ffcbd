"""The flag of verbs that build many packages: how many at once."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from packyard.cli import declare
from packyard.core.errors import UsageError

#: Fewer packages than this are built one after another by default: what packages share is parsed again in each worker.
#: Measured by tests/bench_catalogue.py: workers are slower for 4 packages, and faster for 8.
WORTH_WORKERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flag."""
    declare.value(parser, "--jobs N", "packages built at once (default: one per processor)", type=int)


def jobs(arguments: argparse.Namespace, names: Sequence[str]) -> int:
    """Return how many processes build packages; 0, which is this one alone, if they are few and no flag says more."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError(f"--jobs: must be at least 1, found {arguments.jobs}")
    if arguments.jobs is None:
        count = len(os.sched_getaffinity(0)) if len(names) >= WORTH_WORKERS else 0
    else:
        count = arguments.jobs
    return count if count > 1 else 0
