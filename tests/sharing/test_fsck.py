"""Looking for what is wrong with the files of a channel, and listing again what is sound."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sample
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.core.files.regular import LIMIT
from packyard.sharing.entry import CHECKSUM, SBOM, SIGSTORE, IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import Memory, Publisher
from packyard.sharing.index.index import KEY as INDEX
from packyard.sharing.index.index import Index
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import sbom
from packyard.sharing.trust.provenance import Statement
from sharing.examples import BY, OWN, TRUSTED, bundle, close, fetch, large_bundle, lose_index, proof, publish

BUNDLES = [
    bundle(name, version, f"# {name}\n\nTrains {name}.\n") for name in ("bert", "gpt") for version in ("1.0", "1.1")
]


def attest(entry: IndexEntry) -> dict[str, bytes]:
    """Return the SBOM and the provenance of a bundle that was made here."""
    (made,) = (each for each in BUNDLES if str(IndexEntry.of(each)) == str(entry))
    described = sbom.to_bytes(made)
    proved = Statement(entry, {"a": Digest.of(b"")}, None, sbom=described)
    return {entry.beside(SBOM): described, entry.beside(SIGSTORE): proved.to_bytes(OWN)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A channel of which nothing is wrong, with all that there may be."""
    folder = tmp_path_factory.mktemp("whole")
    store = DirectoryStore(folder)
    publish(store, BUNDLES, attest=attest, by=BY)
    yank(store, "bert@1.1", "diverges", by=BY)
    close(store, "1.0", by=BY)
    return folder


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(Path(shutil.copytree(whole, tmp_path / "channel")))


def found(store: DirectoryStore) -> list[tuple[str, str]]:
    return [(each.kind, each.key) for each in fsck.check(store, TRUSTED)]


def files(store: DirectoryStore) -> list[str]:
    """Return the keys of the files that a channel has, without the records that nothing names any more."""
    return [*(key for key in store.list("") if not key.startswith("index/")), INDEX, *access.read(store).files_below()]


def test_a_sound_channel_has_nothing_to_find(store: DirectoryStore) -> None:
    assert len(store.list("index/")) > len(set(access.read(store).files_below())) + 1, "old records are no finding"
    assert list(fsck.check(store, TRUSTED)) == []
    assert list(fsck.check(store)) == []


def test_every_file_that_is_missing_is_found(store: DirectoryStore) -> None:
    for key in sample.some(files(store), lambda key: (re.sub("[0-9a-f]{2,}|[0-9]", "", key),)):
        data = store.get(key)
        (store.root_dir / key).unlink()
        kinds = {name: kind for kind, name in found(store)}
        assert kinds.get(key) == "missing", key
        (store.root_dir / key).write_bytes(data)
    assert found(store) == []


def test_all_that_is_wrong_with_a_bundle_is_told_at_once(store: DirectoryStore) -> None:
    each = IndexEntry.of(BUNDLES[1])
    assert str(each) == "bert@1.1"
    sums, described, proof = (each.beside(end) for end in (CHECKSUM, SBOM, SIGSTORE))
    for key in (each.key, sums, described):
        (store.root_dir / key).write_bytes(b"x")
    wrong = [("altered", each.key), ("altered", sums), ("unproved", described)]
    assert sorted(found(store)) == sorted(wrong)
    before = access.read(store, TRUSTED)
    assert fsck.repair(store, BY)[0].number == before.number, "the index is right, and stays that of its mirrors"
    (store.root_dir / proof).write_bytes(b"x")
    (store.root_dir / each.key).unlink()
    (store.root_dir / sums).write_bytes(f"{'0' * 64}  bert.tar.gz\n".encode())
    assert {("missing", each.key), ("altered", sums), ("unproved", proof)} <= set(found(store))
    (fault,) = (fault for fault in fsck.check(store, TRUSTED) if fault.key == sums)
    assert fault.message == f"expected the line {each.checksum.decode()!r}"
    publish = f"packyard publish bert --version {each.version} --to CHANNEL"
    assert fault.hint == f"remove what is there, and publish the same sources again: {publish}"


def test_every_file_that_nothing_lists_is_found_and_removed_when_told_to(store: DirectoryStore) -> None:
    extra = ["1.0/new.tar.gz", "1.0/new.tar.gz.sha256", "7.0/bert.tar.gz", "index/other.json", "index/probe/x"]
    for key in extra:
        store.put(key, b"x")
        (fault,) = fsck.check(store, TRUSTED)
        assert (fault.kind, fault.key) == ("unlisted", key)
        (store.root_dir / key).unlink()
    for key in extra:
        store.put(key, b"x")
    store.put("1.0/notes.txt", b"x")
    store.put("index.html", b"welcome")
    fsck.repair(store, BY)
    assert found(store) == [("unlisted", key) for key in sorted([*extra, "1.0/notes.txt"])]
    assert fsck.repair(store, BY, is_removing=True)[2] == sorted(extra)
    assert found(store) == [("unlisted", "1.0/notes.txt")]
    assert store.get("index.html") == b"welcome"


