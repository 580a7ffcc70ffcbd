"""Measuring two things side by side, alternately, so that a busy machine slows both."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

#: Starts a program, and prints last how much memory it had at most, in KiB.
_MEASURE = """
import os, sys
_, status, used = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def process(*command: object) -> Callable[[], None]:
    """Return a whole process as something to be measured."""
    words = [str(word) for word in command]
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: void(
        subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )


def void(_: object) -> None:
    """Drop a result."""


def compare(
    what: str,
    ours: Callable[[], None],
    theirs: Callable[[], None],
    *,
    goal: str,
    runs: int,
    ahead: Callable[[], None] = lambda: None,
) -> None:
    """Measure both alternately and print a line of the table; ``ahead`` is done, unmeasured, ahead of each."""
    times: tuple[list[float], list[float]] = ([], [])
    busy: tuple[list[float], list[float]] = ([], [])
    for call in (ours, theirs):  # once unmeasured: bytecode is written, files are cached
        ahead()
        call()
    for _ in range(runs):
        for call, taken, used in zip((ours, theirs), times, busy, strict=True):
            ahead()
            start, before = perf_counter(), processor_time()
            call()
            taken.append(perf_counter() - start)
            used.append(processor_time() - before)
    mine, other = (1000 * median(taken) for taken in times)
    by_processor = ratio(median(busy[0]), median(busy[1]))
    print(f"{what:<58} {mine:8.1f} {other:8.1f}  {ratio(mine, other):<17} {goal:<15} {by_processor}", flush=True)


def ratio(mine: float, other: float) -> str:
    """Say how two times compare."""
    return f"{other / mine:5.1f} x faster" if mine < other else f"{mine / other:5.1f} x the time"


def peak(*command: object, env: Mapping[str, str] | None = None, timeout: float | None = None) -> float:
    """Return how much memory a process has at most, in MB.

    A small program starts it: what a process had at most begins with what it was copied from.
    """
    words = [sys.executable, "-S", "-c", _MEASURE, *map(str, command)]
    done = subprocess.run(words, env=env, timeout=timeout, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.splitlines()[-1]) / 1024


def processor_time() -> float:
    """Return what this process and those that it waited for have had of the processors, in seconds."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
