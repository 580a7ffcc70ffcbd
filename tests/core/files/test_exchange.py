"""Files that are exchanged by renames: one of many wins, whoever is killed or delayed, and wherever."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import faults
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, UnavailableError
from packyard.core.files import exchange as module
from packyard.core.files.exchange import exchange

Swap = Callable[[bytes, "bytes | None"], None]


@pytest.fixture
def head(tmp_path: Path) -> Path:
    return tmp_path / "head"


@pytest.fixture
def swap(head: Path) -> Swap:
    """Exchange the file from old bytes to new ones."""
    return lambda new, old: exchange(str(head), new, None if old is None else Digest.of(old), mode=0o644, patience=60)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_writer_killed_at_any_call_leaves_old_or_new_and_holds_up_nobody(
    swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch, old: bytes | None, after: bool
) -> None:
    seen = set()
    for number in itertools.count(1):
        if old is not None:
            head.write_bytes(old)
        with monkeypatch.context() as patch:
            made = faults.killed_at(number, patch, after=after)
            try:
                swap(b"killed", old)
                break
            except faults.KilledError:
                assert len(made) >= number
        left = head.read_bytes() if head.exists() else None
        assert left in (old, b"killed")
        try:
            swap(b"next", left)
        except ConflictError:  # the claim of the killed one was finished first
            assert (left, head.read_bytes()) == (old, b"killed")
            swap(b"next", b"killed")
            seen.add("claim")
        assert head.read_bytes() == b"next"
        assert not (head.parent / ".head.claim").exists()
        head.unlink()
    assert number > 10
    assert seen == {"claim"}


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["mkdir", "write", "fsync", "rename", "replace"])
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
    assert [path.name for path in head.parent.iterdir()] == ["head"]
    assert head.read_bytes() == b"old"


def test_a_writer_that_was_overtaken_after_its_claim_does_not_overwrite(
    swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sleeps after it saw the expected bytes; others finish its claim, and go on."""
    swap(b"0", None)
    replace = os.replace

    def late(source: str, target: str) -> None:
        monkeypatch.setattr(os, "replace", replace)
        with pytest.raises(ConflictError):
            swap(b"9", b"0")
        swap(b"2", b"1")
        swap(b"0", b"2")
        swap(b"3", b"0")
        replace(source, target)

    monkeypatch.setattr(os, "replace", late)
    swap(b"1", b"0")
    assert head.read_bytes() == b"3"


def test_a_claim_that_came_too_late_loses_and_says_so(swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its look at the file and its claim another writer changes the file, and another one meets the claim."""
    swap(b"0", None)
    stage = module._stage

    def late(*arguments: object) -> str:
        monkeypatch.setattr(module, "_stage", stage)
        staged: str = stage(*arguments)  # type: ignore[arg-type]
        swap(b"1", b"0")
        return staged

    monkeypatch.setattr(module, "_stage", late)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        swap(b"2", b"0")
    assert head.read_bytes() == b"1"
    assert [path.name for path in head.parent.iterdir()] == ["head"]


def test_a_rename_that_nfs_repeats_is_taken_for_done(swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def repeated(source: str, target: str) -> None:
        rename(source, target)
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(os, "rename", repeated)
    swap(b"1", None)
    assert head.read_bytes() == b"1"


def test_an_empty_claim_is_no_claim_where_renames_replace_no_folder(
    swap: Swap, head: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (head.parent / ".head.claim").mkdir()
    rename = os.rename

    def refusing(source: str, target: str) -> None:
        if Path(target).exists():
            raise FileExistsError(errno.EEXIST, "File exists")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refusing)
    swap(b"1", None)
    assert head.read_bytes() == b"1"


def test_a_claim_that_never_ends_is_not_waited_for_without_end(head: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (head.parent / ".head.claim").mkdir()
    (head.parent / ".head.claim" / f"nothing.{'0' * 16}").write_bytes(b"1")
    monkeypatch.setattr(module, "_finish", lambda *_: None)
    with pytest.raises(UnavailableError, match=r"\.head\.claim: is claimed by another writer"):
        exchange(str(head), b"2", None, mode=0o644, patience=0.1)


COUNTER = """
import os, sys
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError
from packyard.core.files.exchange import exchange
head, log = sys.argv[1:]
with open(log, "ab", buffering=0) as log:
    while True:
        with open(head, "rb") as file:
            found = file.read()
        number = int(found.split()[0]) + 1
        try:
            exchange(head, b"%d %d" % (number, os.getpid()), Digest.of(found), mode=0o644, patience=30)
        except ConflictError:
            continue
        log.write(b"%d\\n" % number)
"""


@pytest.mark.nightly
def test_counters_that_are_killed_at_any_moment_lose_no_count_and_count_none_twice(tmp_path: Path) -> None:
    head, log = tmp_path / "head", tmp_path / "log"
    head.write_bytes(b"0")

    def counter(number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", COUNTER, head, f"{log}{number}"])

    running = [counter(number) for number in range(3)]
    while int(head.read_bytes().split()[0]) < 5:
        time.sleep(0.01)
    for number in range(3, 3 + faults.KILLS):
        time.sleep(0.03)
        killed = running.pop(0)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        running.append(counter(number))
    for each in running:
        each.kill()
        each.wait()
    won = [int(line) for file in tmp_path.glob("log*") for line in file.read_bytes().splitlines()]
    last = int(head.read_bytes().split()[0])
    assert len(won) == len(set(won))
    assert last >= max(won)
    # A killed one may have won without having written it down.
    assert last - len(won) <= faults.KILLS + len(running)
