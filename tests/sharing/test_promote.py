"""Promoting from one channel to another: the same bytes, with what is known of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.bundle import Bundle
from packyard.core.errors import ConflictError, InputError, IntegrityError
from packyard.sharing import fetch, publish
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.fetching.verify import Proof
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.promote import promote
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keys import SigningKey, Trust
from sharing.examples import bundle, compressed_otherwise, watch
from sharing.test_fsck import BUNDLES, KEY, TRUSTED, attest

OWN = SigningKey.new()


@pytest.fixture
def source(tmp_path: Path) -> DirectoryStore:
    made = DirectoryStore(tmp_path / "candidates")
    publish(made, BUNDLES, attest=attest, keys=[KEY])
    return made


@pytest.fixture
def target(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path / "public")


def test_promotes_the_same_bytes_with_provenance_and_sbom(source: DirectoryStore, target: DirectoryStore) -> None:
    done = promote(source, target, ["bert@v1.0", "gpt@1"], keys=[OWN], how=Fetching(trusted=TRUSTED))
    assert [(str(entry), status) for entry, status in done] == [("bert@1.0", "published"), ("gpt@1.0", "published")]
    assert target.list("1.0/") == source.list("1.0/")
    assert all(target.get(key) == source.get(key) for key in target.list("1.0/"))
    assert access.read(target, Trust.of(OWN.public)).entries == tuple(entry for entry, _ in done)
    assert list(fsck.check(target)) == []
    assert [status for _, status in promote(source, target, ["bert@1.0"], keys=[OWN])] == ["unchanged"]


def test_refuses_what_is_yanked_or_is_not_said_exactly(source: DirectoryStore, target: DirectoryStore) -> None:
    yank(source, "bert@1.1", "diverges", keys=[KEY])
    with pytest.raises(ConflictError, match=r"^bert@1\.1 is yanked: diverges"):
        promote(source, target, ["gpt@1.0", "bert@1.1"])
    for text in ("bert", "bert@^1", "bert@latest"):
        with pytest.raises(InputError, match="does not say which version"):
            promote(source, target, [text])
    with pytest.raises(InputError, match=r"no version '7' of bert"):
        promote(source, target, ["bert@7"])
    assert target.list("") == []


def test_what_is_not_proved_is_not_promoted(source: DirectoryStore, target: DirectoryStore) -> None:
    (source.root_dir / "1.0/gpt.tar.gz.intoto.json").unlink()
    with pytest.raises(IntegrityError, match=r"gpt\.tar\.gz\.intoto\.json: is missing"):
        promote(source, target, ["gpt@1.0"], how=Fetching(trusted=TRUSTED))
    with pytest.raises(IntegrityError, match="which you do not trust"):
        promote(source, target, ["bert@1.0"], how=Fetching(trusted=Trust.of(OWN.public)))
    assert access.current(target).entries == ()


def test_tells_what_is_proved_and_what_is_not(source: DirectoryStore, target: DirectoryStore) -> None:
    told: list[Proof] = []
    promote(source, target, ["gpt@1.0"], keys=[OWN], how=Fetching(trusted=TRUSTED), tell=told.append)
    promote(source, target, ["bert@1.0"], keys=[OWN], tell=told.append)
    assert [proof.is_proved for proof in told] == [True, False]
    assert f"signed by {KEY.public.id}" in told[0].said()
    assert "not proved: who published it" in told[1].said()


def test_the_same_tar_that_is_there_already_keeps_its_file_and_what_is_known_of_it(
    source: DirectoryStore, target: DirectoryStore
) -> None:
    there = compressed_otherwise(BUNDLES[0])
    publish(target, [there])
    (done,) = promote(source, target, ["bert@1.0"])
    assert done[1] == "unchanged"
    assert fetch(target, "bert").data == there.data
    assert target.list("1.0/") == ["1.0/bert.tar.gz", "1.0/bert.tar.gz.sha256"]


def test_the_bundles_are_not_held_in_memory(tmp_path: Path) -> None:
    names = [f"b{number}" for number in range(10)]
    publish(DirectoryStore(tmp_path / "candidates"), [bundle(name) for name in names])
    with watch(tmp_path / "public", Bundle) as target:
        promote(DirectoryStore(tmp_path / "candidates"), target, [f"{name}@1.0" for name in names])
    assert len(target.list("1.0/")) == 20
    assert target.most <= 1


def test_another_tar_under_that_version_is_refused(source: DirectoryStore, target: DirectoryStore) -> None:
    publish(target, [bundle("bert", "1.0", "other")])
    with pytest.raises(ConflictError, match="is published with other content"):
        promote(source, target, ["bert@1.0"])
