"""The store that a web server serves, with a real server that misbehaves."""

from __future__ import annotations

import base64
import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, UnavailableError
from packyard.sharing.index import access
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each path as the test says."""

    answers: dict[str, Answer]

    def do_GET(self) -> None:
        self.answers.get(self.path, lambda handler: handler.send_error(404))(self)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def answers() -> dict[str, Answer]:
    return {}


@pytest.fixture
def address(answers: dict[str, Answer], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    handler = type("TestHandler", (Handler,), {"answers": answers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/models"
        server.shutdown()
        thread.join()


def test_gets_the_bytes_of_a_key(answers: dict[str, Answer], address: str) -> None:
    answers["/models/v1.0/a.tar.gz"] = lambda handler: handler.answer(b"\x1f\x8b\0")
    assert HTTPStore(address).get("v1.0/a.tar.gz") == b"\x1f\x8b\0"
    assert HTTPStore(address + "/").get("v1.0/a.tar.gz") == b"\x1f\x8b\0"


def test_quotes_what_a_server_might_read_otherwise(answers: dict[str, Answer], address: str) -> None:
    answers["/models/1.0%2Bb1/a"] = lambda handler: handler.answer(b"1")
    assert HTTPStore(address).get("1.0+b1/a") == b"1"


def test_takes_the_bytes_as_stored_where_a_server_calls_the_archive_an_encoding(
    answers: dict[str, Answer], address: str
) -> None:
    stored = gzip.compress(b"tar")
    answers["/models/a.tar.gz"] = lambda handler: handler.answer(stored, Content_Encoding="gzip")
    assert HTTPStore(address).get("a.tar.gz") == stored


def test_asks_servers_that_compress_on_the_fly_not_to(answers: dict[str, Answer], address: str) -> None:
    def answer(handler: Handler) -> None:
        wanted = "gzip" in handler.headers.get("Accept-Encoding", "")
        handler.answer(gzip.compress(b"text") if wanted else b"text")

    answers["/models/index/index.json"] = answer
    assert HTTPStore(address).get("index/index.json") == b"text"


@pytest.mark.parametrize("status", [404, 410])
def test_says_that_an_object_is_not_there(answers: dict[str, Answer], address: str, status: int) -> None:
    answers["/models/a"] = lambda handler: handler.send_error(status)
    with pytest.raises(NotFoundError, match=f"{address}/a: not found"):
        HTTPStore(address).get("a")


@pytest.mark.parametrize("body", [b"<html><title>Log in</title>", b"\n<!DOCTYPE html>\n<html>"])
def test_a_page_to_log_in_is_no_file_of_a_channel(answers: dict[str, Answer], address: str, body: bytes) -> None:
    answers["/models/index/index.json"] = lambda handler: handler.answer(body)
    with pytest.raises(UnavailableError, match=r"index/index\.json: the server sent something else .*check the"):
        access.read(HTTPStore(address))


@pytest.mark.parametrize("other", [b"", b'{"error": "not found"}', b"<!-- built -->\n<!doctype html>"])
def test_a_page_for_what_is_not_there_is_missing_where_the_server_gives_the_index(
    answers: dict[str, Answer], address: str, other: bytes
) -> None:
    answers["/models/a"] = lambda handler: handler.answer(b"<!doctype html>")
    with pytest.raises(UnavailableError, match="a: the server sent something else") as caught:
        HTTPStore(address).get("a")
    assert not isinstance(caught.value, NotFoundError)
    answers["/models/index/index.json"] = lambda handler: handler.answer(b"{}")
    answers["/models/b.json"] = lambda handler: handler.answer(other)
    with pytest.raises(NotFoundError, match=r"b\.json: not found"):
        HTTPStore(address).get("b.json")
    with pytest.raises(NotFoundError, match="a: not found: the server sent something else"):
        HTTPStore(address).get("a")


def test_damage_is_told_with_the_address_that_serves_it(answers: dict[str, Answer], address: str) -> None:
    answers["/models/index/index.json"] = lambda handler: handler.answer(b"{}")
    says = rf"index/index\.json: apiVersion: is missing \(whoever publishes what {address}/ serves sees .* fsck CHANNEL"
    with pytest.raises(IntegrityError, match=says):
        access.read(HTTPStore(address))


@pytest.mark.parametrize(("status", "message"), [(403, "access denied"), (500, "HTTP 500"), (206, "HTTP 206")])
def test_any_other_answer_is_not_taken_for_absence(
    answers: dict[str, Answer], address: str, status: int, message: str
) -> None:
    answers["/models/a"] = lambda handler: handler.answer(b"x", status)
    with pytest.raises(UnavailableError, match=message) as caught:
        HTTPStore(address).get("a")
    assert not isinstance(caught.value, NotFoundError)


def test_stops_at_the_limit_however_much_the_server_sends(answers: dict[str, Answer], address: str) -> None:
    sent = []

    def flood(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while len(sent) < 5000:
                handler.wfile.write(bytes(65536))
                sent.append(1)
        except OSError:
            return

    answers["/models/a"] = flood
    with pytest.raises(UnavailableError, match="is larger than 100000 bytes"):
        HTTPStore(address).get("a", limit=100_000)
    assert len(sent) < 5000


@pytest.mark.nightly
def test_a_transfer_that_breaks_off_is_not_taken_for_the_whole(answers: dict[str, Answer], address: str) -> None:
    answers["/models/a"] = lambda handler: handler.answer(b"half", Content_Length="8")
    with pytest.raises(UnavailableError, match=r"bytes arrived|closed the connection early"):
        HTTPStore(address).get("a")


def test_does_not_wait_for_ever(answers: dict[str, Answer], address: str) -> None:
    given_up = threading.Event()
    answers["/models/a"] = lambda _: given_up.wait(30)
    with pytest.raises(UnavailableError, match="did not answer in time"):
        HTTPStore(address, patience=0.1).get("a")
    given_up.set()


def test_does_not_wait_for_ever_for_the_rest(answers: dict[str, Answer], address: str) -> None:
    given_up = threading.Event()

    def stall(handler: Handler) -> None:
        handler.answer(b"half", Content_Length="8")
        given_up.wait(30)

    answers["/models/a"] = stall
    with pytest.raises(UnavailableError, match="did not answer in time"):
        HTTPStore(address, patience=0.1).get("a")
    given_up.set()


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as bound:  # so that nobody else listens there
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(UnavailableError, match=r"cannot be reached \(check the address and the network"):
            HTTPStore(f"http://127.0.0.1:{bound.getsockname()[1]}").get("a")


def test_a_user_and_password_are_used_and_never_shown(answers: dict[str, Answer], address: str) -> None:
    given = []

    def answer(handler: Handler) -> None:
        given.append(handler.headers["Authorization"])
        handler.answer(b"1")

    answers["/models/a"] = answer
    store = HTTPStore(address.replace("http://", "http://user:s3cr%2Ft@"))
    assert store.get("a") == b"1"
    assert given == ["Basic " + base64.b64encode(b"user:s3cr/t").decode()]
    with pytest.raises(NotFoundError) as caught:
        store.get("missing")
    assert str(caught.value) == f"{address}/missing: not found"
    assert "s3cr" not in repr(store) + str(caught.value)


def test_is_read_only(address: str) -> None:
    store = HTTPStore(address)
    for verb in (lambda: store.put("a", b""), lambda: store.list(""), lambda: store.swap("a", b"", Digest.of(b""))):
        with pytest.raises(UnavailableError, match="an HTTP channel is read-only"):
            verb()


def test_refuses_a_key_that_could_lead_elsewhere(address: str) -> None:
    with pytest.raises(InputError, match="is not a key"):
        HTTPStore(address).get("../secret")
