"""A publisher or a reader of one channel, for as long as it is let: see `test_soak`.

    python tests/sharing/soaking.py publisher|reader ADDRESS FOLDER NAME

Both end when FOLDER has a file ``stop``. FOLDER/NAME gets a line of JSON for each time that something was published or
read. The next publisher of a name goes on behind that, and so publishes again what a killed one had begun.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packyard.core.bundle import Bundle
from packyard.core.errors import PackyardError, UnavailableError
from packyard.sharing.entry import PROVENANCE, IndexEntry
from packyard.sharing.index import access, trial
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.head import Memory
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores import open_store
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import bundle, fetch
from sharing.test_provenance import KEY, TRUST

STOP = "stop"
_AT_ONCE = 3  # packages that are fetched at a reading
_PAUSE, _GAP = 4, 1  # seconds between two versions, and between two readings, at most


def opened(address: str) -> Store:
    """Open the channel, relying on what its store was found to promise."""
    return trial.tried(open_store(address))


def content(name: str, version: str) -> Bundle:
    """Return the bundle of a version, the same for whoever makes it."""
    return bundle(name, version, random.Random(f"{name}@{version}").randbytes(4000).hex())


def release(store: Store, bundles: Sequence[Bundle]) -> None:
    """Publish bundles, signed."""

    def attest(entry: IndexEntry) -> dict[str, bytes]:
        made = Provenance.of(entry, {}, None, libraries={})
        return {entry.beside(PROVENANCE): made.to_bytes([KEY])}

    publish(store, bundles, attest=attest, by=Publisher(keys=[KEY], trusted=TRUST))


def lines(file: Path) -> list[dict[str, Any]]:
    """Return what was written into a file, without a line that its writer was killed in."""
    whole = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [json.loads(line) for line in whole if line.endswith(b"}")]


def published(address: str, folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Publish one version after another, of a package of its own and of a shared one."""
    store, chance = opened(address), random.Random(os.getpid())
    begin = sum("done" in line for line in lines(folder / name))
    for number in itertools.count(begin):
        made = [content(name, f"1.{number}"), content("shared", f"{name.rpartition('-')[2]}.{number}")]
        while True:
            try:
                release(store, made)
                break
            except UnavailableError as error:  # it was stopped for longer than others wait
                yield {"refused": str(error)}
        yield {"done": [f"{each.manifest.name}@{each.manifest.version}" for each in made]}
        time.sleep(chance.uniform(0, _PAUSE))


def readings(address: str, folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Read the channel, and fetch what is new; what must not be is a ``fault``."""
    store, chance, memory = opened(address), random.Random(name), Memory(file=folder / f"{name}.head")
    last, listed, known = 0, set[str](), set[str]()
    while True:
        time.sleep(chance.uniform(0, _GAP))
        try:
            found = access.read(store, TRUST, memory)
        except PackyardError as error:
            yield {"fault": str(error)}
            continue
        now = {f"{each.name}@{each.version}": each.digest for each in found.entries}
        if found.head.number < last or not listed <= now.keys():
            yield {"fault": f"head {found.head.number} after {last}: without {sorted(listed - now.keys())}"}
        last, listed, new = found.head.number, set(now), sorted(now.keys() - known)
        for each in chance.sample(new, min(_AT_ONCE, len(new))):
            got, expected = fetch(store, each, trusted=TRUST), content(*each.split("@"))
            if got.data != expected.data or now[each] != expected.digest:
                yield {"fault": f"{each}: other bytes"}
            known.add(each)
        yield {"head": last, "fetched": len(known)}


def size() -> dict[str, int]:
    """Return the open files of this process, and its megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"files": len(list(Path("/proc/self/fd").iterdir())), "megabytes": pages * resource.getpagesize() >> 20}


def main(kind: str, address: str, folder: str, name: str) -> None:
    work = published if kind == "publisher" else readings
    with Path(folder, name).open("ab", buffering=0) as file:
        file.write(b"\n")  # behind what a killed one began
        for line in work(address, Path(folder), name):
            file.write(json.dumps({**line, **size()}).encode() + b"\n")
            if Path(folder, STOP).exists():
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
