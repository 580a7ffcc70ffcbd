"""One writer at a time, where a store cannot promise that one of many creates an object: the loss that it prevents."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, PackyardError, UnavailableError
from packyard.core.files import atomic
from packyard.sharing.index import access, lease, trial
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.prune import prune
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Promises, Store
from sharing.buckets import BUCKET, BucketServer
from sharing.examples import FailingStore, bundle, fetch, forget_writers

WRITERS, VERSIONS = 6, 2


@dataclass(frozen=True)
class CarelessStore(DirectoryStore):
    """A store that looks, and writes a little later, as servers without conditional writes let their clients do."""

    pretends: bool = False

    @property
    def promises(self) -> Promises:
        return Promises(create=self.pretends, swap=False)

    def put(self, key: str, data: bytes) -> None:
        file = self.root_dir / key
        if file.exists() and file.read_bytes() != data:
            raise ConflictError(f"{key} exists")
        self._write(file, data)

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        file = self.root_dir / key
        if (Digest.of(file.read_bytes()) if file.exists() else None) != expected:
            raise ConflictError(f"{key} was changed meanwhile")
        self._write(file, data)

    def _write(self, file: Path, data: bytes) -> None:
        time.sleep(0.02)
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(str(file), data, mode=0o644, durable=False)


def publish_at_once(stores: list[Store]) -> list[str]:
    """Publish with each store, all at once; return what is not listed afterwards, though its publisher was told so."""

    def run(number: int) -> list[str]:
        told = []
        for version in range(VERSIONS):
            made = [bundle(f"own-{number}", f"1.{version}"), bundle("shared", f"1.{version}")]
            try:
                told += [str(entry) for entry, _ in publish(stores[number], made)]
            except PackyardError:  # of a history that somebody else has overwritten, for example
                continue
        return told

    with ThreadPoolExecutor(len(stores)) as pool:
        told = {name for names in pool.map(run, range(len(stores))) for name in names}
    listed = {str(entry) for entry in access.read(stores[0]).entries}
    return sorted(told - listed)


@pytest.mark.nightly
def test_without_a_lease_careless_stores_lose_entries(tmp_path: Path) -> None:
    for attempt in range(10):
        store = CarelessStore(tmp_path / str(attempt), pretends=True)
        try:
            if publish_at_once([store] * WRITERS):
                return
        except PackyardError:  # the loss is worse than an entry: a head that names what is not there
            return
    pytest.fail("nothing was lost, so that this proves nothing of the lease")


@pytest.mark.nightly
def test_with_a_lease_careless_stores_lose_nothing(tmp_path: Path) -> None:
    store = CarelessStore(tmp_path)
    assert publish_at_once([store] * WRITERS) == []
    listed = {str(entry) for entry in access.read(store).entries}
    names = ["shared", *(f"own-{number}" for number in range(WRITERS))]
    assert listed == {f"{name}@1.{version}" for name in names for version in range(VERSIONS)}
    for name in listed:
        fetch(store, name)
    assert store.list(lease.FOLDER) == []


@pytest.mark.nightly
def test_one_writer_holds_it_at_a_time_and_renews_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on as the holder renews: where a whole machine stands still, its ticket is not stale."""
    store, inside, renewals, write = CarelessStore(tmp_path), list[lease.Lease](), 0, lease.Lease._write
    renewed = threading.Condition()

    def counted(self: lease.Lease, ticket: Any) -> None:
        nonlocal renewals
        write(self, ticket)
        with renewed:
            renewals += self in inside
            renewed.notify_all()

    def run(_: int) -> None:
        with lease.hold(store, stale=0.5) as held:
            inside.append(held)
            assert inside == [held]
            with renewed:  # for longer than a ticket that is not renewed is waited for
                end = renewals + 6
                assert renewed.wait_for(lambda: renewals >= end, timeout=60)
            held.check()
            inside.remove(held)

    monkeypatch.setattr(lease.Lease, "_write", counted)
    monkeypatch.setattr(lease, "time", SimpleNamespace(monotonic=lambda: renewals * 0.1, sleep=time.sleep))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    assert renewals >= 12


