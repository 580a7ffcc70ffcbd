"""Ratios, measured side by side in one run: what packyard takes, and what others take for the same. See `make bench`.

Each pair runs alternately, A B A B, and is compared by its medians, so that a busy machine slows both. The last column
compares what both had of the processors, without the time that they waited.
"""

from __future__ import annotations

import io
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from unittest import mock

import real
from bench import authoring, catalogue, get, lint, measuring, operating, publish
from bench.measuring import peak, process, void
from core.files.krmfiles import one_setter
from packyard.core.files import atomic, replace
from packyard.using.setters.change import change_setters
from packyard.writing.build.assemble import assemble
from packyard.writing.source import workspace

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
COPIES = int(sys.argv[2]) if len(sys.argv) > 2 else 100
NAME = "resnet50v1-5-fp32-training-k8s"
USE_CASE = f"{NAME}/quickstart/mlops/multi-node/user-mounted-nfs"

PACKYARD = Path(sys.executable).with_name("packyard")
KUSTOMIZE = real.TOOLS / "kustomize-3"


compare = partial(measuring.compare, runs=RUNS)


def tar_and_gzip(directory: Path) -> None:
    """Pack a folder as plainly as Python can."""
    with tarfile.open(fileobj=io.BytesIO(), mode="w:gz", compresslevel=9) as archive:
        archive.add(directory, arcname=directory.name)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="packyard-bench-"))
    try:
        measure(folder)
    finally:
        shutil.rmtree(folder)


def measure(folder: Path) -> None:
    build = (PACKYARD, "build", NAME, "--no-cache", "--workspace", real.REPOSITORY, "--version", "1.0", "--out")
    process(*build, folder)()
    for copy in ("ours", "theirs"):
        shutil.copytree(folder / USE_CASE, folder / copy)
    sources = workspace.read(real.REPOSITORY)
    python = (sys.executable, "-c", "pass")

    def setting(*command: object) -> Callable[[], None]:
        """Set another value each time, so that there is something to write."""
        values = iter(range(1, 10**6))
        return lambda: process(*command, f"10.0.0.{next(values) % 250}")()

    set_ours = (PACKYARD, "set", folder / "ours", "NFS_SERVER")
    set_theirs = (KUSTOMIZE, "cfg", "set", folder / "theirs", "NFS_SERVER")
    print(f"medians of {RUNS} runs, alternating; whole processes but where it says library")
    print(f"{'what, against what':<58} {'ours ms':>8} {'their ms':>8}  {'ratio':<17} {'goal':<15} processor")
    compare("packyard set, kustomize 3.8.7 cfg set", setting(*set_ours), setting(*set_theirs), goal="10 x faster")
    compare(
        "packyard cfg list-setters, kustomize 3.8.7's",
        process(PACKYARD, "cfg", "list-setters", folder / "ours"),
        process(KUSTOMIZE, "cfg", "list-setters", folder / "theirs"),
        goal="faster",
    )
    compare("packyard version, python -c pass", process(PACKYARD, "version"), process(*python), goal="2 x the time")
    compare("packyard set, python -c pass", setting(*set_ours), process(*python), goal="-")
    compare(
        "packyard build, tar czf",
        process(*build, folder),
        process("tar", "-C", folder, "-czf", folder / "t", NAME),
        goal="-",
    )
    compare(
        "build a package (library), tar and gzip of the same bytes",
        lambda: void(assemble(sources, NAME, "1.0")),
        lambda: tar_and_gzip(folder / NAME),
        goal="-",
    )
    measure_large(folder)
    get.measure(folder, min(RUNS, 5))
    authoring.measure(folder, runs=min(RUNS, 5))
    catalogue.measure(folder / "catalogue", COPIES, min(RUNS, 3))
    publish.measure(folder / "publish", COPIES, min(RUNS, 3))
    lint.measure(folder / "lint", 2 * COPIES, 40 * COPIES, min(RUNS, 3))
    operating.measure(folder, min(RUNS, 5))


