"""Results that are kept, read as what anybody may have written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.work.cache import Cache
from packyard.core.work.kept import Kept
from packyard.core.yaml.sources import Observed

KEY = ("key",)
ODD = (
    *(b"x", b"5", b"null", b"[]", b"[[]]", b"[[1]]", b"{}", b'[{"a": 1}]', b"[[[], 5]]", b'[[[], "no digest"]]'),
    *(b'[[[[1]], "a"]]', b'[[[["bytes", 5, 5]], 7]]', b"[" * 100_000, b"\xff", b'[[[["who", "a", "b"]], "a"]]'),
)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    (tmp_path / "root").mkdir()
    return Kept(cache=Cache(tmp_path / "cache"), code=None, agrees=Observed(tmp_path / "root").agrees)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_entry_of_another_form_is_not_found_and_its_result_kept_anew(odd: bytes, kept: Kept) -> None:
    assert kept.cache
    kept.cache.put(kept.key(KEY), odd)
    assert kept.find(KEY, bytes) is None
    kept.keep(KEY, [], lambda: b"result")
    found = kept.find(KEY, bytes)
    assert found
    assert found.result == b"result"


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_result_that_its_reader_cannot_read_is_not_found(odd: bytes, kept: Kept) -> None:
    kept.keep(KEY, [], lambda: odd)
    assert kept.find(KEY, lambda data: [text.upper() for text, _ in json.loads(data)["texts"].items()]) is None


def test_a_result_of_other_code_is_not_found(kept: Kept) -> None:
    kept.keep(KEY, [], lambda: b"result")
    assert kept.find(KEY, bytes)
    assert Kept(cache=kept.cache, code=Digest.of(b"other"), agrees=kept.agrees).find(KEY, bytes) is None
