"""Many processes publish into one directory at once: no entry is lost, and no listed file is missing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from packyard.sharing.entry import bundle_key
from packyard.sharing.index import access
from packyard.sharing.index.index import KEY
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import MissingStoreError, NotFoundError
from sharing.examples import bundle

PROGRAM = """
import sys
from sharing.examples import bundle
from packyard.sharing.stores import open_store
from packyard.sharing.publishing.publish import publish
store, number = open_store(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
for version in range(int(sys.argv[3])):
    publish(store, [bundle(f"own-{number}", f"1.{version}"), bundle("shared", f"1.{version}")])
"""
PUBLISHERS, VERSIONS = 8, 6


def publisher(root_dir: Path, number: int, versions: int = VERSIONS) -> subprocess.Popen[bytes]:
    """Start a process that waits for a line, and then publishes."""
    tests_dir = Path(__file__).parents[1]
    program = f"import sys; sys.path.insert(0, {str(tests_dir)!r})\n{PROGRAM}"
    arguments = [sys.executable, "-c", program, str(root_dir), str(number), str(versions)]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE)


def let_go(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()


class Reader(threading.Thread):
    """Reads the index over and over, and holds that whatever it lists is there."""

    def __init__(self, root_dir: Path) -> None:
        super().__init__()
        self.store, self.seen, self.missing = DirectoryStore(root_dir), 0, list[str]()
        self.stop = threading.Event()

    def run(self) -> None:
        known: set[str] = set()
        while not self.stop.is_set():
            try:
                entries = access.read(self.store).entries
            except (NotFoundError, MissingStoreError):
                continue
            assert known <= set(map(str, entries))
            for entry in entries:
                if str(entry) not in known:
                    try:
                        entry.verify(self.store.get(bundle_key(entry.name, entry.version)))
                    except NotFoundError:
                        self.missing.append(str(entry))
            known = set(map(str, entries))
            self.seen = len(known)


@pytest.mark.nightly
def test_eight_publishers_at_once_lose_nothing_and_a_reader_sees_no_gap(tmp_path: Path) -> None:
    processes = [publisher(tmp_path, number) for number in range(PUBLISHERS)]
    reader = Reader(tmp_path)
    reader.start()
    let_go(processes)
    assert [process.wait(120) for process in processes] == [0] * PUBLISHERS
    reader.stop.set()
    reader.join()
    listed = {str(entry) for entry in access.read(DirectoryStore(tmp_path)).entries}
    names = ["shared", *(f"own-{number}" for number in range(PUBLISHERS))]
    assert listed == {f"{name}@1.{version}" for name in names for version in range(VERSIONS)}
    assert reader.missing == []
    assert reader.seen > 0


def test_a_channel_that_another_publisher_begins_meanwhile_is_no_place_with_other_content(tmp_path: Path) -> None:
    class Overtaken(DirectoryStore):
        def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
            if prefix == "" and not (self.root_dir / KEY).exists():
                publish(DirectoryStore(self.root_dir), [bundle("other")])
            return super().list(prefix, age=age)

    publish(Overtaken(tmp_path), [bundle("own")])
    assert [entry.name for entry in access.read(DirectoryStore(tmp_path)).entries] == ["other", "own"]
