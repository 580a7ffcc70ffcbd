"""The store over HTTP, read from nginx: a whole channel as a directory store wrote it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from packyard.core.errors import UnavailableError
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import NotFoundError, Store
from sharing import buckets

DATA = random.Random(1).randbytes(3 << 20)


@pytest.fixture(scope="module")
def address(nginx: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("nginx")
    written = DirectoryStore(folder / "web" / "zoo")
    written.put("v1.0+x/a_b-c.tar.gz", DATA)
    written.put("v1.0+x/a_b-c.tar.gz.sha256", b"")
    written.swap("index/index.json", b"{}", None)
    (folder / "web" / "zoo" / "private").mkdir(mode=0o700)
    limited = (
        "location /zoo/private/ { deny all; } location /busy/ { return 503; } location /moved/ { return 302 /zoo/; }"
    )
    with buckets.nginx(nginx, folder, folder / "web", more=limited) as url:
        yield url


@pytest.fixture
def store(address: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return open_store(f"{address}/zoo")


def test_gets_what_a_directory_store_wrote_and_says_what_is_not_there_is_denied_or_busy(
    store: Store, address: str
) -> None:
    assert store.get("v1.0+x/a_b-c.tar.gz") == DATA
    assert store.get("v1.0+x/a_b-c.tar.gz.sha256") == b""
    assert store.get("index/index.json") == b"{}"
    for key in ("missing", "v1.0+x/missing", "index/index.json/x"):
        with pytest.raises(NotFoundError):
            store.get(key)
    with pytest.raises(UnavailableError, match="access denied") as caught:
        store.get("private/a")
    assert not isinstance(caught.value, NotFoundError)
    with pytest.raises(UnavailableError, match="the server answers HTTP 503"):
        open_store(f"{address}/busy").get("a")