@pytest.mark.nightly
def test_a_bundle_of_any_size_that_is_got_is_sound(tmp_path: Path) -> None:
    made = large_bundle()
    assert len(made.data) > LIMIT
    publish(DirectoryStore(tmp_path), [made])
    assert list(fsck.check(DirectoryStore(tmp_path))) == []
    lose_index(tmp_path)
    assert fsck.repair(DirectoryStore(tmp_path))[0].entries == (IndexEntry.of(made),)


# Repair.


@pytest.mark.parametrize("damage", ["lost", "altered"])
def test_records_that_are_lost_are_made_again_of_their_bundles(store: DirectoryStore, damage: str) -> None:
    before = access.read(store, TRUSTED)
    for key in before.files_below():
        if "/bert/" in key:
            (store.root_dir / key).write_bytes(b"x") if damage == "altered" else (store.root_dir / key).unlink()
    with pytest.raises(IntegrityError, match="packyard fsck"):
        fetch(store, "bert", trusted=TRUSTED)
    index, listed, _ = fsck.repair(store, BY)
    assert (index.number, index.channel, listed) == (before.number + 1, before.channel, ["bert@1.0", "bert@1.1"])
    assert index.release("1.0").closed
    assert found(store) == []
    assert access.read(store, TRUSTED) == index
    assert [entry.yanked for entry in index.entries] == [""] * 4, "what a lost record said is lost"


def every(index: Index) -> dict[str, tuple[str, str]]:
    """Return why each version of an index is yanked or removed, if it is."""
    entries = [entry for name in index.names() for entry in index.known(name).every]
    return {str(entry): (entry.yanked, entry.removed) for entry in entries}


def test_an_index_that_is_lost_takes_no_yank_and_no_removal_along_and_keeps_its_id_where_it_is_remembered(
    store: DirectoryStore, tmp_path: Path
) -> None:
    memory = Memory(file=tmp_path / "memory.json")
    close(store, "1.1", by=BY)
    gc(store, Policy(yanked=True), by=BY)
    yank(store, "gpt@1.1", "spoils data", by=BY)
    before = access.read(store, TRUSTED, memory)
    known = every(before)
    assert (known["gpt@1.1"], known["bert@1.1"][1] != "") == (("spoils data", ""), True)
    (store.root_dir / INDEX).write_bytes(b"{")
    index, *_ = fsck.repair(store, replace(BY, memory=memory))
    assert (index.channel, index.number, every(index)) == (before.channel, before.number + 1, known)
    assert index.entries == before.entries
    assert found(store) == []
    (store.root_dir / INDEX).unlink()
    other, *_ = fsck.repair(store, BY)
    assert (other.number, other.channel != before.channel, every(other)) == (1, True, known)
    with pytest.raises(IntegrityError, match=f"its id was {before.channel}, and is {other.channel}"):
        access.read(store, TRUSTED, memory)


def test_what_is_not_whole_or_not_proved_is_not_listed(store: DirectoryStore) -> None:
    lose_index(store.root_dir)
    entries = [IndexEntry.of(each) for each in BUNDLES]
    (store.root_dir / entries[0].key).write_bytes(b"x")
    (store.root_dir / entries[1].beside(CHECKSUM)).unlink()
    (store.root_dir / entries[2].beside(SIGSTORE)).unlink()
    _, listed, _ = fsck.repair(store, BY)
    assert listed == [str(entries[3])]
    unlisted = {key for kind, key in found(store) if kind == "unlisted" and key.endswith(".tar.gz")}
    assert unlisted == {entry.key for entry in entries[:3]}


def test_an_interrupted_publish_is_listed_and_others_are_not_lost(store: DirectoryStore) -> None:
    new = bundle("new", "3.0")
    store.put("3.0/new.tar.gz", new.data)
    store.put("3.0/new.tar.gz.sha256", f"{Digest.of(new.data).hex}  new.tar.gz\n".encode())
    for key, data in proof(IndexEntry.of(new), OWN).items():
        store.put(key, data)

    class Overtaken(DirectoryStore):
        def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
            if not self.list("4.0/"):
                publish(DirectoryStore(self.root_dir), [bundle("other", "4.0")], by=BY)
            super().swap(key, data, expected)

    fsck.repair(Overtaken(store.root_dir), Publisher(key=OWN))
    assert {"new@3.0", "other@4.0", "bert@1.0"} <= {str(entry) for entry in access.read(store).entries}
