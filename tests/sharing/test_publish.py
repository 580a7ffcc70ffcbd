"""Publishing: nothing published changes, whatever is listed exists, and an interrupted publish can be completed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.index import KEY
from packyard.sharing.publishing import fsck
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle, compressed_otherwise, fetch, lose_index, publish

KEYS = ["1.0/bert.tar.gz", "1.0/bert.tar.gz.sha256"]


def state(store: DirectoryStore) -> dict[str, bytes]:
    return {key: store.get(key) for key in store.list("")}


def test_publishes_the_bundle_its_checksum_and_an_entry(store: DirectoryStore) -> None:
    (done,) = publish(store, [bundle()])
    assert done == (IndexEntry.of(bundle()), "published")
    assert done[0].key == KEYS[0]
    assert store.list("") == sorted([*KEYS, "index/index.json", *access.read(store).files_below()])
    assert store.get(KEYS[0]) == bundle().data
    assert store.get(KEYS[1]).decode() == f"{Digest.of(bundle().data).hex}  bert.tar.gz\n"
    assert access.read(store).entries == (IndexEntry.of(bundle()),)


def test_the_same_tar_compressed_otherwise_leaves_the_published_file_and_its_checksum_alone(
    store: DirectoryStore,
) -> None:
    publish(store, [bundle()])
    before = state(store)
    (done,) = publish(store, [compressed_otherwise(bundle())])
    assert done == (IndexEntry.of(bundle()), "unchanged")
    assert state(store) == before


@pytest.mark.parametrize("missing", [["checksum"], ["index"], ["checksum", "index"]])
def test_completes_with_the_checksum_of_the_published_file(
    store: DirectoryStore, tmp_path: Path, missing: list[str]
) -> None:
    publish(store, [bundle()])
    before = state(store)
    if "checksum" in missing:
        (tmp_path / KEYS[1]).unlink()
    if "index" in missing:
        lose_index(tmp_path)
    (done,) = publish(store, [compressed_otherwise(bundle())])
    assert done[1] == "completed"
    after = state(store)
    assert (before.pop(KEY) == after.pop(KEY)) == ("index" not in missing)
    assert after == before


def test_one_conflict_among_many_publishes_none_and_all_are_named(store: DirectoryStore) -> None:
    publish(store, [bundle("a"), bundle("c")])
    before = state(store)
    with pytest.raises(ConflictError) as caught:
        publish(store, [bundle("a", text="x"), bundle("b"), bundle("c", text="x")])
    assert [problem.message[:5] for problem in caught.value.problems] == ["a@1.0", "c@1.0"]
    assert all(each.tar in str(caught.value) for each in (bundle("a"), bundle("a", text="x")))
    assert state(store) == before


def test_refuses_a_listed_version_with_another_tar_even_if_its_file_was_lost(
    store: DirectoryStore, tmp_path: Path
) -> None:
    publish(store, [bundle()])
    for key in KEYS:
        (tmp_path / key).unlink()
    with pytest.raises(ConflictError, match="is published with other content"):
        publish(store, [bundle(text="other")])
    assert store.list("1.0/") == []
    publish(store, [bundle()])
    assert list(fsck.check(store)) == []


def test_the_loser_of_a_race_keeps_to_the_winner_or_is_refused(tmp_path: Path) -> None:
    class OvertakenStore(DirectoryStore):
        def put(self, key: str, data: bytes) -> None:
            if key == KEYS[0]:
                publish(DirectoryStore(self.root_dir), [winner])
            super().put(key, data)

    winner = compressed_otherwise(bundle())
    (done,) = publish(OvertakenStore(tmp_path / "same"), [bundle()])
    assert done[0].digest == Digest.of(winner.data)
    assert DirectoryStore(tmp_path / "same").get(KEYS[0]) == winner.data
    assert list(fsck.check(DirectoryStore(tmp_path / "same"))) == []
    winner = bundle(text="winner")
    with pytest.raises(ConflictError, match="is published with other content"):
        publish(OvertakenStore(tmp_path / "other"), [bundle(text="loser")])
    assert fetch(DirectoryStore(tmp_path / "other"), "bert").data == winner.data


# A channel that has lost its index, and a folder that is none.


def test_a_channel_without_an_index_is_not_taken_for_an_empty_one(store: DirectoryStore, tmp_path: Path) -> None:
    publish(store, [bundle(), bundle("gpt")])
    lose_index(tmp_path)
    before = state(store)
    says = r": has releases and no index/index\.json: 1\.0/bert\.tar\.gz, .* \(bring"
    with pytest.raises(ConflictError, match=says):
        publish(store, [bundle(version="2.0")])
    with pytest.raises(
        ConflictError, match=r"no index/index\.json: 1\.0/gpt\.tar\.gz, 1\.0/gpt\.tar\.gz\.sha256 \(bring"
    ):
        publish(store, [bundle()])
    assert state(store) == before


@pytest.mark.parametrize("name", ["thesis.txt", "a b/c", "\x1b[31m", "packages/p.yaml", "1.0/README"])
def test_a_folder_that_holds_other_things_does_not_become_a_channel(
    store: DirectoryStore, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("years of work")
    with pytest.raises(ConflictError, match="has other files and no index/index") as caught:
        publish(store, [bundle()])
    assert str(caught.value).isprintable()
    assert store.list("") == [name]


def test_a_channel_that_another_publisher_begins_meanwhile_is_no_place_with_other_content(tmp_path: Path) -> None:
    class Overtaken(DirectoryStore):
        def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
            if prefix == "" and not (self.root_dir / KEY).exists():
                publish(DirectoryStore(self.root_dir), [bundle("other")])
            return super().list(prefix, age=age)

    publish(Overtaken(tmp_path), [bundle("own")])
    assert [entry.name for entry in access.read(DirectoryStore(tmp_path)).entries] == ["other", "own"]


def test_refuses_a_version_that_is_published_in_another_spelling(store: DirectoryStore) -> None:
    publish(store, [bundle(version="1.2.0")])
    before = state(store)
    for version in ("v1.2.0", "1.2"):
        for text in ("", "other"):
            with pytest.raises(ConflictError, match=rf"^bert@{version} is published as bert@1\.2\.0"):
                publish(store, [bundle(version=version, text=text)])
    assert state(store) == before
