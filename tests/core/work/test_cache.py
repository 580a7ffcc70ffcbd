from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.work.cache import MAX_AGE, Cache

KEY = Digest.of(b"key")
OTHER = Digest.of(b"other")


def entries(cache: Cache) -> list[Path]:
    return [file for file in cache.folder.rglob("*") if file.is_file()]


def test_does_not_find_an_entry_of_which_a_byte_is_another(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, b"one")
    (file,) = entries(cache)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.get(KEY) is None, place


def test_an_entry_that_is_no_file_is_not_found_and_not_waited_for(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache._file(KEY).parent.mkdir(parents=True)
    os.mkfifo(cache._file(KEY))
    cache._file(OTHER).mkdir(parents=True)
    assert (cache.get(KEY), cache.get(OTHER)) == (None, None)
    cache.put(KEY, b"one")
    assert cache.get(KEY) == b"one"


def test_says_why_it_cannot_keep_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnavailableError, match="results cannot be cached: Not a directory"):
        Cache(tmp_path / "file").put(KEY, b"one")
    assert Cache(tmp_path / "file").get(KEY) is None


def test_prunes_the_least_recently_used_down_to_the_limit(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    keys = [Digest.of(bytes([number])) for number in range(10)]
    for age, key in enumerate(keys):
        cache.put(key, bytes(100))
        os.utime(cache._file(key), (1000 - age, 1000 - age))
    cache.get(keys[9])  # used now
    cache.prune(1000)
    assert [key for key in keys if cache.get(key) is not None] == [*keys[:5], keys[9]]
    assert sum(file.stat().st_size for file in entries(cache)) <= 1000


def test_prunes_what_is_old_and_what_killed_writers_left(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, b"one")
    cache.put(OTHER, b"two")
    now = time.time()
    os.utime(cache._file(KEY), (now - MAX_AGE - 1, now - MAX_AGE - 1))
    for name, age in ((".left", 3700), (".at-work", 10)):
        file = cache._file(OTHER).with_name(name)
        file.write_bytes(b"")
        os.utime(file, (now - age, now - age))
    cache.prune(now)
    assert sorted(file.name for file in entries(cache)) == sorted([".at-work", OTHER.hex[2:]])
