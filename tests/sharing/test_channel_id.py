"""Two channels whose heads and records one key signs: what is of the one says nothing in the other."""

from __future__ import annotations

import json
import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import real
from packyard.core.errors import IntegrityError
from packyard.sharing.index import access, head, pending
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.head import Memory
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.join import join
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import NOBODY
from sharing.examples import bundle, lose_index
from sharing.test_provenance import KEY, TRUST

ONE, TWO = "1" * 32, "2" * 32
ANOTHER = "was signed for another channel"


def made(folder: Path, channel: str) -> DirectoryStore:
    """Return a signed channel with an id, and two bundles."""
    store = DirectoryStore(folder / (channel[:1] or "none"))
    publish(store, [bundle(), bundle("gpt")], by=Publisher(keys=[KEY], new_id=lambda: channel))
    return store


def copy(source: DirectoryStore, target: DirectoryStore, start: str) -> None:
    """Write what one channel has over what the other has."""
    for key in source.list(start):
        file = target.root_dir / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source.get(key))


def ids(store: DirectoryStore) -> set[str]:
    """Return the ids in all heads and records."""
    names = [key for key in store.list("index/") if not key.startswith(("index/nodes/", "index/index.json"))]
    payloads = [json.loads(b64decode(json.loads(store.get(key))["payload"])) for key in names]
    return {payload.get("channel", "") for payload in payloads}


@pytest.fixture
def one(tmp_path: Path) -> DirectoryStore:
    return made(tmp_path, ONE)


@pytest.fixture
def two(tmp_path: Path) -> DirectoryStore:
    return made(tmp_path, TWO)


def test_every_head_and_record_has_the_id_that_the_first_head_made(one: DirectoryStore) -> None:
    yank(one, "bert@1.0", "diverges", by=Publisher(keys=[KEY]))
    close(one, "1.0", by=Publisher(keys=[KEY]))
    reindex(one, by=Publisher(keys=[KEY]))
    publish(one, [bundle(version="2.0")], by=Publisher(keys=[KEY]), is_listed=False)
    assert one.list(pending.FOLDER)
    assert ids(one) == {ONE}
    assert {key.split("/")[1] for key in one.list("index/")} == {
        "closed", "head.json", "heads", "nodes", "pending", "yanked",
    }  # fmt: skip


def test_a_new_channel_gets_an_id_that_no_other_has(tmp_path: Path) -> None:
    stores = [DirectoryStore(tmp_path / name) for name in ("a", "b")]
    for store in stores:
        publish(store, [bundle()])
    found = [access.read(store).head.channel for store in stores]
    assert len(set(found)) == 2
    assert all(len(each) == 32 for each in found)


def test_who_remembers_a_channel_refuses_the_head_of_another_one(
    one: DirectoryStore, two: DirectoryStore, tmp_path: Path
) -> None:
    memory = Memory(file=tmp_path / "memory.json")
    access.read(one, TRUST, memory)
    lose_index(one.root_dir)
    copy(two, one, "index/")
    assert access.read(one, TRUST).head.channel == TWO  # who never saw one of its heads cannot know
    acts: list[Callable[[], object]] = [
        lambda: access.read(one, TRUST, memory),
        lambda: publish(one, [bundle("t5")], by=Publisher(keys=[KEY], memory=memory)),
    ]
    for act in acts:
        with pytest.raises(IntegrityError, match=r"has the head 2 of another channel .* remove .*memory\.json"):
            act()


def test_a_later_head_of_another_channel_is_refused_by_who_remembers_nothing(
    one: DirectoryStore, two: DirectoryStore
) -> None:
    publish(two, [bundle("t5")], by=Publisher(keys=[KEY]))
    copy(two, one, head.key(3))
    with pytest.raises(IntegrityError, match="has the head 3 of another channel"):
        access.read(one, TRUST)
    copy(two, one, head.POINTER)
    assert ("altered", head.key(2)) in [(each.kind, each.key) for each in fsck.check(one)]


def test_what_is_pending_in_another_channel_is_not_listed(one: DirectoryStore, two: DirectoryStore) -> None:
    publish(two, [bundle("evil")], by=Publisher(keys=[KEY]), is_listed=False)
    copy(two, one, "1.0/evil")
    copy(two, one, pending.FOLDER)
    publish(one, [bundle("t5")], by=Publisher(keys=[KEY]))
    assert join(one, by=Publisher(keys=[KEY])) == []
    assert access.read(one, TRUST).versions("evil") == ()


