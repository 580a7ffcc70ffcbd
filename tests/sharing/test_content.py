"""What hosts are told of objects."""

from __future__ import annotations

import pytest

from packyard.sharing.stores.bucket import cache_control, content_type


@pytest.mark.parametrize(
    ("key", "kind", "is_immutable"),
    [
        ("index/index.json", "application/json", False),
        (f"index/p/bert/{'0' * 64}.json", "application/json", True),
        ("v1.0/bert.tar.gz", "application/octet-stream", True),
        ("1.0/bert.tar.gz.sha256", "text/plain; charset=utf-8", True),
        ("web/page.js", "text/javascript; charset=utf-8", False),
        ("web/p/bert.html", "text/html; charset=utf-8", False),
    ],
)
def test_says_of_each_object_what_it_is_and_how_long_it_stays(key: str, kind: str, is_immutable: bool) -> None:
    assert (content_type(key), "immutable" in cache_control(key)) == (kind, is_immutable)
