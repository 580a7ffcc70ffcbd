"""Copying a channel: the same bytes in another channel, all or some, again and again."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, IntegrityError
from packyard.sharing.entry import SBOM, SIGSTORE, IndexEntry
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import KEY as KEY_OF_INDEX
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import chosen, copy
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey, Trust
from packyard.sharing.trust.provenance import Statement
from sharing.examples import bundle, close, fetch, proof, publish

KEY, OTHER = SigningKey.new(), SigningKey.new()
TRUST = Trust.of(KEY.public)
BUNDLES = [bundle("bert", version) for version in ("1.0", "1.1", "2.0")] + [bundle("gpt", "1.0")]
OBJECTS = (".tar.gz", ".tar.gz.sha256", ".tar.gz.sigstore.json")


@pytest.fixture
def source(tmp_path: Path) -> DirectoryStore:
    store = DirectoryStore(tmp_path / "source")
    publish(store, BUNDLES, attest=partial(proof, key=KEY), by=Publisher(key=KEY))
    yank(store, "bert@1.0", "diverges", by=Publisher(key=KEY))
    return store


@pytest.fixture
def target(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "target")


def statuses(source: Store, target: Store, *texts: str) -> dict[str, str]:
    return {str(entry): status for entry, status in copy(source, target, texts, how=Fetching(trusted=TRUST))}


def test_everything_is_there_afterwards_with_the_same_bytes(source: DirectoryStore, target: DirectoryStore) -> None:
    found = statuses(source, target)
    assert found == dict.fromkeys(("bert@1.0", "bert@1.1", "bert@2.0", "gpt@1.0"), "published")
    kept = [key for key in source.list("") if key.endswith(OBJECTS)]
    assert len(kept) == 3 * 4
    assert {key: target.get(key) for key in kept} == {key: source.get(key) for key in kept}
    assert access.read(target).entries == access.read(source).entries
    assert fetch(target, "bert") == bundle("bert", "2.0")
    assert list(fsck.check(target)) == []


@pytest.mark.parametrize("texts", [(), ("bert@1.0",)])
def test_an_sbom_that_is_not_the_one_that_was_signed_is_not_copied(texts: tuple[str, ...], tmp_path: Path) -> None:
    source, entry = DirectoryStore(tmp_path / "source"), IndexEntry.of(bundle("bert", "1.0"))
    name = entry.beside(SBOM)
    beside = {name: b"{}", entry.beside(SIGSTORE): Statement(entry, {}, None, sbom=b"{}").to_bytes(KEY)}
    publish(source, [bundle("bert", "1.0")], attest=lambda _: beside, by=Publisher(key=KEY))
    (source.root_dir / name).write_bytes(b"{ }")
    target = DirectoryStore(tmp_path / "target")
    with pytest.raises(IntegrityError, match=rf"^{name}: is not the SBOM .*: packyard fsck /"):
        copy(source, target, texts, how=Fetching(trusted=TRUST))
    assert access.current(target).entries == ()
    (source.root_dir / name).write_bytes(b"{}")
    copy(source, DirectoryStore(tmp_path / "whole"), texts, how=Fetching(trusted=TRUST))
    source.remove(entry.beside(SIGSTORE))
    copy(source, DirectoryStore(tmp_path / "part"), texts, how=Fetching(trusted=TRUST, warn=(said := []).append))
    assert "bert@1.0 is copied without provenance: 1.0/bert.tar.gz.sigstore.json is missing in /" in said[0]


def test_a_second_run_changes_nothing_and_later_ones_bring_what_is_new(
    source: DirectoryStore, target: DirectoryStore
) -> None:
    statuses(source, target)
    before = {key: target.get(key) for key in target.list("")}
    assert set(statuses(source, target).values()) == {"unchanged"}
    assert {key: target.get(key) for key in target.list("")} == before
    publish(source, [bundle("t5", "1.0")], by=Publisher(key=KEY))
    yank(source, "gpt@1.0", "slow", by=Publisher(key=KEY))
    names = ("bert@1.0", "bert@1.1", "bert@2.0", "gpt@1.0")
    assert statuses(source, target) == {**dict.fromkeys(names, "unchanged"), "t5@1.0": "published"}
    assert access.read(target).named("gpt").get("1.0").yanked == "slow"
    whole = target.get("1.0/gpt.tar.gz")
    target.remove("1.0/gpt.tar.gz")
    assert statuses(source, target)["gpt@1.0"] == "published"
    assert target.get("1.0/gpt.tar.gz") == whole


def test_a_closed_release_is_closed_once_all_of_it_was_copied(source: DirectoryStore, target: DirectoryStore) -> None:
    close(source, "1.0", by=Publisher(key=KEY))
    statuses(source, target, "bert")
    assert not access.read(target).release("1.0").closed
    publish(target, [bundle("own", "1.0")])
    statuses(source, target, "gpt")
    assert access.read(target).release("1.0").closed
    with pytest.raises(ConflictError, match=r"^more@1\.0: the release 1\.0 is closed"):
        publish(target, [bundle("more", "1.0")])
    assert "1.0/more.tar.gz" not in target.list("")
    assert list(fsck.check(target)) == []
    before = access.read(target)
    statuses(source, target)
    assert access.read(target) == before
    assert not access.read(target).release("2.0").closed


@pytest.mark.parametrize(
    ("texts", "versions"),
    [
        (["bert"], ["bert@1.0", "bert@1.1", "bert@2.0"]),
        (["bert@1.1", "bert@1.1"], ["bert@1.1"]),
        (["bert@^1"], ["bert@1.0", "bert@1.1"]),
        (["bert@latest", "gpt"], ["bert@2.0", "gpt@1.0"]),
        ([], ["bert@1.0", "bert@1.1", "bert@2.0", "gpt@1.0"]),
    ],
)
def test_what_is_named_is_copied(texts: list[str], versions: list[str], source: DirectoryStore) -> None:
    entries, exact = chosen(access.read(source), texts)
    assert [str(entry) for entry in entries] == versions
    assert len(exact) == (texts[:1] == ["bert@1.1"])


def test_a_mirror_is_the_same_channel_and_follows_it_but_never_back(
    source: DirectoryStore, target: DirectoryStore, tmp_path: Path
) -> None:
    statuses(source, target)
    assert target.get(KEY_OF_INDEX) == source.get(KEY_OF_INDEX)
    assert fetch(target, "bert", trusted=TRUST) == bundle("bert", "2.0")
    old = DirectoryStore(Path(shutil.copytree(target.root_dir, tmp_path / "old")))
    close(source, "1.0", by=Publisher(key=KEY))
    gc(source, Policy(yanked=True), by=Publisher(key=KEY))
    assert statuses(source, target) == dict.fromkeys(("bert@1.1", "bert@2.0", "gpt@1.0"), "unchanged")
    assert {key: target.get(key) for key in target.list("1.0/")} == {
        key: source.get(key) for key in source.list("1.0/")
    }
    assert target.get(KEY_OF_INDEX) == source.get(KEY_OF_INDEX)
    with pytest.raises(
        ConflictError, match=r"has number 5 of this channel, and the source number 3 \(copy in the other"
    ):
        statuses(old, target)


def test_a_copy_of_a_part_and_one_that_is_signed_anew_are_channels_of_their_own(
    source: DirectoryStore, target: DirectoryStore, tmp_path: Path
) -> None:
    other = DirectoryStore(tmp_path / "other")
    copy(source, target, [], how=Fetching(trusted=TRUST), by=lambda: Publisher(key=OTHER), is_own=True)
    copy(source, other, ["bert"], how=Fetching(trusted=TRUST))
    assert access.read(target, Trust.of(OTHER.public)).signers == (OTHER.public.id,)
    assert len({access.read(each).channel for each in (source, target, other)}) == 3
    assert not access.read(other).is_signed
    assert fetch(target, "bert@1.0", trusted=Trust.of(OTHER.public)) == bundle("bert", "1.0")


def test_refuses_what_is_yanked_where_it_is_named_exactly(source: DirectoryStore, target: DirectoryStore) -> None:
    for texts in (["gpt@1.0", "bert@1.0"], ["bert", "bert@1.0"]):
        with pytest.raises(ConflictError, match=r"^bert@1\.0 is yanked: diverges"):
            copy(source, target, texts)
    assert target.list("") == []
