"""The cache of bundles: whatever is in it, what comes out is verified, and it stays within its bound."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, UnavailableError
from packyard.sharing.fetching.cache import Cache

DATA = b"a bundle" * 1000
DIGEST = Digest.of(DATA)


def filling(data: bytes) -> Callable[[BinaryIO], object]:
    return lambda file: file.write(data)


def clear(folder: Path) -> None:
    for file in folder.glob("*/*"):
        file.unlink(missing_ok=True)


def never(_: BinaryIO) -> None:
    raise AssertionError("it is cached")


def obtained(cache: Cache, data: bytes = DATA, fill: Callable[[BinaryIO], object] | None = None) -> bytes:
    with cache.obtain(Digest.of(data), fill or filling(data)) as file:
        return file.read()


def files(cache: Cache) -> list[Path]:
    return sorted(file for file in cache.folder.rglob("*") if file.is_file())


def test_what_was_obtained_once_is_not_fetched_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    assert obtained(cache) == DATA
    assert obtained(cache, fill=never) == DATA
    assert files(cache) == [tmp_path / "cache" / DIGEST.hex[:2] / DIGEST.hex[2:]]
    assert (tmp_path / "cache" / DIGEST.hex[:2]).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", DATA[:-1], DATA + b"x", b"x" + DATA[1:]], ids=len)
def test_what_is_damaged_is_fetched_again(damage: bytes, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    obtained(cache)
    (file,) = files(cache)
    file.write_bytes(damage)
    assert obtained(cache) == DATA
    assert obtained(cache, fill=never) == DATA


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.symlink_to("/dev/zero"), os.mkfifo])
def test_what_is_no_file_is_not_read(make: Callable[[Path], object], tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    place = tmp_path / DIGEST.hex[:2] / DIGEST.hex[2:]
    place.parent.mkdir()
    make(place)
    if place.is_dir():
        with pytest.raises(UnavailableError):
            obtained(cache)
    else:
        assert obtained(cache) == DATA


@pytest.mark.parametrize("error", [UnavailableError("broken off"), KeyboardInterrupt(), IntegrityError("hostile")])
def test_nothing_is_left_of_a_transfer_that_is_interrupted_or_refused(error: BaseException, tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fill(file: BinaryIO) -> None:
        file.write(DATA[:100])
        raise error

    with pytest.raises(type(error)):
        obtained(cache, fill=fill)
    assert files(cache) == []


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=25)
    for age, data in ((30, b"1" * 10), (20, b"2" * 10)):
        obtained(cache, data)
        hex_digits = Digest.of(data).hex
        os.utime(tmp_path / hex_digits[:2] / hex_digits[2:], (time.time() - age,) * 2)
    obtained(cache, b"1" * 10, never)
    obtained(cache, b"3" * 10)
    assert sorted(file.read_bytes()[:1] for file in files(cache)) == [b"1", b"3"]


def test_what_a_killed_transfer_left_goes_after_a_day(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    obtained(cache)
    (file,) = files(cache)
    left = file.with_name(f".{file.name}.{'0' * 16}.tmp")
    left.write_bytes(b"x")
    cache.prune()
    assert left.exists()
    os.utime(left, (0, 0))
    cache.prune()
    assert files(cache) == [file]


def _obtain_many(folder: Path, number: int) -> None:
    cache = Cache(folder, limit=5 * len(DATA))
    for turn in range(60):
        data = DATA + str((number + turn) % 8).encode()
        with cache.obtain(Digest.of(data), filling(data)) as file:
            assert file.read() == data
        if turn % 20 == 19:
            clear(folder)


def test_many_processes_at_once_get_what_they_want(tmp_path: Path) -> None:
    processes = [
        multiprocessing.get_context("fork").Process(target=_obtain_many, args=(tmp_path, number)) for number in range(6)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    cache = Cache(tmp_path, limit=5 * len(DATA))
    cache.prune()
    assert sum(file.stat().st_size for file in files(cache)) <= cache.limit
