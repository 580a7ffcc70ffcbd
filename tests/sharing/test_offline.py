"""A channel that cannot be reached is as it was when it was last read, and that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.core.work.cache import Cache
from packyard.sharing.fetching import fetch as fetching
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.index import KEY
from packyard.sharing.index.offline import RememberedStore
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import DeniedError, NotFoundError, Store
from sharing.examples import bundle, fetch, versions


class Switched(DirectoryStore):
    """A channel that is reachable as long as ``on``; it counts what is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        object.__setattr__(self, "on", True)
        object.__setattr__(self, "asked", [])

    on: bool
    asked: list[str]

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        self.asked.append(key)
        if not self.on:
            raise UnavailableError("the cable is cut")
        return super().get(key, limit=limit)


@pytest.fixture
def channel(tmp_path: Path) -> Switched:
    found = Switched(tmp_path / "channel")
    publish(DirectoryStore(tmp_path / "channel"), [bundle("bert", "1.0"), bundle("bert", "1.1")])
    return found


def cut(channel: Switched) -> None:
    object.__setattr__(channel, "on", False)


def remembered(channel: Store, tmp_path: Path, told: list[str] | None = None) -> RememberedStore:
    said: list[str] = [] if told is None else told
    return RememberedStore(channel, Cache(tmp_path / "cache"), lambda error: said.append(str(error)))


def test_what_was_read_once_can_be_got_again_without_the_channel(channel: Switched, tmp_path: Path) -> None:
    how = Fetching(cache=Cache(tmp_path / "bundles"))
    for turn in range(2):
        told: list[str] = []
        fetched = fetching.fetch(remembered(channel, tmp_path, told), Reference.parse("bert"), how)
        assert fetched.read() == bundle("bert", "1.1")
        assert told == (["the cable is cut"] if turn else []), "it is said once"
        cut(channel)
    with pytest.raises(UnavailableError, match="the cable is cut"):
        fetch(remembered(channel, tmp_path), "bert@1.0")


def test_a_channel_that_refuses_us_is_not_as_it_was(channel: Switched, tmp_path: Path) -> None:
    access.read(remembered(channel, tmp_path))
    denied, told = DeniedError("access denied"), list[str]()

    class Refusing(DirectoryStore):
        def get(self, key: str, *, limit: int = LIMIT) -> bytes:  # noqa: ARG002
            raise denied

    store = remembered(Refusing(channel.root_dir), tmp_path, told)
    with pytest.raises(DeniedError):
        access.read(store)
    assert told == []
    assert store.is_reached


def test_nodes_that_are_remembered_are_not_asked_for_again(channel: Switched, tmp_path: Path) -> None:
    assert versions(access.read(remembered(channel, tmp_path)), "bert") == ["1.0", "1.1"]
    assert any("index/p/" in key for key in channel.asked)
    channel.asked.clear()
    assert versions(access.read(remembered(channel, tmp_path)), "bert") == ["1.0", "1.1"]
    assert channel.asked
    assert not any("index/p/" in key for key in channel.asked)


def test_what_is_published_since_is_seen_as_long_as_the_channel_answers(channel: Switched, tmp_path: Path) -> None:
    assert fetch(remembered(channel, tmp_path), "bert").version == "1.1"
    publish(DirectoryStore(tmp_path / "channel"), [bundle("bert", "1.2")])
    assert fetch(remembered(channel, tmp_path), "bert").version == "1.2"
    cut(channel)
    assert versions(access.read(remembered(channel, tmp_path)), "bert") == ["1.0", "1.1", "1.2"]


def test_a_node_that_was_changed_in_the_cache_is_asked_for(channel: Switched, tmp_path: Path) -> None:
    versions(access.read(remembered(channel, tmp_path)), "bert")
    kept = Cache(tmp_path / "cache")
    for key in channel.list("index/p/"):
        kept.put(Digest.of(f"{channel.address}\n{key}".encode()), b"{}")
    assert versions(access.read(remembered(channel, tmp_path)), "bert") == ["1.0", "1.1"]


def test_it_is_opened_to_read_only(channel: Switched, tmp_path: Path) -> None:
    store = remembered(channel, tmp_path)
    for write in (lambda: store.put("a", b""), lambda: store.swap("a", b"", None), lambda: store.remove("index/a")):
        with pytest.raises(UnavailableError, match="is opened to read"):
            write()
    assert not store.is_conditional
    assert store.list("1.0/bert.tar.gz") == channel.list("1.0/bert.tar.gz")
    with pytest.raises(NotFoundError):
        store.get("nothing")
    store.get(KEY)
    cut(channel)
    store.get(KEY)
    with pytest.raises(NotFoundError):
        store.get("nothing")


def test_what_one_server_said_is_not_remembered_of_another(channel: Switched, tmp_path: Path) -> None:
    cached = Cache(tmp_path / "cache")
    RememberedStore(channel, cache=cached, tell=print, name="one").get("index/index.json")
    cut(channel)
    RememberedStore(channel, cache=cached, tell=lambda _: None, name="one").get("index/index.json")
    with pytest.raises(UnavailableError, match="the cable is cut"):
        RememberedStore(channel, cache=cached, tell=print, name="two").get("index/index.json")