def measure_large(folder: Path) -> None:
    """Set one value in every tenth of 4,000 files of 200 packages, and in one field of a 50 MB file."""
    for copy in ("many-ours", "many-theirs"):
        make_many(folder / copy)
    for copy in ("diverse-ours", "diverse-theirs"):
        make_many(folder / copy, copies=False)

    def setting(*command: object) -> Callable[[], None]:
        values = iter(range(1, 10**6))
        return lambda: process(*command, f"v{next(values)}", "-R")()

    ours, theirs = folder / "many-ours", folder / "many-theirs"
    set_ours = setting(PACKYARD, "set", ours, "V")
    set_theirs = setting(KUSTOMIZE, "cfg", "set", theirs, "V")
    grep = process("grep", "-rl", "openapi", ours)
    loop = floor(folder)
    compare("packyard set -R, 4,000 files, only reading and renaming", set_ours, loop, goal="1.5 x the time")
    compare("packyard set -R, 4,000 files, kustomize's", set_ours, set_theirs, goal="10 x faster")
    compare("packyard set -R, 4,000 files, grep -rl", set_ours, grep, goal="10 x the time")
    print(f"{'of that, waiting for 600 files to be on the disk and renamed':<58} {waited(ours):8.1f}", flush=True)
    set_ours = setting(PACKYARD, "set", folder / "diverse-ours", "V")
    set_theirs = setting(KUSTOMIZE, "cfg", "set", folder / "diverse-theirs", "V")
    grep = process("grep", "-rl", "openapi", folder / "diverse-ours")
    compare("the same, no two files alike, kustomize's", set_ours, set_theirs, goal="10 x faster")
    compare("the same, no two files alike, grep -rl", set_ours, grep, goal="10 x the time")
    compare(
        "packyard cfg list-setters, 4,000 files, kustomize's",
        process(PACKYARD, "cfg", "list-setters", ours),
        process(KUSTOMIZE, "cfg", "list-setters", theirs),
        goal="10 x faster",
    )
    large = folder / "large"
    make_large(large, 50_000_000)
    times = peak(PACKYARD, "set", large, "V", "new") * 2**20 / (large / "r.yaml").stat().st_size
    print(f"{'packyard set, peak memory by the size of a 50 MB file':<58} {times:26.1f} x{'':<13} 10 x")


FLOOR = """
import os, sys
old, new = (text.encode() for text in sys.argv[2:])
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            data = file.read()
        if old in data:
            with open(path + ".new", "wb") as file:
                file.write(data.replace(old, new))
            os.replace(path + ".new", path)
"""


def floor(folder: Path) -> Callable[[], None]:
    """Return what nobody can do without: read the same files, and replace those that change, 600 of them."""
    root = folder / "many-floor"
    make_many(root)
    values = iter(range(1, 10**6))
    now = ["old"]

    def run() -> None:
        now.append(f"floor-{next(values)}-")
        process(sys.executable, "-c", FLOOR, root, *now[-2:])()

    return run


def waited(root: Path) -> float:
    """Return how many milliseconds a set waits for its files to be flushed and renamed; kustomize does neither."""
    taken: list[float] = []

    def timed(function: Callable[[Sequence[str]], None]) -> Callable[[Sequence[str]], None]:
        def call(files: Sequence[str]) -> None:
            start = perf_counter()
            function(files)
            taken.append(perf_counter() - start)

        return call

    def timed_each(steps: Sequence[Any], act: Callable[[Any], None]) -> None:
        timed(lambda _: each(steps, act))(())

    flush, each = timed(atomic.flush_all), replace._each
    with mock.patch.object(atomic, "flush_all", flush), mock.patch.object(replace, "_each", timed_each):
        for number in range(RUNS):
            change_setters(root, {"V": [f"waited-{number}"]}, recursive=True)
    _, flushing, renaming = (taken[place::3] for place in range(3))  # the first is staging
    return 1000 * median(map(sum, zip(flushing, renaming, strict=True)))


KRMFILE = one_setter(value='"old"')
ITEM = "- name: item-{0}\n  image: example.com/team/app:1.{0}\n  note: text that is a little longer than the rest\n"
BOUND = 'v: old # {"$openapi":"V"}\n'


def make_many(root: Path, *, copies: bool = True) -> None:
    """Make 200 packages of 20 files and a Krmfile, all alike or no two files alike."""
    for package in range(200):
        folder = root / f"package-{package}"
        folder.mkdir(parents=True)
        (folder / "Krmfile").write_text(KRMFILE + ("" if copies else f"# package {package}\n"))
        for number in range(20):
            start = 0 if copies else 1000 * package + 10 * number
            body = "items:\n" + "".join(ITEM.format(start + item) for item in range(10))
            (folder / f"{number}.yaml").write_text(body + (BOUND if number % 10 == 0 else ""))


def make_large(folder: Path, size: int) -> None:
    folder.mkdir()
    (folder / "Krmfile").write_text(KRMFILE)
    count = size // len(ITEM.format(100_000))
    (folder / "r.yaml").write_text("items:\n" + "".join(ITEM.format(number) for number in range(count)) + BOUND)


if __name__ == "__main__":
    main()
