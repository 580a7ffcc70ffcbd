"""What a channel says it holds: order, conflicts, the latest version, and updates that lose nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from channel.examples import FailingStore, bundle
from packyard.channel import index
from packyard.channel.entry import Entry
from packyard.channel.index import KEY, Index
from packyard.channel.stores import NotFoundError
from packyard.channel.stores.directory import DirectoryStore
from packyard.digest import Digest
from packyard.errors import ConflictError, InputError, IntegrityError, UnavailableError


def entry(name: str = "bert", version: str = "1.0", content: bytes = b"") -> Entry:
    return Entry(
        name=name, version=version, tar=Digest.of(b"tar" + content), digest=Digest.of(content), size=len(content)
    )


ENTRIES = [entry("bert", "1.9"), entry("bert", "1.10"), entry("bert", "1.11-rc1"), entry("resnet", "v2.7.0")]
INDEX = Index().add(*ENTRIES)


def test_an_entry_describes_its_bundle() -> None:
    described = Entry.of(bundle(name="bert", version="1.2"))
    assert (str(described), described.use_cases) == ("bert@1.2", ("single-node",))
    assert described.model == {"framework": "pytorch"}
    described.verify(bundle(name="bert", version="1.2").data)


def test_is_the_same_in_whatever_order_entries_came() -> None:
    for seed in range(10):
        shuffled = random.Random(seed).sample(ENTRIES, len(ENTRIES))
        one_by_one = Index()
        for item in shuffled:
            one_by_one = one_by_one.add(item)
        assert one_by_one.to_bytes() == INDEX.to_bytes()


def test_parsing_what_was_written_gives_the_same_index() -> None:
    assert Index.parse(INDEX.to_bytes()) == INDEX


def test_keeps_unknown_fields_also_when_an_entry_is_added() -> None:
    document = json.loads(INDEX.to_bytes())
    document["signedBy"] = "é"
    document["entries"][0]["yanked"] = {"why": "wrong"}
    data = (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    assert Index.parse(data).to_bytes() == data
    later = json.loads(Index.parse(data).add(entry("zoo")).to_bytes())
    assert (later["signedBy"], later["entries"][0]["yanked"]) == ("é", {"why": "wrong"})


def test_adding_the_same_entry_again_changes_nothing() -> None:
    assert INDEX.add(*ENTRIES) == INDEX


def test_refuses_another_digest_under_a_name_and_version_and_names_both() -> None:
    other = [entry("bert", "1.9", b"other"), entry("resnet", "v2.7.0", b"other"), entry("new")]
    with pytest.raises(ConflictError) as caught:
        INDEX.add(*other)
    assert [str(problem).split(" has ")[0] for problem in caught.value.problems] == ["bert@1.9", "resnet@v2.7.0"]
    assert ENTRIES[0].tar in str(caught.value)
    assert other[0].tar in str(caught.value)


def test_refuses_the_same_tar_with_another_file_digest() -> None:
    with pytest.raises(ConflictError, match="the same tar, compressed otherwise"):
        INDEX.add(Entry(name="bert", version="1.9", tar=ENTRIES[0].tar, digest=Digest.of(b"z"), size=1))


def test_finds_the_versions_of_a_name_the_oldest_first() -> None:
    assert INDEX.versions("bert") == ("1.9", "1.10", "1.11-rc1")
    assert INDEX.versions("nothing") == ()


def test_the_latest_is_the_highest_that_is_no_pre_release() -> None:
    assert INDEX.resolve("bert").version == "1.10"


def test_the_latest_of_pre_releases_alone_is_the_highest() -> None:
    assert Index().add(entry(version="1.0-rc2"), entry(version="1.0-rc10")).resolve("bert").version == "1.0-rc10"


def test_resolves_a_pre_release_that_is_asked_for() -> None:
    assert INDEX.resolve("bert", "1.11-rc1").version == "1.11-rc1"


def test_suggests_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no bundle 'brt' \(did you mean 'bert'\?\)"):
        INDEX.resolve("brt")


def test_names_the_versions_that_there_are() -> None:
    with pytest.raises(InputError, match=r"no version '2\.0' of bert \(it has 1\.11-rc1, 1\.10, 1\.9\)"):
        INDEX.resolve("bert", "2.0")


@pytest.mark.parametrize("size", [-1, True, "1"])
def test_refuses_an_index_with_a_size_that_is_none(size: object) -> None:
    document = json.loads(INDEX.to_bytes())
    document["entries"][1]["size"] = size
    with pytest.raises(IntegrityError, match=r"^index/index\.json: entries\[1\]\.size: expected a"):
        Index.parse(json.dumps(document).encode())


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


def test_a_channel_without_an_index_says_so(store: DirectoryStore) -> None:
    with pytest.raises(NotFoundError):
        index.read(store)


def test_records_entries_beside_those_that_are_there(store: DirectoryStore) -> None:
    index.record(store, ENTRIES[:2])
    assert index.record(store, ENTRIES[2:]) == INDEX == index.read(store)


def test_recording_nothing_new_writes_nothing(store: DirectoryStore) -> None:
    index.record(store, ENTRIES)
    before = store.get(KEY)
    index.record(FailingStore(store, fail_at=2), ENTRIES)
    assert store.get(KEY) == before
    index.record(store, [])


class OvertakenStore(DirectoryStore):
    """Others are faster for the first few swaps."""

    overtakes = 3

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        if self.overtakes:
            self.overtakes -= 1
            index.record(DirectoryStore(self._root_dir), [entry(f"other-{self.overtakes}")])
        super().swap(key, data, expected)


def test_tries_again_when_others_are_faster_and_keeps_their_entries(tmp_path: Path) -> None:
    index.record(OvertakenStore(tmp_path), ENTRIES)
    names = {item.name for item in index.read(DirectoryStore(tmp_path)).entries}
    assert names == {"bert", "resnet", "other-0", "other-1", "other-2"}


def test_gives_up_when_others_are_always_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = OvertakenStore(tmp_path)
    store.overtakes = 1000
    monkeypatch.setattr(index, "_ATTEMPTS", 3)
    with pytest.raises(UnavailableError, match="too many others"):
        index.record(store, ENTRIES)
