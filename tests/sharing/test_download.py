"""Downloads: what arrives is what was asked for, though the server breaks off, or it is an error in time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.download import download
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError
from sharing.servers import answer, answering, for_ever

DATA = bytes(range(256)) * 4000
ENTRY = IndexEntry(name="bert", version="1.0", tar=Digest.of(b""), digest=Digest.of(DATA), size=len(DATA))


@pytest.fixture(autouse=True)
def _local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def downloaded(address: str, entry: IndexEntry = ENTRY, *, patience: float = 20.0) -> bytes:
    return download(HTTPStore(address, patience=patience), entry, patience=patience)


def test_a_transfer_that_breaks_off_begins_anew() -> None:
    answers = iter([answer(DATA)[:300_000], answer(DATA)])
    with answering(lambda _: [next(answers)]) as server:
        assert downloaded(server.address) == DATA


def test_a_server_that_always_breaks_off_is_an_error_soon() -> None:
    with answering(lambda _: [answer(DATA)[:300_000]]) as server:
        with pytest.raises(UnavailableError, match="closed the connection early"):
            downloaded(server.address)
        assert len(server.requests) == 3


def test_what_takes_too_long_is_not_begun_anew() -> None:
    with answering(for_ever(b"HTTP/1.1 200 OK\r\n\r\n", b"x", slow=True)) as server:
        with pytest.raises(UnavailableError, match="did not answer in time"):
            downloaded(server.address, patience=0.3)
        assert len(server.requests) == 1


def test_no_more_is_read_than_is_listed() -> None:
    with answering(for_ever(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000, slow=False)) as server:
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
