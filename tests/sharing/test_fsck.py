"""Looking for what is wrong with the files of a channel; making an index again; and removing what is left over."""

from __future__ import annotations

import errno
import json
import random
import re
import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import real
import sample
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, PackyardError, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.entry import CHECKSUM, COSIGN, PROVENANCE, SBOM, SIGSTORE, IndexEntry, bundle_key
from packyard.sharing.index import access, head, lease, nodes, pending
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import Index
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.tree import Node
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.prune import prune, reach
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores import directory
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci.artifact import bundle_manifest
from packyard.sharing.trust import sbom, sigstore
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import OvertakenStore, add_to_index, bundle, entry, fetch, large_bundle, lose_index, watch

KEY = SigningKey.new()
TRUSTED = Trust.of(KEY.public)
BUNDLES = [
    bundle(name, version, f"# {name}\n\nTrains {name}.\n") for name in ("bert", "gpt") for version in ("1.0", "1.1")
]
#: More packages, in one more release.
MORE = [
    bundle(f"more-{number}", "1.1", " ".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}{number}" for n in range(60)))
    for number in range(20)
]


def attest(entry: IndexEntry) -> dict[str, bytes]:
    """Return the SBOM and the provenance of a bundle that was made here."""
    (made,) = (each for each in (*BUNDLES, *MORE) if str(IndexEntry.of(each)) == str(entry))
    described = sbom.to_bytes(made)
    manifest = bundle_manifest(entry.key, entry.digest, entry.size)
    proved = Provenance.of(entry, {"a": Digest.of(b"")}, None, sbom=described, manifest=manifest)
    return {
        entry.beside(SBOM): described,
        entry.beside(PROVENANCE): proved.to_bytes([KEY]),
        **sigstore.described(proved, [KEY]),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A channel of which nothing is wrong, with all that there may be."""
    folder = tmp_path_factory.mktemp("whole")
    store = DirectoryStore(folder)
    for each in BUNDLES:
        publish(store, [each], attest=attest, by=Publisher(keys=[KEY], trusted=TRUSTED))
    publish(store, MORE, attest=attest, by=Publisher(keys=[KEY]))
    yank(store, "bert@1.1", "diverges", by=Publisher(keys=[KEY], trusted=TRUSTED))
    close(store, "1.0", by=Publisher(keys=[KEY], trusted=TRUSTED))
    return folder


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(Path(shutil.copytree(whole, tmp_path / "channel")))


def found(store: DirectoryStore, trusted: Trust = TRUSTED) -> list[tuple[str, str]]:
    return [(each.kind, each.key) for each in fsck.check(store, trusted)]


def node_keys(store: DirectoryStore) -> set[str]:
    return set(store.list("index/nodes/"))


@pytest.mark.nightly
def test_a_sound_channel_has_nothing_to_find(store: DirectoryStore) -> None:
    assert access.read(store).head.listing.level == 1
    assert list(fsck.check(store, TRUSTED)) == []
    assert list(fsck.check(store)) == []


def test_a_channel_of_packyard_0_1_0_is_sound(tmp_path: Path) -> None:
    shutil.copytree(real.REPOSITORY / "tests/trees/channel-0.1.0", tmp_path / "old")
    old = DirectoryStore(tmp_path / "old")
    assert found(old, NOBODY) == []
    (tmp_path / "old/1.9/bert.tar.gz").write_bytes(b"x")
    assert found(old, NOBODY) == [("altered", "1.9/bert.tar.gz")]
    with pytest.raises(IntegrityError):
        reindex(old)


def files(whole: Path) -> list[str]:
    return [key for key in DirectoryStore(whole).list("") if "more-" not in key]


def nodes_of_old_heads(store: DirectoryStore) -> set[str]:
    """Return the keys of nodes that the latest head does not reach."""
    reached: set[Digest] = set()
    reach(Nodes(store), access.read(store).head, reached)
    return node_keys(store) - set(map(nodes.key, reached))


@pytest.mark.nightly
def test_every_file_that_is_missing_is_found(whole: Path, store: DirectoryStore) -> None:
    old = set(nodes_of_old_heads(store))
    kept = [key for key in files(whole) if key not in old]
    for key in sample.some(kept, lambda key: (re.sub("[0-9a-f]{2,}|[0-9]", "", key),)):
        data = store.get(key)
        (store.root_dir / key).unlink()
        seen = found(store)
        if key != head.POINTER:
            assert key in {name for _, name in seen}, key
        assert all(kind in ("missing", "altered") for kind, name in seen if not name.startswith("index/nodes/"))
        (store.root_dir / key).parent.mkdir(parents=True, exist_ok=True)
        (store.root_dir / key).write_bytes(data)
    assert found(store) == []


def test_all_that_is_wrong_with_a_bundle_is_told_at_once(store: DirectoryStore) -> None:
    each = IndexEntry.of(BUNDLES[1])
    assert str(each) == "bert@1.1"
    beside = [each.beside(end) for end in (PROVENANCE, SBOM, SIGSTORE, COSIGN)]
    yanked = "index/yanked/1.1/bert.json"
    sums = each.beside(CHECKSUM)
    for key in (each.key, yanked, sums, each.beside(SIGSTORE), each.beside(COSIGN), each.beside(SBOM)):
        (store.root_dir / key).write_bytes(b"x")
    assert set(found(store)) == {("altered", key) for key in (each.key, yanked, sums, *beside[1:])}
    (store.root_dir / each.beside(PROVENANCE)).write_bytes(b"x")
    (store.root_dir / each.key).unlink()
    (store.root_dir / sums).write_bytes(f"{'0' * 64}  bert.tar.gz\n".encode())
    assert sorted(found(store)) == sorted(
        [("missing", each.key), *(("altered", key) for key in (yanked, sums, beside[0], *beside[2:]))]
    )
    (store.root_dir / each.key).write_bytes(BUNDLES[1].data)
    (fault,) = (fault for fault in fsck.check(store, TRUSTED) if fault.key == sums)
    assert fault.message == f"expected {each.digest}, found sha256:{'0' * 64}"
    assert fault.hint == "remove it, and publish the package again, which writes it"


@pytest.mark.nightly
def test_every_file_that_may_not_be_read_is_told_and_the_others_are_checked(
    whole: Path, store: DirectoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied: set[Path] = set()
    read = directory._read

    def guarded(file: Path, limit: int) -> bytes | None:
        if file in denied:
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return read(file, limit)

    monkeypatch.setattr(directory, "_read", guarded)  # root may read everything
    damaged = IndexEntry.of(BUNDLES[3]).key
    (store.root_dir / damaged).write_bytes(b"x")
    for key in sample.some(files(whole), lambda key: (re.sub("[0-9a-f]{2,}|[0-9]", "", key),)):
        denied.add(store.root_dir / key)
        faults = list(fsck.check(store, TRUSTED))
        told = {each.key: each for each in faults if each.kind == "unread"}
        assert told.keys() == {key}
        hint = f"whoever publishes there lets all read: chmod -R a+rX {store.address}"
        assert (told[key].message, told[key].hint) == ("Permission denied", hint)
        assert key in (damaged, head.POINTER) or ("altered", damaged) in {(each.kind, each.key) for each in faults}
        denied.clear()
    each = IndexEntry.of(BUNDLES[0])
    beside = [each.key, *map(each.beside, (CHECKSUM, PROVENANCE, SIGSTORE, COSIGN))]
    denied.update(store.root_dir / key for key in beside)
    assert sorted(found(store)) == sorted([("altered", damaged), *(("unread", key) for key in beside)])
    with pytest.raises(UnavailableError, match="chmod -R a"):
        reindex(store, Publisher(keys=[KEY], trusted=TRUSTED))


@pytest.mark.nightly
def test_every_file_that_is_extra_is_found(store: DirectoryStore) -> None:
    for key in (
        "1.0/new.tar.gz",
        "1.0/new.tar.gz.sha256",
        "1.0/notes.txt",
        "7.0/bert.tar.gz",
        "index/nodes/00/" + "0" * 62 + ".json",
        f"{pending.FOLDER}{'0' * 64}.json",
        f"{lease.FOLDER}{'0' * 32}.json",
        "index/yanked/1.0/gpt.json",
        "index/yanked/1.0/nobody.json",
        "index/yanked/x",
        "index/closed/7.0.json",
        f"{head.FOLDER}0.json",
        f"{head.FOLDER}x.json",
        head.key(10**11),
        "index/other.json",
    ):
        store.put(key, b"x")
        (fault,) = fsck.check(store, TRUSTED)
        assert fault.key == key
        assert "--repair" not in fault.hint
        (store.root_dir / key).unlink()
    store.put("index.html", b"welcome")
    assert found(store) == []


def test_what_the_index_lists_otherwise_is_said_as_json(tmp_path: Path) -> None:
    store, made = DirectoryStore(tmp_path / "channel"), bundle("bert", "1.0")
    publish(store, [made])
    latest, right = access.read(store), IndexEntry.of(made)
    wrong = replace(right, use_cases=("uses/none",), model={"framework": "\u00e9"})
    forged = Index.of_entries([wrong], latest.nodes)
    forged.write()
    head.create(store, replace(forged.head, number=latest.head.number + 1, history=latest.head.next_history()), [])
    messages = {each.message for each in fsck.check(store) if each.key == right.key}
    listed = json.dumps(list(right.use_cases))
    assert f'the bundle has useCases {listed}; the index lists useCases ["uses/none"]' in messages
    model = json.dumps(dict(right.model), ensure_ascii=False)
    assert f'the bundle has model {model}; the index lists model {{"framework": "\u00e9"}}' in messages
    assert len(messages) == 2


def test_a_map_that_does_not_fit_the_records_is_found(store: DirectoryStore) -> None:
    latest = access.read(store)
    without = latest.head.releases.document()
    without["entries"] = {}
    number = latest.head.number + 1
    forged = replace(latest.head, number=number, history=latest.head.next_history(), releases=Node.read(without))
    head.create(store, forged, [KEY])
    assert ("altered", head.key(number)) in found(store)


@pytest.mark.parametrize("entries", [{"1": {"spelling": 1}}, {"1": []}, {"x": {"spelling": "1.0", "closed": False}}])
def test_releases_that_are_none_are_found(store: DirectoryStore, entries: dict[str, object]) -> None:
    latest = access.read(store)
    releases = Node.read({"level": 0, "entries": entries})
    forged = replace(latest.head, number=latest.head.number + 1, history=latest.head.next_history(), releases=releases)
    head.create(store, forged, [KEY])
    assert ("altered", head.key(forged.number)) in found(store)


@pytest.mark.nightly
def test_single_byte_changes_are_found_or_change_no_value_that_is_read(whole: Path, store: DirectoryStore) -> None:
    """In bundles, checksums, provenance, SBOMs, heads, nodes, and the records of what is yanked and closed."""
    listed = {str(each): each for each in access.read(store, TRUSTED).entries}
    count = 1000 if sample.WHOLE else 30
    choose = random.Random(sample.SEED)
    keys = files(whole)
    for _ in range(count):
        key = choose.choice(keys)
        data = bytearray(store.get(key))
        at = choose.randrange(len(data))
        data[at] ^= 1 << choose.randrange(8)
        (store.root_dir / key).write_bytes(data)
        if not found(store):
            assert {str(each): each for each in access.read(store, TRUSTED).entries} == listed, (key, at)
        for reference in ("bert@1.0", "gpt", "bert@~1.1.0"):
            try:
                got = fetch(store, reference, trusted=TRUSTED)
            except PackyardError:
                continue
            assert got in BUNDLES, (key, at)
        (store.root_dir / key).write_bytes((whole / key).read_bytes())


def test_the_entries_of_a_channel_are_not_held_in_memory(tmp_path: Path) -> None:
    publish(DirectoryStore(tmp_path), [bundle(f"b{number}") for number in range(40)])
    (tmp_path / "1.0/b7.tar.gz").unlink()
    with watch(tmp_path, IndexEntry) as watched:
        assert [each.key for each in fsck.check(watched)] == ["1.0/b7.tar.gz"]
    assert watched.most < 5


@pytest.mark.nightly
def test_a_bundle_of_any_size_that_is_got_is_sound(tmp_path: Path) -> None:
    made = large_bundle()
    assert len(made.data) > LIMIT
    publish(DirectoryStore(tmp_path), [made])
    assert list(fsck.check(DirectoryStore(tmp_path))) == []
    assert reindex(DirectoryStore(tmp_path))[0].entries == (IndexEntry.of(made),)


# An index that is made again.


def test_bundles_are_read_some_at_a_time(tmp_path: Path) -> None:
    publish(DirectoryStore(tmp_path), [bundle(f"b{number}") for number in range(12)])
    together = threading.Barrier(2)

    class Together(DirectoryStore):
        """Answers for a bundle when another one is asked for at the same time."""

        def get(self, key: str, *, limit: int = LIMIT) -> bytes:
            if key.endswith(".tar.gz"):
                together.wait(30)
            return super().get(key, limit=limit)

    before = access.read(DirectoryStore(tmp_path)).entries
    told: list[str] = []
    made, _ = reindex(Together(tmp_path), done=told.append)
    assert made.entries == before
    assert told == [str(each) for each in before]


def test_an_index_made_again_has_the_same_nodes_and_the_next_head(store: DirectoryStore) -> None:
    before, reached = access.read(store, TRUSTED), node_keys(store) - nodes_of_old_heads(store)
    shutil.rmtree(store.root_dir / "index" / "nodes")
    made, skipped = reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))
    assert skipped == []
    assert (made.head.packages, made.head.listing, made.head.releases) == (
        before.head.packages, before.head.listing, before.head.releases,
    )  # fmt: skip
    assert node_keys(store) == reached
    assert made.head.number == before.head.number + 1
    assert access.read(store, TRUSTED) == made
    assert found(store) == []


def test_an_index_that_is_lost_altogether_is_made_again(store: DirectoryStore) -> None:
    before = access.read(store)
    for folder in ("nodes", "heads"):
        shutil.rmtree(store.root_dir / "index" / folder)
    (store.root_dir / head.POINTER).unlink()
    made, _ = reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))
    assert (made.head.number, made.head.packages, made.head.releases) == (1, before.head.packages, before.head.releases)
    assert found(store) == []


@pytest.mark.parametrize("damage", ["pointer", "head", "both"])
def test_an_index_whose_head_is_damaged_is_made_again(store: DirectoryStore, damage: str) -> None:
    before = head.latest(store)
    assert before
    add_to_index(store, [IndexEntry.of(BUNDLES[0])], keys=[KEY], trusted=TRUSTED)
    if damage in ("pointer", "both"):
        (store.root_dir / head.POINTER).write_bytes(b"{")
    if damage in ("head", "both"):
        (store.root_dir / head.key(before.number)).write_bytes(b"{")
    assert found(store)
    made, _ = reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))
    assert (made.head.packages, made.head.number) == (before.packages, before.number + 1)
    assert access.read(store, TRUSTED) == made
    assert found(store) == []  # the new head says which bytes the damaged one has


def test_a_bundle_that_is_damaged_is_named_and_nothing_changes(store: DirectoryStore) -> None:
    before = head.latest(store)
    for key in ("1.0/bert.tar.gz", "1.1/gpt.tar.gz"):
        (store.root_dir / key).write_bytes(b"x")
    with pytest.raises(IntegrityError) as caught:
        reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))
    assert len(caught.value.problems) == 2
    assert head.latest(store) == before


def test_what_was_uploaded_in_part_is_not_listed(store: DirectoryStore) -> None:
    store.put("1.1/part.tar.gz", bundle("part", "1.1").data)
    made, skipped = reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))
    assert skipped == ["1.1/part.tar.gz"]
    assert made.package("part") is None


def test_an_index_is_not_made_again_over_a_history_with_a_gap(store: DirectoryStore) -> None:
    latest = head.latest(store)
    assert latest
    (store.root_dir / head.key(latest.number)).unlink()
    with pytest.raises(IntegrityError, match=r"^index/heads/\d+\.json: is missing \(bring it back"):
        reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))


def test_a_bundle_without_proof_is_not_listed_where_proof_is_asked_for(store: DirectoryStore) -> None:
    (store.root_dir / bundle_key("bert", "1.0", PROVENANCE)).unlink()
    with pytest.raises(IntegrityError, match=r"^1\.0/bert\.tar\.gz\.intoto\.json: is missing: nothing proves"):
        reindex(store, by=Publisher(keys=[KEY], trusted=TRUSTED))


# What publishers that lost a race leave.


@pytest.mark.nightly
def test_prune_removes_the_nodes_that_no_head_reaches_and_no_others(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    add_to_index(store, [entry(f"model-{number:04}") for number in range(400)])
    overtaken = OvertakenStore(tmp_path)
    overtaken.overtakes = 2
    publish(overtaken, [bundle("other-z")])
    heads = store.list(head.FOLDER)
    before = node_keys(store)
    extra = {each.key for each in fsck.check(store) if each.message == "no head reaches it"}
    assert extra
    assert set(prune(store)) == extra
    assert node_keys(store) == before - extra
    assert all(each.message != "no head reaches it" for each in fsck.check(store))
    assert len(access.read(store).entries) == 403
    assert store.list(head.FOLDER) == heads
    assert prune(store) == []
    assert store.list(lease.FOLDER) == []


def test_prune_removes_what_a_trial_of_the_server_left(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    publish(store, [bundle()])
    store.put("index/probe/1", b"1")
    (found,) = fsck.check(store)
    assert (found.kind, found.key) == ("extra", "index/probe/1")
    assert "fsck CHANNEL --prune" in found.hint
    assert prune(store) == ["index/probe/1"]
    assert list(fsck.check(store)) == []


def test_prune_waits_for_whoever_publishes(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    publish(store, [bundle()])
    pending.put(store, [IndexEntry.of(bundle(version="2.0"))], [], "")
    with pytest.raises(ConflictError, match=r"somebody publishes, or was interrupted: index/pending/"):
        prune(store)


def test_a_publisher_waits_for_prune(tmp_path: Path) -> None:
    """It says what it uploads first; then either prune sees that, or the publisher sees the ticket of prune."""
    store = DirectoryStore(tmp_path)
    publish(store, [bundle()])
    seen: list[list[str]] = []

    class Watched(DirectoryStore):
        def list(self, prefix: str) -> list[str]:  # type: ignore[override]
            if prefix == lease.FOLDER:
                seen.append([*super().list(pending.FOLDER), *super().list(head.FOLDER)])
            return list(super().list(prefix))

    publish(Watched(tmp_path), [bundle(version="2.0")])
    assert seen
    assert all(any(key.startswith(pending.FOLDER) for key in after) for after in seen)
    assert all(head.key(3) not in after for after in seen)


def test_losing_the_index_of_a_channel_is_found(store: DirectoryStore) -> None:
    lose_index(store.root_dir)
    assert found(store) == [("missing", head.POINTER)]


class TakenStore(DirectoryStore):
    """Others take the lease of whoever looks at nodes for too long."""

    def list(self, prefix: str) -> Sequence[str]:
        found = super().list(prefix)
        if prefix == nodes.FOLDER:
            for key in super().list(lease.FOLDER):
                self.remove(key)
        return found


def test_prune_removes_nothing_once_others_took_its_lease(tmp_path: Path) -> None:
    store = TakenStore(tmp_path / "channel")
    publish(store, [bundle()])
    key = nodes.key(Digest.of(b"x"))
    store.put(key, b"x")
    with pytest.raises(UnavailableError, match="its ticket is gone"):
        prune(store)
    assert store.get(key) == b"x"
