"""A release of very many packages in parts, some of which are killed, and what it takes.

    python tests/sharing/many_packages.py FOLDER 100000 [WORKERS [SIZE]]

It goes on where an earlier run in the folder stopped. The packages are of 200 sources, each with values of its own, and
are published in parts of a thousand, or of another SIZE. The publisher of one part is killed at work, and that part
comes again at the end. `nightly/test_many_packages.py` does it with a hundred thousand.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import tiny
from packyard.sharing.index import access
from packyard.sharing.stores import open_store
from tiny import COMMAND, environment

SIZE = 1000
VERSION = "1.0.0"
_SOURCES = list(product(("single-node", "indexed-job"), ("user-allocated-pvc", "user-mounted-nfs"), range(50)))
_PACKAGE = """\
apiVersion: packyard/v1
kind: Package
model: {{name: model-{number}, framework: pytorch, category: image-classification, precision: fp32, mode: training}}
setters:
  IMAGE: registry.example.com/team-{source}/trainer:1.{number}
  RUN_NAME: run-{number}
useCases:
  {base}: {{base: {base}, storage: [{storage}]}}
"""


def name_of(number: int) -> str:
    return f"model-{number:06}-fp32-training-k8s"


def sources(folder: Path, count: int) -> Path:
    """Make a workspace with so many packages, or what is missing of one."""
    root = folder / "sources"
    if not (root / "packyard.yaml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([*COMMAND, "init", root, "--quiet"], check=True, env=environment(), stdout=subprocess.DEVNULL)
    for number in range(count):
        file = root / "packages" / name_of(number) / "package.yaml"
        if not file.exists():
            base, storage, source = _SOURCES[number % len(_SOURCES)]
            tiny.write(file, _PACKAGE.format(number=number, source=source, base=base, storage=storage))
    return root


def release(folder: Path, count: int, workers: int, size: int = SIZE) -> Iterator[dict[str, float]]:
    """Publish part after part, and yield what each took; parts that the ledger has are not begun again.

    Processor time is that of the publisher and its workers, memory that of the largest of them so far.
    """
    root, channel, ledger = sources(folder, count), folder / "channel", folder / "parts"
    ledger.mkdir(exist_ok=True)
    parts = -(-count // size)
    publish = [*COMMAND, "publish", "--workspace", root, "--version", VERSION, "--to", channel, "--no-cache", "--quiet"]
    lost = parts // 2
    for number, is_again in [*((number, False) for number in range(parts)), (lost, True)]:
        done = ledger / f"{number}.json"
        if done.exists():
            continue
        words = [*map(str, (*publish, "--shard", f"{number}/{parts}", "--jobs", workers))]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL)
        if number == lost and not is_again:
            while process.poll() is None and not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
                time.sleep(0.05)
            process.kill()
            process.wait()
            continue
        assert process.wait() == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took = {"part": number, "seconds": round(time.monotonic() - began, 1), "processor": round(processor, 1)}
        took |= {"MB": after.ru_maxrss // 1024}
        done.write_text(json.dumps(took))
        yield took
    subprocess.run([*map(str, (*publish, "--join"))], check=True, env=environment(), stdout=subprocess.DEVNULL)


def resolved(folder: Path, count: int) -> int:
    """Return how many of the packages the channel lists."""
    listed = access.read(open_store(str(folder / "channel")))
    return sum(VERSION in listed.versions(name_of(number)) for number in range(count))


def main(folder: str, count: str, workers: str = "2", size: str = str(SIZE)) -> None:
    began = time.monotonic()
    for took in release(Path(folder), int(count), int(workers), int(size)):
        print(json.dumps(took), flush=True)
    print(json.dumps({"packages": resolved(Path(folder), int(count)), "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(*sys.argv[1:])
