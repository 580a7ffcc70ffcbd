"""Files that are exchanged under a lock: one of many wins, whoever is killed, and wherever."""

import errno
import fcntl
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import faults
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, UnavailableError
from packyard.core.files.exchange import exchange

Swap = Callable[[bytes, "bytes | None"], None]


@pytest.fixture
def head(tmp_path: Path) -> Path:
    return tmp_path / "head"


@pytest.fixture
def swap(head: Path) -> Swap:
    """Exchange the file from old bytes to new ones."""
    return lambda new, old: exchange(str(head), new, None if old is None else Digest.of(old), mode=0o644, patience=60)


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_writer_killed_at_any_call_leaves_old_or_new_and_holds_up_nobody(
    swap: Swap, head: Path, old: bytes | None
) -> None:
    for number in itertools.count(1):
        if old is not None:
            head.write_bytes(old)
        killed = faults.forked(lambda: swap(b"killed", old), faults.Faulty(number, None, names=faults.CHANGING))
        if killed.code == 0:
            break
        left = head.read_bytes() if head.exists() else None
        assert left in (old, b"killed")
        swap(b"next", left)
        assert head.read_bytes() == b"next"
        head.unlink()
    assert number > 5


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_an_exchange_that_fails_leaves_nothing_behind(
    swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: int
) -> None:
    swap(b"old", None)
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise OSError(error, os.strerror(error))

        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match=os.strerror(error)):
            swap(b"new", b"old")
    assert {path.name for path in head.parent.iterdir()} == {".packyard.lock", "head"}
    assert head.read_bytes() == b"old"


def test_another_writer_s_change_is_not_overwritten_and_not_waited_for_without_end(swap: Swap, head: Path) -> None:
    swap(b"1", None)
    with pytest.raises(ConflictError, match=r"changed meanwhile: expected sha256:.*, found sha256:"):
        swap(b"2", b"0")
    assert head.read_bytes() == b"1"
    with (head.parent / ".packyard.lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UnavailableError, match=r"\.packyard\.lock: is locked by another writer"):
            exchange(str(head), b"2", Digest.of(b"1"), mode=0o644, patience=0)


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.ENOSYS, errno.EBADF])
def test_a_file_system_without_locks_is_refused_with_what_to_do(
    swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UnavailableError, match=r"cannot be locked .* \(mount its file system with locks"):
        swap(b"1", None)
    assert not head.exists()
