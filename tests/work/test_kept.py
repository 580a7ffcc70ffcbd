"""Results that are kept, read as what anybody may have written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.digest import Digest
from packyard.work.cache import Cache
from packyard.work.kept import Kept
from packyard.work.reads import Observed

KEY = Digest.of(b"key")
ODD = (
    *(b"x", b"5", b"null", b"[]", b"[[]]", b"[[1]]", b"{}", b'[{"a": 1}]', b"[[[], 5]]", b'[[[], "no digest"]]'),
    *(b'[[[[1]], "a"]]', b'[[[["bytes", 5, 5]], 7]]', b"[" * 100_000, b"\xff", b'[[[["who", "a", "b"]], "a"]]'),
)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    (tmp_path / "root").mkdir()
    return Kept(Cache(tmp_path / "cache"), Observed(tmp_path / "root"))


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_entry_of_another_form_is_not_found_and_its_result_kept_anew(odd: bytes, kept: Kept) -> None:
    kept.cache.put(KEY, odd)
    assert kept.find(KEY, bytes) is None
    kept.keep(KEY, [], b"result")
    found = kept.find(KEY, bytes)
    assert found
    assert found.result == b"result"


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_result_that_its_reader_cannot_read_is_not_found(odd: bytes, kept: Kept) -> None:
    kept.keep(KEY, [], odd)
    assert kept.find(KEY, lambda data: [text.upper() for text, _ in json.loads(data)["texts"].items()]) is None
