"""Requests to servers that harm, each of which ends at a bound with a message; and the channel that a server serves."""

import base64
import gzip
import itertools
import re
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, UnavailableError
from packyard.sharing.index import access
from packyard.sharing.stores import client
from packyard.sharing.stores.client import Client, Request
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError
from sharing.servers import Script, Server, answer, answering, files, for_ever, redirect, slowly, within

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BUSY = answer(status=b"503 Busy")
MOVED = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n"


@pytest.fixture(autouse=True)
def _alone(clean_environment: pytest.MonkeyPatch) -> None:
    quick = client.REPETITIONS.new(backoff_factor=0, backoff_jitter=0)
    clean_environment.setattr(client, "REPETITIONS", quick)


def get(address: str, *, patience: float = 20.0, limit: int = 1_000_000) -> bytes:
    """Get a key, in a thread of its own: that it ends is what most tests here are about."""
    outcome: list[bytes | Exception] = []

    def run() -> None:
        try:
            outcome.append(HTTPStore(address).get("a", limit=limit))
        except Exception as error:  # raised where the test waits
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    with within(patience):
        thread.start()
        thread.join(30)
    assert outcome, "still waiting"
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def slow(first: bytes, piece: bytes) -> tuple[Script, str, float]:
    return for_ever(first, piece, slow=True), r"did not answer in time \(0\.2 seconds\)", 0.2


def endless(first: bytes, piece: bytes, says: str) -> tuple[Script, str, float]:
    return for_ever(first, piece, slow=False), says, 20.0


def once(
    whole: bytes, says: str = "the server sent an invalid|closed the connection early"
) -> tuple[Script, str, float]:
    return lambda _: [whole], says, 20.0


