"""Publishers that are killed at any call, and a hundred at once: nothing is lost, and nothing absent is listed.

`make test` runs a sample, the nightly all.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import faults
import sample
from packyard.core.errors import PackyardError, UnavailableError
from packyard.sharing.entry import bundle_key
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store
from sharing.buckets import BUCKET, BucketServer
from sharing.examples import FailingStore, bundle, close, fetch

#: Publishers, each with bundles of its own, and bundles that they all publish.
PUBLISHERS, OWN, SHARED = (100, 8, 200) if sample.WHOLE else (12, 3, 6)
THREADS = 10  # publishers in a process

PROGRAM = """
import random, sys
from concurrent.futures import ThreadPoolExecutor
from sharing.examples import FailingStore, bundle
from packyard.sharing.stores import open_store
from packyard.sharing.publishing.publish import publish
address, first, count, own, shared = sys.argv[1], *map(int, sys.argv[2:])
sys.stdin.readline()
def run(number):
    made = [bundle(f"own-{number:03}-{each}", "1.0", str(number)) for each in range(own)]
    mine = random.Random(number).sample(range(shared), min(shared, 2))
    made += [bundle(f"shared-{each:03}", "1.0") for each in mine]
    publish(open_store(address), made)
with ThreadPoolExecutor(count) as pool:
    list(pool.map(run, range(first, first + count)))
"""


def start(address: str, environment: dict[str, str], first: int, count: int) -> subprocess.Popen[bytes]:
    """Start a process of publishers, which waits for a line."""
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n{PROGRAM}"
    words = [sys.executable, "-c", program, address, *map(str, (first, count, OWN, SHARED))]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env={**os.environ, **environment})


def let_go(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()


def expected() -> set[str]:
    own = {f"own-{number:03}-{each}@1.0" for number in range(PUBLISHERS) for each in range(OWN)}
    shared = {each for number in range(PUBLISHERS) for each in random.Random(number).sample(range(SHARED), 2)}
    return own | {f"shared-{each:03}@1.0" for each in shared}


class Reader(threading.Thread):
    """Reads the index over and over, and holds that what it lists is there, and what it listed stays."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store, self.faults, self.known = store, list[str](), set[str]()
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                entries = access.read(self.store).entries
            except (NotFoundError, MissingStoreError):
                continue
            except PackyardError as error:
                self.faults.append(str(error))
                continue
            names = {str(entry) for entry in entries}
            self.faults += self.known - names
            for entry in entries:
                if str(entry) not in self.known:
                    try:
                        entry.verify(self.store.get(bundle_key(entry.name, entry.version)))
                    except PackyardError as error:
                        self.faults.append(str(error))
            self.known |= names


@pytest.mark.nightly
@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("where", ["directory", "versitygw"])
def test_a_hundred_publishers_at_once_lose_nothing(
    where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment: dict[str, str] = {}
    address = str(tmp_path / "channel")
    if where == "versitygw":
        server: BucketServer = request.getfixturevalue("versitygw")
        environment, address = dict(server.environment), f"s3://{BUCKET}/{tmp_path.name}"
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    publish(open_store(address), [bundle("first")])
    processes = [
        start(address, environment, first, min(THREADS, PUBLISHERS - first)) for first in range(0, PUBLISHERS, THREADS)
    ]
    reader = Reader(open_store(address))
    reader.start()
    let_go(processes)
    codes = [process.wait(900) for process in processes]
    reader.stop.set()
    reader.join()
    assert codes == [0] * len(processes)
    store = open_store(address)
    listed = Counter(str(entry) for entry in access.read(store).entries)
    assert listed == Counter([*expected(), "first@1.0"])
    assert reader.faults == []
    assert list(fsck.check(store)) == []


# Publishers that are cut off from real servers.


SERVERS = {"versitygw": "s3", "rclone": "s3", "azurite": "az", "fake_gcs": "gs"}


def opened(server: str, folder: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Open an empty place on a server."""
    found = request.getfixturevalue(server)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return open_store(f"{SERVERS[server]}://{BUCKET}/{folder}")


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("server", SERVERS)
def test_a_publisher_cut_off_at_any_operation_leaves_the_old_or_the_new_and_a_second_run_completes(
    server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [bundle("bert", "1.1"), bundle("gpt", "1.1")]
    for done in (False, True):
        for number in sample.places(15, of=f"{server} {done}"):
            store = opened(server, f"cut-{os.urandom(8).hex()}", request, monkeypatch)
            publish(store, [bundle("bert", "1.0")])
            try:
                publish(FailingStore(store, fail_at=number, done=done), made)
            except UnavailableError:
                listed = {str(entry) for entry in access.read(store).entries}
                assert listed in ({"bert@1.0"}, {"bert@1.0", "bert@1.1", "gpt@1.1"}), number
                for name in listed:
                    fetch(store, name)
                publish(store, made)
                assert {str(entry) for entry in access.read(store).entries} == {"bert@1.0", "bert@1.1", "gpt@1.1"}
                # rclone goes on to list what a probe had, when it is gone
                assert [each for each in fsck.check(store) if not each.key.startswith("index/probe/")] == []
            else:
                break
        assert number > 10


# Processes that are killed.

BEFORE, MADE = bundle("bert", "1.0"), [bundle("bert", "1.1"), bundle("gpt", "1.1")]
ACTIONS: dict[str, Callable[[DirectoryStore], object]] = {
    "publish": lambda store: publish(store, MADE),
    "publish in a new channel": lambda store: publish(store, MADE),
    "yank": lambda store: yank(store, "bert@1.0", "diverges"),
    "close": lambda store: close(store, "1.0"),
    "repair": fsck.repair,
    "copy": lambda store: copy(DirectoryStore(store.root_dir.parent / "from"), store, ["bert@1.1", "gpt@1.1"]),
}
#: Every so many calls to the file system, one is the last of a process.
STEP = 1 if sample.WHOLE else 40


@pytest.mark.nightly
@pytest.mark.parametrize("action", ACTIONS)
def test_a_publisher_killed_at_any_call_leaves_the_old_or_the_new_and_a_second_run_completes(
    action: str, tmp_path: Path
) -> None:
    publish(DirectoryStore(tmp_path / "from"), MADE)
    whole = DirectoryStore(tmp_path / "whole")
    if action != "publish in a new channel":
        publish(whole, [BEFORE])
    before = {str(entry): entry for entry in access.current(whole).entries}
    outcome = faults.forked(lambda: ACTIONS[action](whole), faults.Faulty(0))
    assert outcome.code == 0, outcome.text
    after = {str(entry): entry for entry in access.read(whole).entries}
    first = random.Random(f"{sample.SEED} {action}").randrange(1, STEP + 1)
    killed = 0
    for at in range(first, outcome.calls + 1, STEP):
        store = DirectoryStore(tmp_path / f"{at}")
        if action != "publish in a new channel":
            publish(store, [BEFORE])
        died = faults.forked(lambda: ACTIONS[action](store), faults.Faulty(at, None))  # noqa: B023
        killed += died.code == -signal.SIGKILL
        listed = {str(entry): entry for entry in access.current(store).entries}
        assert listed in (before, after), at
        for name in listed:
            fetch(store, name)
        ACTIONS[action](store)
        assert {str(entry): entry for entry in access.read(store).entries} == after, at
        assert access.read(store).releases == access.read(whole).releases
        assert list(fsck.check(store)) == [], at
    assert killed >= (outcome.calls // STEP) * 0.8
