"""Ratios, measured side by side in one run: what packyard takes, and what others take for the same. See `make bench`.

Each pair runs alternately, A B A B, and is compared by its medians, so that a busy machine slows both. The last column
compares what both had of the processors, without the time that they waited.

    bench.py RUNS FILES: the runs of each pair (15), and the files of a large tree (4,000)
"""

import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

import real
from core.files.krmfiles import one_setter
from packyard.core.yaml.document import parse_file

Call = Callable[[], object]

PACKYARD = Path(sys.executable).with_name("packyard")
KUSTOMIZE = real.TOOLS / "kustomize-3"
#: A use case with a setter of its own, and one whose MODEL_NAME a rule between setters names.
USE_CASE = "resnet50v1-5-fp32-training-k8s/quickstart/mlops/multi-node/user-mounted-nfs"
RULED = "llm-serving/quickstart/mlops/several-nodes/user-allocated-pvc"


def main(runs: int = 15, files: int = 4000) -> None:
    print(f"medians of {runs} runs, alternating; whole processes")
    print(f"{'what, against what':<58} {'ours ms':>8} {'their ms':>8}  {'ratio':<17} {'goal':<20} processor")
    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as temporary:
        folder = Path(temporary)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        built = folder / "built"
        process(PACKYARD, "build", "--workspace", real.REPOSITORY, "--version", "1.0", "--to", built)()
        setting(folder, built, runs)
        compare("version, python -c pass", process(PACKYARD, "version"), process(sys.executable, "-c", "pass"),
                goal="2.3 x the time", runs=runs)  # fmt: skip
        large_trees(folder, files, runs)
        catalogue(folder, built, min(runs, 5))


def setting(folder: Path, built: Path, runs: int) -> None:
    """Set another value of one use case each time, so that there is something to write."""
    for what, use_case, name, values in (
        ("set", USE_CASE, "NFS_SERVER", lambda number: f"10.0.0.{number % 250}"),
        ("set under a rule between setters", RULED, "MODEL_NAME", "model-{}".format),
    ):
        for copy in ("ours", "theirs"):
            shutil.copytree(built / use_case, folder / what / copy)
        ours = _setting(PACKYARD, "set", folder / what / "ours", name, values=values)
        theirs = _setting(KUSTOMIZE, "cfg", "set", folder / what / "theirs", name, values=values)
        compare(f"{what}, kustomize 3.8.7 cfg set", ours, theirs, goal="10 x faster", runs=runs)


def _setting(*command: object, values: Callable[[int], str], after: tuple[str, ...] = ()) -> Call:
    numbers = iter(range(1, 10**6))
    return lambda: process(*command, values(next(numbers)), *after)()


