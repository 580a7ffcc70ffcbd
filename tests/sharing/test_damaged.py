"""A channel whose files are damaged in any way: what its readers, and `fsck` and `fsck --repair`, do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, IntegrityError, PackyardError, Problem
from packyard.sharing.entry import CHECKSUM, PROVENANCE, SBOM, IndexEntry
from packyard.sharing.index import access, head, nodes, pending
from packyard.sharing.publishing import close, fsck
from packyard.sharing.publishing.prune import prune
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.reindex import reindex
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import sbom
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import bundle, fetch

MADE = bundle("bert", "1.0")
ENTRY = IndexEntry.of(MADE)


def attest(entry: IndexEntry) -> dict[str, bytes]:
    described = sbom.to_bytes(MADE)
    proved = Provenance.of(entry, {}, None, sbom=described)
    return {entry.beside(SBOM): described, entry.beside(PROVENANCE): proved.to_bytes([])}


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def link(file: Path, target: str) -> None:
    file.unlink()
    file.symlink_to(target)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:40]),
    "a page of an error": lambda file: file.write_bytes(b"<html>404</html>"),
    "other JSON": lambda file: file.write_bytes(b'{"a": 1}\n'),
    "a list": lambda file: file.write_bytes(b"[]\n"),
    "a named pipe": pipe,
    "a link out": lambda file: link(file, "/etc/passwd"),
    "a link to nothing": lambda file: link(file, "nowhere"),
}


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    channel = DirectoryStore(tmp_path / "channel")
    publish(channel, [MADE], attest=attest)
    close.close(channel, "1.0")
    return channel


def latest(store: DirectoryStore) -> str:
    return head.key(access.read(store).head.number)


def record(store: DirectoryStore) -> str:
    (value,) = access.read(store).head.packages.values
    return next(key for key in store.list(nodes.FOLDER) if str(nodes.digest(key)) == value)


def files(store: DirectoryStore) -> dict[str, str]:
    return {
        "pointer": head.POINTER,
        "latest head": latest(store),
        "old head": head.key(1),
        "record": record(store),
        "bundle": ENTRY.key,
        "checksum": ENTRY.beside(CHECKSUM),
        "provenance": ENTRY.beside(PROVENANCE),
        "SBOM": ENTRY.beside(SBOM),
        "closed": close.key("1.0"),
    }


def refused(store: DirectoryStore) -> tuple[Problem, ...]:
    """Return why a reader gets nothing, or nothing where the reader gets the bundle."""
    try:
        got = fetch(store, "bert")
    except PackyardError as error:
        return error.problems
    assert got == MADE
    return ()


FILES = ("pointer", "latest head", "old head", "record", "bundle", "checksum", "provenance", "SBOM", "closed")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_told_with_what_to_do(file: str, damage: str, store: DirectoryStore) -> None:
    key = files(store)[file]
    DAMAGE[damage](store.root_dir / key)
    found = list(fsck.check(store))
    assert {each.key for each in found} == {key}
    assert all(each.hint for each in found)
    for problem in refused(store):
        assert "packyard fsck" in problem.hint or "whoever publishes there removes this" in problem.hint
        assert problem.file


@pytest.mark.parametrize("damage", [each for each in DAMAGE if not each.startswith("a link")])
def test_a_damaged_record_is_replaced_by_repair(damage: str, store: DirectoryStore) -> None:
    DAMAGE[damage](store.root_dir / record(store))
    reindex(store)
    assert list(fsck.check(store)) == []
    assert fetch(store, "bert") == MADE


@pytest.mark.parametrize("file", ["pointer", "next head", "record", "bundle", "provenance"])
@pytest.mark.parametrize("damage", ["a named pipe", "a link out"])
def test_what_is_no_file_is_removed_first(damage: str, file: str, store: DirectoryStore) -> None:
    following = head.key(access.read(store).head.number + 1)
    key = {**files(store), "next head": following}[file]
    (store.root_dir / key).touch()
    DAMAGE[damage](store.root_dir / key)
    (fault,) = fsck.check(store)
    assert (fault.kind, fault.key) == ("altered", key)
    assert fault.hint.startswith("remove it; then ")
    (store.root_dir / key).unlink()
    if file not in ("bundle", "provenance"):
        reindex(store)
        assert list(fsck.check(store)) == []
        assert fetch(store, "bert") == MADE


def test_the_latest_head_is_brought_back_from_its_copy(store: DirectoryStore) -> None:
    key = latest(store)
    file = store.root_dir / key
    for damage in (lambda: file.write_bytes(b"x"), file.unlink):
        damage()
        (fault,) = fsck.check(store)
        assert (fault.key, fault.hint) == (key, f"copy {head.POINTER} there, which is the same head")
        shutil.copy(store.root_dir / head.POINTER, file)
        assert list(fsck.check(store)) == []


def test_a_folder_in_the_place_of_the_pointer_is_said_by_who_writes(store: DirectoryStore) -> None:
    (store.root_dir / head.POINTER).unlink()
    (store.root_dir / head.POINTER).mkdir()
    assert fetch(store, "bert") == MADE
    with pytest.raises(PackyardError, match=r"head\.json: is not a regular file \(.* removes this\)"):
        reindex(store)


@pytest.mark.parametrize("key", ["index/yanked/1.0/bert.json", "index/closed/1.1.json", "index/removed/1.0/bert.json"])
def test_a_damaged_record_of_what_the_index_does_not_say_is_removed(key: str, store: DirectoryStore) -> None:
    publish(store, [bundle("bert", "1.1")])
    store.put(key, b"x")
    (fault,) = fsck.check(store)
    assert (fault.kind, fault.key) == ("altered", key)
    assert fault.hint.startswith("remove it")
    assert "packyard" not in fault.hint
    store.remove(key)
    assert list(fsck.check(store)) == []


def test_a_damaged_record_of_what_the_index_says_is_made_again_as_fsck_says(store: DirectoryStore) -> None:
    yank(store, "bert@1.0", "diverges")
    yanked, closed = "index/yanked/1.0/bert.json", close.key("1.0")
    for key in (yanked, closed):
        (store.root_dir / key).write_bytes(b"x")
    with pytest.raises(IntegrityError, match=r"cannot be read as JSON: .*: packyard fsck /"):
        reindex(store)
    assert {each.key: each.hint for each in fsck.check(store)} == {
        yanked: "remove it, and yank again for the same reason: packyard yank bert@1.0 --reason TEXT --in CHANNEL",
        closed: "remove it, and make it again: packyard fsck CHANNEL --repair",
    }
    for key in (yanked, closed):
        store.remove(key)
    yank(store, "bert@1.0", "diverges")
    reindex(store)
    assert list(fsck.check(store)) == []


def test_what_is_pending_and_never_listed_is_removed_as_fsck_says(store: DirectoryStore) -> None:
    (sound,) = pending.put(store, [IndexEntry.of(bundle("bert", "9.0"))], [], access.read(store).head.channel)
    (other,) = pending.put(store, [ENTRY], [], "0" * 32)
    damaged = f"{pending.FOLDER}{'0' * 64}.json"
    store.put(damaged, b"x")
    found = {each.key: each for each in fsck.check(store)}
    assert found.keys() == {sound.key, other.key, damaged}
    assert "the next publish completes it" in found[sound.key].hint
    assert found[other.key].message == "was signed for another channel"
    assert found[damaged].message.startswith("has other bytes than its name says")
    for key in (other.key, damaged):
        assert found[key].hint == "remove it, and publish again what is not listed"
        store.remove(key)
    with pytest.raises(ConflictError, match=r"was interrupted: index/pending/.* or see what packyard fsck /"):
        prune(store)
