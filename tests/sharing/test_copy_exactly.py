"""Copying versions that are named exactly, to promote them: all or none, none yanked, with what is known of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.bundle import Bundle
from packyard.core.errors import ConflictError, InputError, IntegrityError
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keys import SigningKey, Trust
from sharing.examples import bundle, compressed_otherwise, fetch, watch
from sharing.test_fsck import BUNDLES, KEY, TRUSTED, attest

OWN = SigningKey.new()


@pytest.fixture
def source(tmp_path: Path) -> DirectoryStore:
    made = DirectoryStore(tmp_path / "candidates")
    publish(made, BUNDLES, attest=attest, by=Publisher(keys=[KEY]))
    return made


@pytest.fixture
def target(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "public")


def test_copies_the_same_bytes_with_provenance_and_sbom(source: DirectoryStore, target: DirectoryStore) -> None:
    done = copy(source, target, ["bert@v1.0", "gpt@1"], by=Publisher(keys=[OWN]), how=Fetching(trusted=TRUSTED))
    assert [(str(each.entry), each.status) for each in done] == [("bert@1.0", "published"), ("gpt@1.0", "published")]
    assert target.list("1.0/") == source.list("1.0/")
    assert all(target.get(key) == source.get(key) for key in target.list("1.0/"))
    assert access.read(target, Trust.of(OWN.public)).entries == tuple(each.entry for each in done)
    assert list(fsck.check(target)) == []
    assert [each.status for each in copy(source, target, ["bert@1.0"], by=Publisher(keys=[OWN]))] == ["unchanged"]


def test_refuses_what_is_yanked_where_it_is_named_exactly(source: DirectoryStore, target: DirectoryStore) -> None:
    yank(source, "bert@1.1", "diverges", by=Publisher(keys=[KEY]))
    with pytest.raises(ConflictError, match=r"^bert@1\.1 is yanked: diverges"):
        copy(source, target, ["gpt@1.0", "bert@1.1"])
    with pytest.raises(ConflictError, match=r"^bert@1\.1 is yanked: diverges"):
        copy(source, target, ["bert", "bert@1.1"])
    with pytest.raises(InputError, match=r"no version '7' of bert"):
        copy(source, target, ["bert@7"])
    assert target.list("") == []
    assert [str(each.entry) for each in copy(source, target, ["bert"])] == ["bert@1.0", "bert@1.1"]


@pytest.mark.nightly
def test_what_is_named_exactly_is_copied_at_once_or_not_at_all(tmp_path: Path) -> None:
    names = [f"b{number}" for number in range(40)]
    source, target = DirectoryStore(tmp_path / "from"), DirectoryStore(tmp_path / "to")
    publish(source, [bundle(name) for name in names])
    publish(target, [bundle(names[-1], "1.0", "other")])
    with pytest.raises(ConflictError, match="is published with other content"):
        copy(source, target, [f"{name}@1.0" for name in names])
    assert [str(entry) for entry in access.current(target).entries] == [f"{names[-1]}@1.0"]
    before = access.current(target).number
    copy(source, target, [f"{name}@1.0" for name in names[:-1]])
    assert access.current(target).number == before + 1


def test_what_is_not_proved_is_not_copied(source: DirectoryStore, target: DirectoryStore) -> None:
    (source.root_dir / "1.0/gpt.tar.gz.sigstore.json").write_bytes(b"{}")
    with pytest.raises(IntegrityError, match=r"gpt@1\.0\.intoto\.json: _type: is missing"):
        copy(source, target, ["gpt@1.0"], how=Fetching(trusted=TRUSTED))
    with pytest.raises(IntegrityError, match="which you do not trust"):
        copy(source, target, ["bert@1.0"], how=Fetching(trusted=Trust.of(OWN.public)))
    assert access.current(target).entries == ()


def test_tells_what_is_proved_and_what_is_not(source: DirectoryStore, target: DirectoryStore) -> None:
    proved = copy(source, target, ["gpt@1.0"], by=Publisher(keys=[OWN]), how=Fetching(trusted=TRUSTED))
    told = [
        each.proof for each in (*proved, *copy(source, target, ["bert@1.0"], by=Publisher(keys=[OWN]))) if each.proof
    ]
    assert [proof.is_proved for proof in told] == [True, False]
    assert f"signed by {KEY.public.id}" in told[0].describe()
    assert "so its publisher is unknown" in told[1].describe()


def test_the_same_tar_that_is_there_already_keeps_its_file_and_what_is_known_of_it(
    source: DirectoryStore, target: DirectoryStore
) -> None:
    there = compressed_otherwise(BUNDLES[0])
    publish(target, [there])
    (done,) = copy(source, target, ["bert@1.0"])
    assert done.status == "unchanged"
    assert fetch(target, "bert").data == there.data
    assert target.list("1.0/") == ["1.0/bert.tar.gz", "1.0/bert.tar.gz.sha256"]


def test_the_bundles_are_not_held_in_memory(tmp_path: Path) -> None:
    names = [f"b{number}" for number in range(10)]
    publish(DirectoryStore(tmp_path / "candidates"), [bundle(name) for name in names])
    with watch(tmp_path / "public", Bundle) as target:
        copy(DirectoryStore(tmp_path / "candidates"), target, [f"{name}@1.0" for name in names])
    assert len(target.list("1.0/")) == 20
    assert target.most <= 1


def test_another_tar_under_that_version_is_refused(source: DirectoryStore, target: DirectoryStore) -> None:
    publish(target, [bundle("bert", "1.0", "other")])
    with pytest.raises(ConflictError, match="is published with other content"):
        copy(source, target, ["bert@1.0"])
