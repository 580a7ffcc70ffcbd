"""Fetching: from a name to verified bytes, or an error that says what is wrong."""

from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle, fetch, list_otherwise, publish


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    channel = DirectoryStore(tmp_path / "channel")
    publish(channel, [bundle("bert", version) for version in ("1.9", "1.10", "2.0-rc1")])
    return channel


def test_what_is_not_listed_is_not_published(store: DirectoryStore) -> None:
    store.put("3.0/bert.tar.gz", bundle("bert", "3.0").data)
    with pytest.raises(InputError, match=r"no version '3\.0'"):
        fetch(store, "bert@3.0")


def test_names_expected_and_found_digest(store: DirectoryStore, tmp_path: Path) -> None:
    data = bytearray(bundle("bert", "1.9").data)
    data[50] ^= 1
    (tmp_path / "channel" / "1.9" / "bert.tar.gz").write_bytes(data)
    expected, found = Digest.of(bundle("bert", "1.9").data), Digest.of(bytes(data))
    with pytest.raises(IntegrityError, match=rf"bert@1\.9: expected {expected}, found {found}"):
        fetch(store, "bert@1.9")


def test_what_is_in_the_archive_has_to_be_what_the_index_says(store: DirectoryStore, tmp_path: Path) -> None:
    list_otherwise(tmp_path / "channel", "bert", "1.9", tar=Digest.of(b"another"))
    with pytest.raises(IntegrityError, match=rf"^bert@1\.9: expected .* {Digest.of(b'another')}, found .* sha256:"):
        fetch(store, "bert@1.9")


@pytest.mark.parametrize(
    ("size", "says"), [(10, "expected 10 bytes, found more"), (10**12, "it is listed with 1000000000000 bytes")]
)
def test_no_more_is_read_than_the_index_says(store: DirectoryStore, tmp_path: Path, size: int, says: str) -> None:
    list_otherwise(tmp_path / "channel", "bert", "1.9", size=size)
    with pytest.raises(IntegrityError, match=rf"^bert@1\.9: {says}"):
        fetch(store, "bert@1.9")


def test_refuses_another_bundle_than_the_one_that_is_listed(store: DirectoryStore, tmp_path: Path) -> None:
    other = bundle("bert", "4.0")
    list_otherwise(tmp_path / "channel", "bert", "1.9", digest=other.digest, size=len(other.data))
    (tmp_path / "channel/1.9/bert.tar.gz").write_bytes(other.data)
    with pytest.raises(IntegrityError, match=r"bert@1\.9: expected bert@1\.9 .*, found bert@4\.0"):
        fetch(store, "bert@1.9")
