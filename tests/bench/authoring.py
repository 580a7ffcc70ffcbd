"""Benchmarks of what authors wait for: how a verb starts, and how soon `preview` answers a save."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.measuring import process
from packyard.cli.verbs import VERBS

NAME = "mnist-fp32-training-k8s"
_LOADED = (
    "import sys; from packyard.cli.main import main; main([sys.argv[1], '--help']); "
    "print(*(name for name in sys.modules if name.partition('.')[0] not in ('packyard', '__main__')), file=sys.stderr)"
)


def measure(_: Path, **__: int) -> None:
    """Print a line for the slowest."""
    ratios = {verb: _start(verb) for verb in VERBS}
    slowest = max(ratios, key=lambda verb: ratios[verb])
    what = f"start of {slowest}, the slowest of {len(ratios)} verbs, Python and its imports"
    print(f"{what:<76} {ratios[slowest]:5.1f} x the time  at most 3 x")


def _start(verb: str, runs: int = 5) -> float:
    """Return how many times as long a verb takes for its help as Python for the modules of others that it imports."""
    command = (sys.executable, "-m", "packyard", verb, "--help")
    found = subprocess.run([sys.executable, "-c", _LOADED, verb], capture_output=True, text=True, check=True)
    modules = [name for name in found.stderr.split() if name.isascii() and name.replace(".", "").isidentifier()]
    # Some modules cannot be imported by themselves; the floor does without them, which only makes it harder to reach.
    imports = "\n".join(f"try: import {name}\nexcept Exception: pass" for name in modules)
    bare = (sys.executable, "-c", imports)
    times = ([], [])  # type: tuple[list[float], list[float]]
    for number in range(runs + 1):
        for call, taken in zip((process(*command), process(*bare)), times, strict=True):
            start = perf_counter()
            call()
            if number:
                taken.append(perf_counter() - start)
    return median(times[0]) / median(times[1])
