"""The store in a directory: the contract of all stores, and what only a file system can break."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from channel.store_contract import StoreContract
from packyard.channel.stores import NotFoundError, Store
from packyard.channel.stores.directory import DirectoryStore
from packyard.digest import Digest
from packyard.errors import ConflictError, UnavailableError


class TestDirectoryStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return DirectoryStore(tmp_path / "channel")


class TestDirectoryStoreWithoutHardLinks(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
        def link(*_: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)
        return DirectoryStore(tmp_path / "channel")


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


def files(root_dir: Path) -> list[str]:
    return sorted(path.relative_to(root_dir).as_posix() for path in root_dir.rglob("*") if path.is_file())


def test_objects_and_directories_are_readable_for_all_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        DirectoryStore(tmp_path / "c").put("a/b", b"")
        DirectoryStore(tmp_path / "c").swap("i/j", b"", None)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("c", "c/a", "c/a/b", "c/i", "c/i/j")}
    assert modes == {"c": 0o755, "c/a": 0o755, "c/a/b": 0o644, "c/i": 0o755, "c/i/j": 0o644}


def test_putting_the_same_again_leaves_the_file_alone(store: DirectoryStore, tmp_path: Path) -> None:
    store.put("a", b"1")
    before = (tmp_path / "a").stat()
    store.put("a", b"1")
    assert (tmp_path / "a").stat() == before


def test_leaves_no_temporary_files(store: DirectoryStore, tmp_path: Path) -> None:
    store.put("a/b", b"1")
    store.put("a/b", b"1")
    with pytest.raises(ConflictError):
        store.put("a/b", b"2")
    store.swap("a/c", b"1", None)
    assert files(tmp_path) == [".lock", "a/b", "a/c"]


def test_never_lists_what_a_killed_writer_left(store: DirectoryStore, tmp_path: Path) -> None:
    store.put("a/b", b"1")
    (tmp_path / "a" / ".b.0123456789abcdef.tmp").touch()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "c").touch()
    assert store.list("") == ["a/b"]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["fsync", "fchmod", "link"])
def test_a_failing_disk_leaves_the_store_as_it_was(
    store: DirectoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(UnavailableError, match=os.strerror(error)):
        store.put("a", b"1")
    assert files(tmp_path) == []


def test_a_failing_swap_keeps_the_old_object(store: DirectoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.swap("head", b"old", None)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UnavailableError, match="No space left"):
        store.swap("head", b"new", Digest.of(b"old"))
    assert (store.get("head"), store.list("")) == (b"old", ["head"])


def test_a_missing_channel_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere: no such file or directory"):
        DirectoryStore(tmp_path / "nowhere").get("index/index.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_not_called_missing(store: DirectoryStore, tmp_path: Path) -> None:
    store.put("a", b"1")
    (tmp_path / "a").chmod(0)
    with pytest.raises(UnavailableError, match="Permission denied") as caught:
        store.get("a")
    assert not isinstance(caught.value, NotFoundError)


def test_a_file_in_the_place_of_a_directory_is_an_error_and_stays(store: DirectoryStore) -> None:
    store.put("a", b"1")
    with pytest.raises(UnavailableError):
        store.put("a/b", b"2")
    assert store.list("") == ["a"]


def test_a_writer_that_was_killed_does_not_hold_the_lock(store: DirectoryStore, tmp_path: Path) -> None:
    program = (
        "import sys, time, pathlib; from packyard.channel.stores.directory import DirectoryStore\n"
        "with DirectoryStore(pathlib.Path(sys.argv[1]))._lock(): print('locked', flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"locked\n"
    waiting = threading.Thread(target=store.swap, args=("head", b"1", None))
    waiting.start()
    time.sleep(0.1)
    assert store.list("") == []
    holder.send_signal(signal.SIGKILL)
    waiting.join(10)
    holder.wait()
    holder.stdout.close()
    assert store.get("head") == b"1"


def test_a_reader_sees_old_or_new_bytes_of_a_swapped_object_and_nothing_else(store: DirectoryStore) -> None:
    versions = [bytes([number]) * 50_000 for number in range(100)]
    store.swap("head", versions[0], None)
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(store.get("head"))

    reader = threading.Thread(target=read)
    reader.start()
    for old, new in itertools.pairwise(versions):
        store.swap("head", new, Digest.of(old))
    done.set()
    reader.join()
    assert seen <= set(versions)
