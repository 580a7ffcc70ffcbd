"""What a channel says it holds: order, conflicts, the latest version, and updates that lose nothing."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from channel.examples import FailingStore, bundle
from packyard.channel import index
from packyard.channel.entry import IndexEntry
from packyard.channel.index import KEY, Index
from packyard.channel.stores import NotFoundError
from packyard.channel.stores.directory import DirectoryStore
from packyard.digest import Digest
from packyard.errors import ConflictError, InputError, IntegrityError, UnavailableError


def entry(name: str = "bert", version: str = "1.0", content: bytes = b"") -> IndexEntry:
    return IndexEntry(
        name=name, version=version, tar=Digest.of(b"tar" + content), digest=Digest.of(content), size=len(content)
    )


ENTRIES = [entry("bert", "1.9"), entry("bert", "1.10"), entry("bert", "1.11-rc1"), entry("resnet", "v2.7.0")]
INDEX = Index().add(*ENTRIES)


def test_an_entry_describes_its_bundle() -> None:
    described = IndexEntry.of(bundle(name="bert", version="1.2"))
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
    with pytest.raises(ConflictError, match="the same tar, compressed differently"):
        INDEX.add(IndexEntry(name="bert", version="1.9", tar=ENTRIES[0].tar, digest=Digest.of(b"z"), size=1))


@pytest.mark.parametrize(("name", "version"), [("bert", "v1.9.0"), ("bert", "1.11.0-RC.1"), ("resnet", "2_7")])
def test_refuses_a_version_in_another_spelling_and_names_the_one_that_is_there(name: str, version: str) -> None:
    there = INDEX.resolve(name, version)
    says = rf"^{name}@{version} is published as {there}: .*\(publish as {there.version}, or raise the version\)"
    for content in (b"", b"other"):
        with pytest.raises(ConflictError, match=says):
            INDEX.add(entry(name, version, content))


def test_refuses_two_spellings_of_one_version_in_one_call() -> None:
    with pytest.raises(ConflictError, match=r"^a@v1 is published as a@1\.0"):
        Index().add(entry("a", "1.0"), entry("a", "v1"))
    assert len(Index().add(entry("a", "1.0"), entry("b", "v1")).entries) == 2


def test_keeps_two_spellings_that_an_index_has_already() -> None:
    document = json.loads(INDEX.to_bytes())
    document["entries"].append({**document["entries"][0], "version": "v1.9"})
    old = Index.parse(json.dumps(document).encode())
    assert len(old.entries) == 5
    later = old.add(entry("zoo"))
    assert all(item in later.entries for item in old.entries)
    assert later.add(*old.entries) == later
    assert [later.resolve("bert", text).version for text in ("1.9", "v1.9")] == ["1.9", "v1.9"]


@pytest.mark.parametrize("version", ["1.10", "v1.10", "1.10.0", "1.10+build"])
def test_resolves_a_version_however_it_is_spelled(version: str) -> None:
    if "+" in version:
        with pytest.raises(InputError, match="no version"):
            INDEX.resolve("bert", version)
    else:
        assert INDEX.resolve("bert", version).version == "1.10"


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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "../bert"}, r"entries\[1\]\.name: '\.\./bert' is not a name"),
        ({"name": "a\x1b[31m"}, r"entries\[1\]\.name: 'a\\x1b\[31m' is not a name"),
        ({"version": "../1"}, r"entries\[1\]\.version: '\.\./1' is not a version"),
        ({"version": "9" * 5000}, r"entries\[1\]\.version: '9{80}' is not a version"),
        ({"version": "1.10"}, r"bert@1\.10 is listed twice"),
        ({"size": 10**30}, "a number of 31 digits"),
    ],
)
def test_refuses_an_index_that_leads_elsewhere_or_says_one_thing_twice(change: dict[str, object], says: str) -> None:
    document = json.loads(INDEX.to_bytes())
    document["entries"][0]["version"] = "1.10"
    document["entries"][1] = {**document["entries"][0], "version": "1.9", **change}
    with pytest.raises(IntegrityError, match=rf"^index/index\.json: .*{says}"):
        Index.parse(json.dumps(document).encode())


def test_thousands_of_entries_take_no_more_than_their_number() -> None:
    def operations(count: int) -> int:
        calls = 0

        def count_call(*_: object) -> None:
            nonlocal calls
            calls += 1

        entries = [entry(f"p-{number % 50}", f"1.{number}") for number in range(count)]
        data = Index().add(*entries).to_bytes()
        sys.setprofile(count_call)
        try:
            listed = Index.parse(data).add(entry("new"))
            listed.resolve("p-7", "1.57")
            with pytest.raises(InputError):
                listed.resolve("p_7")
        finally:
            sys.setprofile(None)
        return calls

    assert operations(2000) < 2.5 * operations(1000)


def test_an_index_that_nobody_could_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LIMIT", 3000)
    store = DirectoryStore(tmp_path)
    index.record(store, ENTRIES)
    with pytest.raises(UnavailableError, match=r"index/index\.json: would be larger than 3000 bytes"):
        index.record(store, [entry(f"p-{number}") for number in range(20)])
    assert index.read(store) == INDEX


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
            index.record(DirectoryStore(self.root_dir), [entry(f"other-{self.overtakes}")])
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
