import os
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.work.cache import Cache

ONE, TWO = Digest.of(b"one"), Digest.of(b"two")


def test_does_not_find_an_entry_of_which_a_byte_is_another_or_that_is_no_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    cache.put(ONE, b"one")
    assert cache.get(ONE) == b"one"
    cache._file(ONE).write_bytes(b"onE")
    cache._file(TWO).parent.mkdir(parents=True)
    os.mkfifo(cache._file(TWO))
    assert (cache.get(ONE), cache.get(TWO)) == (None, None)
    cache.put(TWO, b"two")
    assert cache.get(TWO) == b"two"


def test_says_why_it_cannot_keep_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = Cache(tmp_path / "file", limit=1000)
    with pytest.raises(UnavailableError, match="results cannot be cached: Not a directory"):
        cache.put(ONE, b"one")
    assert cache.get(ONE) is None


def test_prunes_the_least_recently_used_down_to_the_limit_and_what_killed_writers_left(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=600)
    data = {Digest.of(each): each for each in (bytes([number]) * 100 for number in range(10))}
    keys = list(data)
    for age, key in enumerate(keys):
        cache.put(key, data[key])
        os.utime(cache._file(key), (1000 - age, 1000 - age))
    left, theirs = cache._file(ONE).with_name(".left.tmp"), tmp_path / "ab" / "notes"
    for file in (left, theirs):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x")
        os.utime(file, (0, 0))
    cache.get(keys[9])  # used now
    cache.prune()
    assert [key for key in keys if cache.get(key) is not None] == [*keys[:5], keys[9]]
    assert (left.exists(), theirs.exists()) == (False, True)
