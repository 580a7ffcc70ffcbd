"""Uploading in parts and joining them: whatever store operation fails, another run ends with the bytes of one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import sample
from packyard.core.errors import ConflictError, UnavailableError
from packyard.sharing.index import access, pending
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.head import POINTER
from packyard.sharing.publishing.join import join, missing
from packyard.sharing.publishing.publish import preview, publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from sharing.examples import FailingStore, bundle

NAMES = ("a", "b", "c")
ID = "0" * 32
PARTS = [[bundle(name)] for name in NAMES]


def content(store: Store) -> dict[str, bytes]:
    return {key: store.get(key) for key in store.list("")}


def _but_pointer(store: Store) -> dict[str, bytes]:
    """Return the content without the pointer to the latest head, from an earlier of which readers find their way."""
    return {key: data for key, data in content(store).items() if key != POINTER}


def in_parts(store: Store) -> None:
    for part in PARTS:
        publish(store, part, is_listed=False, by=Publisher(new_id=lambda: ID))
    assert missing(store, NAMES, "1.0") == []
    join(store)


@pytest.mark.nightly
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_failure_at_any_operation_shows_nothing_or_all_and_another_run_ends_as_one(
    done: bool, tmp_path: Path
) -> None:
    one = DirectoryStore(tmp_path / "one")
    publish(one, [bundle(name) for name in NAMES], by=Publisher(new_id=lambda: ID))
    for number in sample.places(3, of=f"join {done}"):
        store = DirectoryStore(tmp_path / str(number))
        try:
            in_parts(FailingStore(store, fail_at=number, done=done))
        except UnavailableError:
            listed = {entry.name for entry in access.current(store).entries}
            assert listed in (set(), set(NAMES)), number
            in_parts(store)
            assert access.read(store).head == access.read(one).head, number
            assert _but_pointer(store) == _but_pointer(one), number
        else:
            break
    assert number > 40


def test_what_is_missing_is_neither_listed_nor_pending_and_complete(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    assert missing(store, NAMES, "1.0") == list(NAMES)
    publish(store, PARTS[0])
    publish(store, PARTS[1], is_listed=False)
    publish(store, PARTS[2], is_listed=False)
    (tmp_path / "1.0/c.tar.gz.sha256").unlink()
    assert missing(store, NAMES, "1.0") == ["c"]
    assert missing(store, NAMES, "2.0") == list(NAMES)
    assert [entry.name for entry in join(store)] == ["b"]
    assert len(store.list(pending.FOLDER)) == 1
    assert join(store) == []


def test_a_joined_part_that_is_run_again_changes_nothing(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    in_parts(store)
    before = content(store)
    assert [publish(store, part, is_listed=False)[0][1] for part in PARTS] == ["unchanged"] * 3
    assert join(store) == []
    assert content(store) == before


def test_the_next_publisher_lists_what_is_pending(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    assert publish(store, PARTS[0], is_listed=False)[0][1] == "uploaded"
    publish(store, PARTS[1])
    assert [entry.name for entry in access.read(store).entries] == ["a", "b"]


def test_two_bundles_of_one_name_and_version_are_refused_together(tmp_path: Path) -> None:
    both = [bundle("a"), bundle("a", text="other")]
    refusals: list[Callable[[], object]] = [
        lambda: publish(DirectoryStore(tmp_path), both),
        lambda: publish(DirectoryStore(tmp_path), both, is_listed=False),
    ]
    for refusal in refusals:
        with pytest.raises(ConflictError, match=r"a@1\.0"):
            refusal()
    assert DirectoryStore(tmp_path).list("") == []


def test_a_preview_of_a_damaged_file_is_a_conflict(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    publish(store, PARTS[0])
    (tmp_path / "1.0/a.tar.gz").write_bytes(b"damaged")
    ((_, outlook, (problem,)),) = preview(store, PARTS[0])
    assert outlook == "conflict"
    assert "damaged" in problem.message