@pytest.mark.nightly
def test_the_ticket_of_a_killed_writer_is_removed_after_a_while(tmp_path: Path) -> None:
    store = CarelessStore(tmp_path)
    killed = {"apiVersion": "packyard/v1", "kind": "WriterTicket", "number": 1, "renewed": 7}
    store.put(f"{lease.FOLDER}{'0' * 32}.json", json.dumps(killed).encode())
    store.put(f"{lease.FOLDER}{'1' * 32}.json", json.dumps({**killed, "number": 0}).encode())
    store.put(f"{lease.FOLDER}{'2' * 32}.json", b"damaged")
    begun = time.monotonic()
    with lease.hold(store, stale=0.5):
        assert time.monotonic() - begun > 0.5
    lease.wait(store)
    assert store.list(lease.FOLDER) == []


@pytest.mark.parametrize("verb", ["yank", "reindex", "prune", "publish"])
def test_who_waits_for_another_writer_is_told_once(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, told = CarelessStore(tmp_path), list[str]()
    publish(store, [bundle("bert", "1.0")])
    monkeypatch.setattr(lease, "_SOON", 0.1)

    def waits() -> None:
        told.append("waits")
        threading.Timer(0.3, other.__exit__, (None, None, None)).start()

    by = Publisher(waits=waits)
    other = lease.hold(store)
    other.__enter__()
    {
        "yank": lambda: yank(store, "bert@1.0", "diverges", by),
        "reindex": lambda: reindex(store, by),
        "prune": lambda: prune(store, waits=waits),
        "publish": lambda: publish(store, [bundle("bert", "1.1")], by=by),
    }[verb]()
    assert told == ["waits"]


def test_a_writer_that_lost_its_ticket_lists_nothing(tmp_path: Path) -> None:
    class Interrupted(CarelessStore):
        def put(self, key: str, data: bytes) -> None:
            super().put(key, data)
            if key.startswith("index/pending/"):
                for ticket in self.list(lease.FOLDER):
                    self.remove(ticket)

    publish(CarelessStore(tmp_path), [bundle("first")])
    with pytest.raises(UnavailableError, match=r"slower than others wait: its ticket is gone \(run again\)"):
        publish(Interrupted(tmp_path), [bundle("second")])
    assert [entry.name for entry in access.read(CarelessStore(tmp_path)).entries] == ["first"]
    publish(CarelessStore(tmp_path), [bundle("third")])
    assert {entry.name for entry in access.read(CarelessStore(tmp_path)).entries} == {"first", "second", "third"}


def test_a_writer_does_not_wait_for_ever(tmp_path: Path) -> None:
    store = CarelessStore(tmp_path)
    with lease.hold(store):
        says = r"another writer has the channel for 0\.1 seconds: .* \(run again"
        with pytest.raises(UnavailableError, match=says), lease.hold(store, patience=0.1):
            raise AssertionError("two writers hold it")
        with pytest.raises(UnavailableError, match=says):
            lease.wait(store, patience=0.1)
    assert store.list(lease.FOLDER) == []


@pytest.mark.nightly
@pytest.mark.parametrize("done", [False, True])
def test_after_a_cut_at_any_call_a_second_run_completes(tmp_path: Path, done: bool) -> None:
    for number in range(1, 200, 7):
        store = CarelessStore(tmp_path / str(number))
        try:
            publish(FailingStore(store, fail_at=number, done=done), [bundle()])
        except UnavailableError:
            forget_writers(store)
            publish(store, [bundle()])
            assert fetch(store, "bert") == bundle()
            assert store.list("index/pending/") == []
        else:
            break
    assert number > 20


# Real servers.


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(("server", "create"), [("rclone", False), ("versitygw", True)])
def test_publishers_at_once_on_a_real_server_lose_nothing(
    server: str, create: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found: BucketServer = request.getfixturevalue(server)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    address = f"s3://{BUCKET}/{tmp_path.name}-{server}"
    publish(open_store(address), [bundle("first")])
    assert trial.tried(open_store(address)).promises.create is create
    assert publish_at_once([open_store(address) for _ in range(WRITERS)]) == []
    assert len(access.read(open_store(address)).entries) == 1 + (WRITERS + 1) * VERSIONS
