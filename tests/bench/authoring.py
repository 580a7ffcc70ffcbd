"""Benchmarks of what authors wait for: how a verb starts, and how soon `preview` answers a save."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import real
from bench import measuring
from bench.measuring import process, void
from packyard.cli.verbs import VERBS
from packyard.writing.build.assemble import assemble
from packyard.writing.build.preview import Preview
from packyard.writing.source import package, workspace

NAME = "mnist-fp32-training-k8s"
_LOADED = (
    "import sys; from packyard.cli.main import main; main([sys.argv[1], '--help']); "
    "print(*(name for name in sys.modules if name.partition('.')[0] not in ('packyard', '__main__')), file=sys.stderr)"
)


def measure(folder: Path, *, runs: int) -> None:
    """Print a line for each; ``folder`` is free to use."""
    ratios = {verb: _start(verb) for verb in VERBS}
    slowest = max(ratios, key=lambda verb: ratios[verb])
    what = f"start of {slowest}, the slowest of {len(ratios)} verbs, Python and its imports"
    print(f"{what:<76} {ratios[slowest]:5.1f} x the time  at most 3 x")
    catalogue = folder / "preview"
    shutil.copytree(real.REPOSITORY, catalogue, ignore=shutil.ignore_patterns(".*", "tests", "build", "dist"))
    preview = Preview(catalogue, NAME, package.read(workspace.read(catalogue), NAME).first)
    saved = catalogue / "packages" / NAME / package.FILE
    assert not preview.look().problems

    def answer() -> None:
        """Save a file, and look."""
        saved.write_text(saved.read_text() + "# saved\n")
        assert preview.has_changed()
        assert not preview.look().problems

    def build() -> None:
        void(assemble(workspace.read(catalogue), NAME, "1.0"))

    what = "preview after a save, build of the package (library)"
    measuring.compare(what, answer, build, goal="at most 3 x", runs=runs)


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