_FLOOR = """
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
_KRMFILE = one_setter(value='"old"')
_ITEM = "- name: item-{0}\n  image: example.com/team/app:1.{0}\n  note: text that is a little longer than the rest\n"
_BOUND = 'v: old # {"$openapi":"V"}\n'


def large_trees(folder: Path, files: int, runs: int) -> None:
    """Set one value in every tenth file of many, no two alike, and in one field of a file near the limit of values."""
    for copy in ("ours", "theirs", "floor"):
        for package in range(files // 20):
            root = folder / "many" / copy / f"package-{package}"
            root.mkdir(parents=True)
            (root / "Krmfile").write_text(f"{_KRMFILE}# package {package}\n")
            for number in range(20):
                items = range(1000 * package + 10 * number, 1000 * package + 10 * number + 10)
                text = "items:\n" + "".join(map(_ITEM.format, items))
                (root / f"{number}.yaml").write_text(text + (_BOUND if number % 10 == 0 else ""))
    many = folder / "many"
    ours = _setting(PACKYARD, "set", many / "ours", "V", values="v{}".format, after=("-R",))
    theirs = _setting(KUSTOMIZE, "cfg", "set", many / "theirs", "V", values="v{}".format, after=("-R",))
    values = iter(range(10**6))
    now = ["old"]

    def floor() -> None:
        now.append(f"floor-{next(values)}-")
        process(sys.executable, "-c", _FLOOR, many / "floor", *now[-2:])()

    compare(f"set -R, {files:,} files, only reading and renaming", ours, floor, goal="1.3 x the time", runs=runs)
    compare(f"set -R, {files:,} files, kustomize's", ours, theirs, goal="10 x faster", runs=runs)
    large = folder / "large"
    large.mkdir()
    (large / "Krmfile").write_text(_KRMFILE)
    (large / "r.yaml").write_text("items:\n" + "".join(map(_ITEM.format, range(30_000))) + _BOUND)
    times = peak(PACKYARD, "set", large, "V", "new") * 2**20 / (large / "r.yaml").stat().st_size
    print(f"{'set, peak memory by the size of a file of 3 MB':<58} {times:26.1f} x{'':<13} 10 x")


def catalogue(folder: Path, built: Path, runs: int) -> None:
    """Build the whole catalogue, and lint it."""
    out = folder / "out"
    ours = process(PACKYARD, "build", "--workspace", real.REPOSITORY, "--version", "1.0", "--to", out)
    use_cases = [file.parent for file in sorted(built.glob("*/quickstart/*/*/*/kustomization.yaml"))]
    each = "; ".join(f"kubectl kustomize {shlex.quote(str(use_case))} >/dev/null" for use_case in use_cases)
    theirs = process(
        "sh", "-ec", f'{each}; for name in "$0"/*/; do tar -cf - "$name" | gzip -9n >/dev/null; done', built
    )
    compare(f"build of {len(use_cases)} use cases, kustomize 5, tar and gzip", ours, theirs, goal="2.5 x the time",
            runs=runs, ahead=lambda: shutil.rmtree(out, ignore_errors=True))  # fmt: skip
    sources = [file for file in built.rglob("*") if file.suffix == ".yaml" or file.name == "Krmfile"]
    compare(f"lint of the same, {len(sources):,} files, our parse", process(PACKYARD, "lint", built, "-q"),
            lambda: [parse_file(file.read_bytes(), file.name) for file in sources],
            goal="7 x the time", runs=runs)  # fmt: skip


def process(*command: object) -> Call:
    """Return a whole process as something to be measured; without bytecode every start would compile again."""
    words = [str(word) for word in command]
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compare(what: str, ours: Call, theirs: Call, *, goal: str, runs: int, ahead: Call = lambda: None) -> None:
    """Measure both alternately and print a line of the table; ``ahead`` is done, unmeasured, ahead of each."""
    taken: dict[Call, list[float]] = {ours: [], theirs: []}
    used: dict[Call, list[float]] = {ours: [], theirs: []}
    for run in range(runs + 1):
        for call in (ours, theirs):
            ahead()
            start, before = perf_counter(), _processor_time()
            call()
            if run:  # the first is not measured: bytecode is written, files are cached
                taken[call].append(perf_counter() - start)
                used[call].append(_processor_time() - before)
    times = [1000 * median(taken[call]) for call in (ours, theirs)]
    by_processor = _ratio(median(used[ours]), median(used[theirs]))
    print(f"{what:<58} {times[0]:8.1f} {times[1]:8.1f}  {_ratio(*times):<17} {goal:<20} {by_processor}", flush=True)


def _ratio(ours: float, theirs: float) -> str:
    return f"{theirs / ours:5.1f} x faster" if ours < theirs else f"{ours / theirs:5.1f} x the time"


def _processor_time() -> float:
    """Return what this process and those that it waited for have had of the processors, in seconds."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


_PEAK = """
import os, sys
_, status, used = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak(*command: object, env: Mapping[str, str] | None = None, timeout: float | None = None) -> float:
    """Return how much memory a process has at most, in MiB.

    A small program starts it: what a process had at most begins with what it was copied from.
    """
    words = [sys.executable, "-S", "-c", _PEAK, *map(str, command)]
    done = subprocess.run(words, env=env, timeout=timeout, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.splitlines()[-1]) / 1024


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
