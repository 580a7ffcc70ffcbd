"""Downloads: what arrives is what was asked for, however often the server breaks off, or it is an error in time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import replace

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.download import download
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError
from sharing.servers import Script, answer, answering, for_ever

DATA = bytes(range(256)) * 4000
ENTRY = IndexEntry(name="bert", version="1.0", tar=Digest.of(b""), digest=Digest.of(DATA), size=len(DATA))


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


def downloaded(address: str, entry: IndexEntry = ENTRY, *, patience: float = 20.0) -> bytes:
    return download(HTTPStore(address, patience=patience), entry, patience=patience)


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
def test_no_more_is_read_than_is_listed(slow: bool) -> None:
    endless = for_ever(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000, slow=slow)
    with answering(endless) as server:
        with pytest.raises(IntegrityError, match=r"bert@1\.0: expected 1024000 bytes, found more"):
            downloaded(server.address)
        assert server.sent < 10 * len(DATA)


@pytest.mark.parametrize("data", [b"", DATA[:-1], b"x" + DATA[1:]], ids=len)
def test_other_bytes_are_refused_with_what_was_expected_and_found(data: bytes) -> None:
    says = r"^bert@1\.0: expected .*, found "
    with answering(lambda _: [answer(data)]) as server, pytest.raises(IntegrityError, match=says):
        downloaded(server.address)


def test_what_is_not_there_is_said_at_once() -> None:
    with answering(lambda _: [answer(b"", status=b"404 Not Found")]) as server:
        with pytest.raises(NotFoundError):
            downloaded(server.address)
        assert len(server.requests) == 1


def test_an_index_that_lists_more_than_a_bundle_may_have_is_refused() -> None:
    huge = replace(ENTRY, size=10**12)
    with pytest.raises(IntegrityError, match=r"bert@1\.0: it is listed with 1000000000000 bytes; a bundle has at most"):
        downloaded("http://127.0.0.1:1", huge)
