"""Downloads: what arrives is what was asked for, however often the server breaks off, or it is an error in time."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, UnavailableError
from packyard.sharing.fetching.cache import Cache
from packyard.sharing.fetching.download import Wanted, download
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError
from sharing.servers import Script, answer, answering, for_ever
from tiny import environment

DATA = bytes(range(256)) * 4000
WANTED = Wanted(digest=Digest.of(DATA), size=len(DATA), what="bert@1.0")
UNSIZED = Wanted(digest=Digest.of(DATA), what="bert@1.0")


@pytest.fixture(autouse=True)
def _local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def start_of(request: bytes) -> int:
    found = re.search(rb"(?i)range: bytes=([0-9]+)-", request)
    return int(found[1]) if found else 0


def breaking_off(after: int, *, ranges: bool = True, announces: bool = True) -> Script:
    """Send at most so many bytes of the object, and close the connection."""

    def script(request: bytes) -> Iterable[bytes]:
        start = start_of(request) if ranges else 0
        rest = DATA[start:]
        status = b"206 Partial Content" if start else b"200 OK"
        headers = [b"HTTP/1.1 " + status, b"Connection: close"]
        if announces:
            headers.append(b"Content-Length: %d" % len(rest))
        if start:
            headers.append(b"Content-Range: bytes %d-%d/%d" % (start, len(DATA) - 1, len(DATA)))
        return [b"\r\n".join(headers) + b"\r\n\r\n" + rest[: after if ranges else after * (1 + start_of(request))]]

    return script


def downloaded(
    address: str,
    wanted: Wanted = WANTED,
    *,
    cache: Cache | None = None,
    patience: float = 20.0,
    request_patience: float | None = None,
) -> bytes:
    store = HTTPStore(address, patience=patience if request_patience is None else request_patience)

    def read(offset: int) -> Iterator[bytes]:
        return store.read("1.0/bert.tar.gz", offset=offset)

    with download(read, wanted, cache=cache, patience=patience) as file:
        return file.read()


def test_a_transfer_that_breaks_off_goes_on_from_where_it_was() -> None:
    with answering(breaking_off(300_000)) as server:
        assert downloaded(server.address) == DATA
        assert [start_of(request) for request in server.requests] == [0, 300_000, 600_000, 900_000]
        assert server.sent < len(DATA) + 10_000


def test_a_server_that_knows_no_ranges_sends_all_again() -> None:
    count = iter(range(10))

    def script(_: bytes) -> Iterable[bytes]:
        whole = answer(DATA)
        return [whole[: 300_000 if next(count) == 0 else None]]

    with answering(script) as server:
        assert downloaded(server.address) == DATA
        assert len(server.requests) == 2


def test_a_server_that_never_gets_further_is_an_error() -> None:
    with answering(breaking_off(0)) as server:
        with pytest.raises(UnavailableError, match=r"0 of 1024000 bytes arrived|closed the connection early"):
            downloaded(server.address)
        assert len(server.requests) < 10


@pytest.mark.nightly
def test_all_transfers_have_one_deadline() -> None:
    with answering(breaking_off(1)) as server:
        before = time.monotonic()
        says = r"bert@1\.0: the transfer took too long: \d+ of 1024000 bytes arrived \(set"
        with pytest.raises(UnavailableError, match=says):
            downloaded(server.address, patience=1.0)
        assert time.monotonic() - before < 15


@pytest.mark.parametrize("slow", [True, False])
def test_no_more_is_read_than_is_listed(slow: bool, tmp_path: Path) -> None:
    endless = for_ever(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000, slow=slow)
    with answering(endless) as server:
        with pytest.raises(IntegrityError, match=r"bert@1\.0: expected 1024000 bytes, found more"):
            downloaded(server.address, cache=Cache(tmp_path))
        assert server.sent < 10 * len(DATA)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize("data", [b"", DATA[:-1], b"x" + DATA[1:]], ids=len)
def test_other_bytes_are_refused_with_what_was_expected_and_found(data: bytes, tmp_path: Path) -> None:
    says = r"^bert@1\.0: expected .*, found "
    with answering(lambda _: [answer(data)]) as server, pytest.raises(IntegrityError, match=says):
        downloaded(server.address, cache=Cache(tmp_path))
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_what_is_not_there_is_said_at_once() -> None:
    with answering(lambda _: [answer(b"", status=b"404 Not Found")]) as server:
        with pytest.raises(NotFoundError):
            downloaded(server.address)
        assert len(server.requests) == 1


def test_an_index_that_lists_more_than_a_bundle_may_have_is_refused() -> None:
    huge = Wanted(digest=WANTED.digest, size=10**12, what="bert@1.0")
    with pytest.raises(IntegrityError, match=r"bert@1\.0: it is listed with 1000000000000 bytes; a bundle has at most"):
        downloaded("http://127.0.0.1:1", huge)


def pieces() -> Iterator[bytes]:
    yield answer(DATA)


#: Downloads what is too large for the files that it may write.
SMALL = """
import resource, sys
from pathlib import Path
from sharing.test_download import WANTED, downloaded
from packyard.sharing.fetching.cache import Cache
from packyard.core.errors import UnavailableError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    downloaded(sys.argv[1], cache=Cache(Path(sys.argv[2])) if len(sys.argv) > 2 else None)
except UnavailableError as error:
    print(error)
"""


def test_that_there_is_no_folder_for_temporary_files_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    with (
        answering(lambda _: pieces()) as server,
        pytest.raises(UnavailableError, match=r"temporary files: No such .*TMPDIR"),
    ):
        downloaded(server.address)


@pytest.mark.parametrize("cached", [True, False])
def test_a_full_disk_is_said(cached: bool, tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    with answering(lambda _: pieces()) as server:
        command = [sys.executable, "-c", SMALL, server.address, *([str(tmp_path)] if cached else [])]
        env = environment(NO_PROXY="127.0.0.1")
        env["PYTHONPATH"] += f":{Path(__file__).parents[1]}"
        said = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    assert said.endswith("to one with more room)\n" if cached else "or set TMPDIR to another folder)\n"), said
    assert "File too large" in said
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]