#: What a server does; what is said of it; and the seconds that it has.
ATTACKS: dict[str, tuple[Script, str, float]] = {
    "says nothing": (lambda _: slowly(itertools.repeat(b"")), r"did not answer in time \(0\.2 seconds\)", 0.2),
    "a slow status line": slow(b"HTTP/1.1 200 O", b"K"),
    "slow headers": slow(HEAD, b"X: y\r\n"),
    "slow continue": slow(b"", CONTINUE),
    "a slow body": slow(HEAD + b"\r\n", b" "),
    "slow chunks": slow(CHUNKED, b"1\r\n \r\n"),
    "a slow body where it is busy": slow(b"HTTP/1.1 503 Busy\r\n\r\n", b" "),
    "a status line without end": endless(b"HTTP/1.1 200 O", b"K" * 5000, "invalid response"),
    "headers without end": endless(HEAD, b"X: y\r\n" * 1000, "invalid response"),
    "a body without end": endless(HEAD + b"\r\n", b" " * 100_000, "is larger than 1000000 bytes"),
    "chunks without end": endless(CHUNKED, b"400\r\n" + b" " * 1024 + b"\r\n", "is larger than 1000000 bytes"),
    "a size of a chunk without end": endless(CHUNKED, b"0" * 5000, "invalid response|closed the connection"),
    "redirections without end": once(redirect("/a"), "redirects more than 10 times"),
    "no HTTP": once(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "half a body": once(HEAD + b"Content-Length: 9\r\n\r\nhalf"),
    "more than it may have": once(HEAD + b"Content-Length: 1000001\r\n\r\n", "is larger than 1000000 bytes"),
    "an address without end": once(redirect("http://[::1")),
    "a file of this machine": once(redirect("file:///etc/passwd"), "redirects to something that is not a web address"),
    "redirected to nowhere": once(answer(status=b"302 Found"), "answers HTTP 302"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_server_that_harms_is_stopped_at_a_bound_and_told(name: str) -> None:
    script, says, patience = ATTACKS[name]
    with answering(script) as server, pytest.raises(UnavailableError, match=says) as caught:
        get(server.address, patience=patience)
    assert str(caught.value).startswith(server.address)
    assert server.sent < 20_000_000


def test_the_body_of_a_redirection_is_not_read() -> None:
    flood = for_ever(MOVED + b"\r\n", bytes(100_000), slow=False)
    with answering(lambda request: [answer(b"1")] if b"GET /b" in request else flood(request)) as server:
        assert get(server.address) == b"1"
    assert server.sent < 20_000_000


def test_a_name_server_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def resolve(*_: object, **__: object) -> None:
        released.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(UnavailableError, match=r"example\.com/a: the server did not answer in time"):
        get("http://example.com", patience=0.3)
    released.set()


def test_a_server_that_refuses_a_connection_is_not_a_slow_one() -> None:
    with pytest.raises(UnavailableError, match="the server cannot be reached"):
        get("http://127.0.0.1:1")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("proxy", ["http://who:s3cret@127.0.0.1:1", "http:///"])
def test_a_proxy_that_fails_is_blamed_with_the_variables_to_check(
    scheme: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", proxy)
    with pytest.raises(UnavailableError, match=r"the proxy cannot be reached.*check HTTPS_PROXY, HTTP_PR") as caught:
        get(f"{scheme}://models.invalid/x")
    assert "s3cret" not in str(caught.value)


# TLS.


def test_a_certificate_that_nobody_trusts_is_refused(tls: ssl.SSLContext) -> None:
    says = r"a: the server's certificate is not trusted: unable to get .* \(check its address; REQUESTS_CA"
    with answering(files({"/a": b"1"}), tls=tls) as server, pytest.raises(UnavailableError, match=says):
        get(server.address)
    assert server.requests == []


def test_no_redirection_leads_from_https_to_http(
    tls: ssl.SSLContext, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority / "ca.pem"))
    with (
        answering(files({"/a": b"1"})) as plain,
        answering(lambda _: [redirect(f"{plain.address}/a")], tls=tls) as server,
        pytest.raises(UnavailableError, match="redirects from https to http"),
    ):
        get(server.address)
    assert plain.requests == []


def authorizations(server: Server) -> list[str]:
    """Return what each request sent, a user and password decoded, an empty text where there is nothing."""
    found = [re.search(rb"^Authorization: (?:Basic )?(.*)\r$", request, re.MULTILINE) for request in server.requests]
    texts = [match[1].decode() if match else "" for match in found]
    return [text if " " in text or not text else base64.b64decode(text).decode() for text in texts]


def with_user(server: Server, text: str) -> str:
    return server.address.replace("//", f"//{text}@")


@pytest.mark.parametrize(("given", "user"), [("us%C3%A9r:p%40:", "usér:p@:"), (":key", ":key"), ("", "")])
def test_credentials_of_the_address_go_to_no_other_server_and_do_not_come_back(
    given: str, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: bytes) -> list[bytes]:
        there, back = f"{with_user(other, 'evil:evil')}/b", [answer(b"1")]
        first = [answer(b"", b"Location: /x", b"Set-Cookie: known=yes", status=b"302 Found")]
        return {b"/a": first, b"/x": [redirect(there)]}.get(request.split()[1], back)

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with answering(lambda _: [redirect(f"{server.address}/c")]) as other, answering(script) as server:
        assert get(with_user(server, given)) == b"1"
    assert authorizations(server) == [user] * 2 + [""]
    assert authorizations(other) == [""]
    assert not any(b"\r\nCookie:" in request for request in server.requests)


# Other methods, what is repeated, and streams.


def asked(server: Server, path: str = "/a", **named: Any) -> Request:
    return Request(**{"url": f"{server.address}{path}", "place": server.address, "limit": 1_000_000, **named})


def test_a_server_that_reads_slowly_is_not_waited_for_beyond_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf, within(0.4), pytest.raises(UnavailableError, match="in time"):
        Client().ask(asked(Server(deaf.getsockname()[1]), method="PUT", body=bytes(30_000_000)))


def test_a_change_is_redirected_as_it_is_and_on_the_same_server_alone() -> None:
    def script(request: bytes) -> list[bytes]:
        path = request.split()[1]
        moved = {b"/a": (b"302 Found", b"/c"), b"/b": (b"307 Temporary", b"/c"), b"/x": (b"308", other)}
        if path not in moved:
            return [answer(request.partition(b"\r\n\r\n")[2])]
        status, location = moved[path]
        return [answer(b"", b"Location: " + location, status=status)]

    other = b"http://127.0.0.1:1/"
    with answering(script) as server:
        assert Client().ask(asked(server, "/a", method="PUT", body=b"123")).status == 302
        assert Client().ask(asked(server, "/b", method="PUT", body=b"123")).body == b"123"
        with pytest.raises(UnavailableError, match="to another server"):
            Client().ask(asked(server, "/x", method="PUT", body=b"123"))


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize("first", [BUSY, answer(status=b"429 Slow down"), answer(status=b"500 Oh"), b""])
def test_what_a_server_is_too_busy_for_or_breaks_off_is_sent_again(method: str, first: bytes) -> None:
    left = [answer(b""), first]
    with answering(lambda _: [left.pop() if len(left) > 1 else left[0]]) as server:
        assert Client().ask(asked(server, method=method, body=b"1" * (method == "PUT"))).status == 200
    assert len(server.requests) == 2
    assert server.requests[0] == server.requests[1]


def busy(after: bytes) -> bytes:
    return answer(b"", b"Retry-After: " + after, status=b"503 Busy")


def test_a_server_that_stays_busy_is_given_up() -> None:
    with answering(lambda _: [busy(b"0")]) as server:
        assert r"answers HTTP 503 (try again later" in str(Client().ask(asked(server)).refusal("log in"))
    assert len(server.requests) == 4


@pytest.mark.parametrize("after", [b"61", b"Fri, 31 Dec 2100 23:59:59 GMT", b"-1", b"9" * 5000, b"x"], ids=len)
def test_whatever_a_busy_server_asks_for_ends_in_time(after: bytes) -> None:
    with (
        answering(lambda _: [busy(after)]) as server,
        within(0.5),
        pytest.raises(UnavailableError, match=r"in time|invalid response"),
    ):
        Client().ask(asked(server))


def test_gets_the_bytes_as_they_are_stored_even_where_a_server_calls_them_an_encoding() -> None:
    stored = gzip.compress(b"tar")
    with answering(lambda _: [answer(stored, b"Content-Encoding: gzip")]) as server:
        assert HTTPStore(f"{server.address}/x/").get("1.0+b1/a") == stored
    assert server.requests[0].split()[1] == b"/x/1.0%2Bb1/a"
    assert b"Accept-Encoding: identity\r\n" in server.requests[0]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (b"404 Not Found", "a: not found"),
        (b"410 Gone", "a: not found"),
        (b"401 Who", r"access denied \(HTTP 401\) \(check user and password"),
        (b"403 No", "access denied"),
        (b"206 Part", "HTTP 206"),
        (b"400 Bad", r"HTTP 400 \(check the address"),
    ],
)
def test_an_answer_is_told_and_only_one_of_absence_is_taken_for_it(status: bytes, says: str) -> None:
    with answering(lambda _: [answer(b"x", status=status)]) as server:
        with pytest.raises(UnavailableError, match=says) as caught:
            get(with_user(server, "user:s3cr%2Ft"))
        assert "s3cr" not in f"{caught.value!r}{caught.value.__cause__!r}{HTTPStore(with_user(server, 'u:s3cr'))!r}"
        assert isinstance(caught.value, NotFoundError) == ("not found" in says)


@pytest.mark.parametrize("body", [b"<html><title>Log in</title>", b"\n<!DOCTYPE html>\n<html>"])
def test_a_page_to_log_in_is_no_file_of_a_channel(body: bytes) -> None:
    says = r"index/index\.json: the server sent a web page .*check the"
    with answering(lambda _: [answer(body)]) as server, pytest.raises(UnavailableError, match=says):
        access.read(HTTPStore(server.address))


@pytest.mark.parametrize("other", [b"", b'{"error": "not found"}', b"<!-- built -->\n<!doctype html>"])
def test_a_page_for_what_is_not_there_is_missing_where_the_server_gives_the_index(other: bytes) -> None:
    content = {"/a": b"<!doctype html>", "/b.json": other}
    with answering(lambda request: files(content)(request)) as server:
        with pytest.raises(UnavailableError, match="a: the server sent a web page") as caught:
            get(server.address)
        assert not isinstance(caught.value, NotFoundError)
        content["/index/index.json"] = b'{"apiVersion": ""}'
        with pytest.raises(NotFoundError, match=r"b\.json: not found"):
            HTTPStore(server.address).get("b.json")
        with pytest.raises(NotFoundError, match="a: not found: the server sent a web page"):
            get(server.address)


def test_a_bucket_that_lists_nothing_for_strangers_denies_what_is_missing() -> None:
    denied = answer(b"<Error><Code>AccessDenied</Code></Error>", status=b"403 Forbidden")
    says = r"a: not found, or access denied \(HTTP 403\)"
    given = answering(lambda request: [answer(b'"apiVersion"') if b"/index/" in request else denied])
    with given as server, pytest.raises(NotFoundError, match=says):
        get(server.address)
    with answering(lambda _: [denied]) as server, pytest.raises(UnavailableError, match="a: access denied") as caught:
        get(server.address)
    assert not isinstance(caught.value, NotFoundError)


def test_damage_is_told_with_the_address_that_serves_it() -> None:
    with answering(files({"/index/index.json": b'{"apiVersion": 1}'})) as server:
        says = rf"index/index\.json: .*apiVersion.* \(whoever publishes what {server.address}/ serves sees .* f"
        with pytest.raises(IntegrityError, match=says):
            access.read(HTTPStore(server.address))


def test_is_read_only_and_takes_no_key_that_could_lead_elsewhere() -> None:
    store = HTTPStore("http://127.0.0.1:1")
    for verb in (lambda: store.put("a", b""), lambda: store.list(""), lambda: store.swap("a", b"", Digest.of(b""))):
        with pytest.raises(UnavailableError, match="an HTTP channel is read-only"):
            verb()
    with pytest.raises(InputError, match="is not a key"):
        store.get("../secret")
