"""An index of very many generated packages: what it takes to make one, and to resolve a name.

    python tests/sharing/many_names.py 1000000

prints what `measure` returns. Making and resolving run in processes of their own, so that each has its own peak.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access, head
from packyard.sharing.index.choose import choose
from packyard.sharing.index.index import Index, Release
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.stores.store import NotFoundError, Promises

_NETWORKS = (
    "bert-large",
    "resnet50v1-5",
    "ssd-mobilenet",
    "transformer-lt",
    "unet-3d",
    "wide-deep",
    "rfcn",
    "mask-rcnn",
)
_FACTS = ("fp32-training", "int8-inference", "bfloat16-training", "fp32-inference")


class DatabaseStore:
    """A store in one file: a million files would measure the file system. It counts what is read."""

    address = "database"
    promises = Promises(create=True, swap=True)

    def __init__(self, file: Path) -> None:
        self._base = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._base.execute("PRAGMA synchronous=off")
        self._base.execute("PRAGMA journal_mode=off")
        self._base.execute("PRAGMA cache_size=-8000")
        self._base.execute("CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID")
        self.requests: list[int] = []

    def together(self, begin: bool) -> None:
        """Begin, or end, what is written at once."""
        self._base.execute("BEGIN" if begin else "COMMIT")

    def put(self, key: str, data: bytes) -> None:
        self._base.execute("INSERT OR IGNORE INTO objects VALUES (?, ?)", (key, data))

    def get(self, key: str, *, limit: int = 0) -> bytes:  # noqa: ARG002  # as `Store` has it
        row = self._base.execute("SELECT data FROM objects WHERE key = ?", (key,)).fetchone()
        self.requests.append(len(row[0]) if row else 0)
        if row is None:
            raise NotFoundError(key)
        data: bytes = row[0]
        return data

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        yield self.get(key)[offset:]

    def list(self, prefix: str) -> Sequence[str]:
        found = self._base.execute("SELECT key FROM objects WHERE key >= ? ORDER BY key", (prefix,))
        return [key for (key,) in found if key.startswith(prefix)]

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:  # noqa: ARG002  # as `Store` has it
        self._base.execute("INSERT OR REPLACE INTO objects VALUES (?, ?)", (key, data))

    def remove(self, key: str, *, is_published: bool = False) -> bool:  # noqa: ARG002  # as `Store` has it
        self._base.execute("DELETE FROM objects WHERE key = ?", (key,))
        return True


def name_of(number: int) -> str:
    return f"{number:07}-{_NETWORKS[number % 8]}-{_FACTS[number // 8 % 4]}-k8s"


def entry_of(number: int, version: str = "1.0.0") -> IndexEntry:
    network, fact = _NETWORKS[number % 8], _FACTS[number // 8 % 4]
    digest = Digest.of(f"{number} {version}".encode())
    return IndexEntry(
        name=name_of(number),
        version=version,
        tar=digest,
        digest=digest,
        size=20_000,
        use_cases=("quickstart/mlops/multi-node/user-mounted-nfs", "quickstart/mlops/single-node/user-mounted-nfs"),
        model={"name": network, "framework": "tensorflow", "precision": fact.split("-")[0], "mode": fact.split("-")[1]},
        description=f"{network} {fact} with TensorFlow on Kubernetes: model {number} of the catalogue.",
    )


def make(file: Path, count: int) -> dict[str, object]:
    """Make the index from scratch."""
    begun, store = time.monotonic(), DatabaseStore(file)
    packages = (Package(name=name_of(n), entries=(entry_of(n),)) for n in range(count))
    nodes = Nodes(store, writes_at_once=True)
    store.together(True)
    made = Index.build(packages, {"1": Release(spelling="1.0.0")}, nodes)
    store.together(False)
    head.create(store, replace(made.head, number=1), [])
    levels = {"packages": made.head.packages.level, "listing": made.head.listing.level}
    return {"seconds": round(time.monotonic() - begun), "levels": levels, "megabytes": _peak()}


def use(file: Path, count: int) -> dict[str, object]:
    """Resolve names, and publish one more version; return the most that each took."""
    store, chance = DatabaseStore(file), random.Random(count)
    resolved: list[list[int]] = []
    for _ in range(50):
        latest = access.read(store)
        to_head, store.requests = store.requests, []
        number = chance.randrange(count)
        found = choose(latest.named(name_of(number)), Reference(name=name_of(number)))
        assert found.entry == entry_of(number)
        resolved.append(store.requests)
        store.requests = []
    peak = _peak()
    before = store.list("index/nodes/") if count < 100_000 else []
    began = time.monotonic()
    with access.writer(store) as writer:
        writer.commit(lambda found: found.add(entry_of(chance.randrange(count), "1.1.0")))
    took = time.monotonic() - began
    new = len(store.list("index/nodes/")) - len(before) if before else None
    return {
        "head requests": len(to_head),
        "head bytes": sum(to_head),
        "resolve requests": max(map(len, resolved)),
        "resolve bytes": max(map(sum, resolved)),
        "resolve megabytes": peak,
        "publish seconds": round(took, 2),
        "publish requests": len(store.requests),
        "publish new nodes": new,
    }


def measure(count: int) -> dict[str, dict[str, float]]:
    """Make an index of so many names and use it, in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        return {what: _run(what, Path(folder, "base"), count) for what in ("make", "use")}


def _run(what: str, file: Path, count: int) -> dict[str, float]:
    program = f"import sys; sys.path[:0] = {sys.path!r}\nfrom sharing.many_names import main\nmain(*sys.argv[1:])"
    command = [sys.executable, "-c", program, what, str(file), str(count)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def _peak() -> int:
    """Return this program's own peak in megabytes; what getrusage says begins with that of the process it came from."""
    (line,) = [each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1]) // 1024


def main(what: str, file: str, count: str) -> None:
    print(json.dumps((make if what == "make" else use)(Path(file), int(count))))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    print(json.dumps(measure(int(sys.argv[1])), indent=2))