def test_what_is_yanked_or_closed_in_another_channel_is_not_taken(one: DirectoryStore, two: DirectoryStore) -> None:
    yank(two, "bert@1.0", "diverges", by=Publisher(keys=[KEY]))
    close(two, "1.0", by=Publisher(keys=[KEY]))
    for folder, key in (("index/yanked/", "index/yanked/1.0/bert.json"), ("index/closed/", "index/closed/1.0.json")):
        copy(two, one, folder)
        with pytest.raises(IntegrityError, match=f"^{key}: {ANOTHER}"):
            reindex(one, by=Publisher(keys=[KEY]))
        with pytest.raises(IntegrityError, match=f"^{key}: {ANOTHER}"):
            close(one, "1.0", by=Publisher(keys=[KEY])) if "closed" in key else yank(
                one, "bert@1.0", "other", by=Publisher(keys=[KEY])
            )
        assert ("altered", key, ANOTHER) in [(each.kind, each.key, each.message) for each in fsck.check(one)]
        (one.root_dir / key).unlink()


def test_an_index_that_lost_all_heads_gets_the_id_of_its_records(one: DirectoryStore) -> None:
    close(one, "1.0", by=Publisher(keys=[KEY]))
    for key in (head.POINTER, *one.list(head.FOLDER)):
        (one.root_dir / key).unlink()
    assert reindex(one, by=Publisher(keys=[KEY]))[0].head.channel == ONE
    assert list(fsck.check(one)) == []
    lose_index(one.root_dir)
    assert reindex(one, by=Publisher(keys=[KEY], new_id=lambda: TWO))[0].head.channel == TWO


# Channels and memories that were made before.


@pytest.fixture
def old(tmp_path: Path) -> DirectoryStore:
    shutil.copytree(real.REPOSITORY / "tests/trees/channel-without-id", tmp_path / "old")
    return DirectoryStore(tmp_path / "old")


def test_a_channel_without_an_id_goes_on_without_one(old: DirectoryStore, tmp_path: Path) -> None:
    memory = Memory(file=tmp_path / "memory.json")
    found = access.read(old, memory=memory)
    assert (found.named("bert").get("1.1").yanked, found.released("1.0").closed) == ("diverges", True)
    assert list(fsck.check(old)) == []
    publish(old, [bundle("gpt", "1.1")], by=Publisher(memory=memory))
    close(old, "1.1", by=Publisher(memory=memory))
    reindex(old, by=Publisher(memory=memory))
    assert ids(old) == {""}
    assert list(fsck.check(old)) == []
    for key in (head.POINTER, *old.list(head.FOLDER)):
        (old.root_dir / key).unlink()
    assert reindex(old)[0].released("1.1").closed
    assert ids(old) == {""}


def test_what_has_no_id_says_nothing_in_a_channel_that_has_one(one: DirectoryStore, tmp_path: Path) -> None:
    none = made(tmp_path, "")
    publish(none, [bundle("evil")], by=Publisher(keys=[KEY]), is_listed=False)
    yank(none, "bert@1.0", "diverges", by=Publisher(keys=[KEY]))
    assert ids(none) == {""}
    copy(none, one, "1.0/evil")
    copy(none, one, pending.FOLDER)
    copy(none, one, "index/yanked/")
    assert join(one, by=Publisher(keys=[KEY])) == []
    with pytest.raises(IntegrityError, match=ANOTHER):
        reindex(one, by=Publisher(keys=[KEY]))


@pytest.mark.parametrize("act", [lambda old: yank(old, "bert@1.10", "diverges"), lambda old: close(old, "1.10")])
def test_a_channel_of_packyard_0_1_0_gets_an_id_with_its_first_head(
    tmp_path: Path, act: Callable[[DirectoryStore], object]
) -> None:
    shutil.copytree(real.REPOSITORY / "tests/trees/channel-0.1.0", tmp_path / "old")
    old = DirectoryStore(tmp_path / "old")
    act(old)
    (found,) = ids(old)
    assert found
    assert list(fsck.check(old)) == []


@pytest.mark.parametrize("channel", ["x", "1" * 33, "\x1b[31m", 1, None])
def test_refuses_an_id_that_is_none(channel: object) -> None:
    payload = {**json.loads(head.Head(number=1).payload()), "channel": channel}
    with pytest.raises(IntegrityError, match=r"^x: channel: "):
        head.Head.parse(envelope.sign(json.dumps(payload).encode(), head.TYPE, []), NOBODY, file="x")
