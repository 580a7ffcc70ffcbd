"""Requests to hostile servers: each ends at a bound with a message, and gives no secret away."""

from __future__ import annotations

import base64
import contextlib
import itertools
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import real
from packyard.core.errors import InputError, UnavailableError
from packyard.sharing.stores import http
from packyard.sharing.stores.http import HTTPStore
from packyard.sharing.stores.store import NotFoundError, TooLongError
from sharing.servers import Script, Server, answer, answering, files, for_ever, redirect, slowly

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def get(address: str, *, patience: float = 20.0, limit: int = 1_000_000, key: str = "a") -> bytes:
    """Get a key, in a thread of its own: that it ends is what most tests here are about."""
    outcome: list[bytes | Exception] = []

    def run() -> None:
        try:
            outcome.append(HTTPStore(address, patience=patience).get(key, limit=limit))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert outcome, "still waiting"
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def refused(script: Script, says: str, **bounds: Any) -> Server:
    with answering(script) as server, pytest.raises(UnavailableError, match=says) as caught:
        get(server.address, **bounds)
    assert str(caught.value).startswith(server.address)
    return server


SLOW: dict[str, Script] = {
    "says nothing": lambda _: slowly(itertools.repeat(b"")),
    "a status line": for_ever(b"HTTP/1.1 200 O", b"K", slow=True),
    "continue": for_ever(b"", CONTINUE, slow=True),
    "headers": for_ever(HEAD, b"X: y\r\n", slow=True),
    "one header": for_ever(HEAD + b"X: ", b"y", slow=True),
    "a body": for_ever(HEAD + b"\r\n", b" ", slow=True),
    "a body with its length": for_ever(HEAD + b"Content-Length: 100000\r\n\r\n", b" ", slow=True),
    "a chunk's size": for_ever(CHUNKED, b"0", slow=True),
    "chunks": for_ever(CHUNKED, b"1\r\n \r\n", slow=True),
    "trailers": for_ever(CHUNKED + b"0\r\n", b"X: y\r\n", slow=True),
    "a redirection's headers": for_ever(b"HTTP/1.1 302 Found\r\nLocation: /y\r\n", b"X: y\r\n", slow=True),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_server_is_waited_for_until_the_deadline(name: str) -> None:
    refused(SLOW[name], r"did not answer in time \(0\.4 seconds\).*PACKYARD_TIMEOUT", patience=0.4)


ENDLESS: dict[str, tuple[Script, str]] = {
    "continue": (for_ever(b"", CONTINUE * 100, slow=False), "too many bytes of headers or chunk headers"),
    "headers": (for_ever(HEAD, b"X: y\r\n" * 1000, slow=False), "invalid response"),
    "one header": (for_ever(HEAD + b"X: ", b"y" * 5000, slow=False), "invalid response"),
    "folded header": (for_ever(HEAD + b"X: y", b"\r\n " + b"y" * 5000, slow=False), "invalid response|too many bytes"),
    "a status line": (for_ever(b"HTTP/1.1 200 O", b"K" * 5000, slow=False), "invalid response"),
    "a body": (for_ever(HEAD + b"\r\n", b" " * 100_000, slow=False), "is larger than 1000000 bytes"),
    "chunks": (for_ever(CHUNKED, b"400\r\n" + b" " * 1024 + b"\r\n", slow=False), "is larger than 1000000 bytes"),
    "tiny chunks": (for_ever(CHUNKED, b"1\r\n \r\n" * 1000, slow=False), "too many bytes of headers or chunk headers"),
    "a chunk's name": (for_ever(CHUNKED + b"1;", b"x" * 5000, slow=False), "invalid response"),
    "a chunk's size": (for_ever(CHUNKED, b"0" * 5000, slow=False), "invalid response|closed the connection"),
    "trailers": (for_ever(CHUNKED + b"0\r\n", b"X: y\r\n" * 1000, slow=False), "too many bytes of headers or chunk"),
    "redirections": (lambda _: [redirect("/a")], "redirects more than 10 times"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_server_that_never_stops_is_stopped_soon(name: str) -> None:
    script, says = ENDLESS[name]
    server = refused(script, says)
    assert server.sent < 20_000_000


def test_the_body_of_a_redirection_is_not_read() -> None:
    found = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n"
    flood = for_ever(found, bytes(100_000), slow=False)
    with answering(lambda request: [answer(b"1")] if b"GET /b" in request else flood(request)) as server:
        assert get(server.address) == b"1"
    assert server.sent < 20_000_000


def test_all_redirections_share_one_deadline() -> None:
    def script(_: bytes) -> Iterator[bytes]:
        time.sleep(0.2)
        yield redirect("/a")

    assert len(refused(script, "did not answer in time", patience=0.5).requests) < 5


def test_nine_redirections_are_followed_wherever_they_lead() -> None:
    with answering(files({"/x/b": b"1"})) as last:

        def script(request: bytes) -> list[bytes]:
            path = request.split()[1].decode()
            return [redirect(f"{last.address}/x/y/../b" if len(path) > 9 else f"{path}x?q=1")]

        with answering(lambda request: script(request.replace(b"?q=1", b""))) as first:
            assert get(first.address) == b"1"
    assert len(first.requests) == 9


INVALID = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "binary": bytes(range(256)),
    "no status": b"HTTP/1.1\r\n\r\n",
    "a status that is no number": b"HTTP/1.1 OK 200\r\n\r\n",
    "a negative status": b"HTTP/1.1 -200 OK\r\n\r\n",
    "another protocol": b"HTTP/2.0 200 OK\r\n\r\n",
    "a length of 5000 digits": HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    "a length of 20 digits": HEAD + b"Content-Length: " + b"9" * 20 + b"\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -5\r\n\r\n{}",
    "a length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a length in other digits": HEAD + "Content-Length: \u0662\r\n\r\n{}".encode(),
    "an empty length": HEAD + b"Content-Length: \r\n\r\n{}",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "101 headers": HEAD + b"X: y\r\n" * 101 + b"\r\n",
    "a chunk without a size": CHUNKED + b"x\r\n{}\r\n0\r\n\r\n",
    "a chunk of negative size": CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
    "an address without end": b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    "an address with a port that is none": answer(b"", b"Location: http://h:x/", status=b"301 Moved"),
    "an address that is no text": answer(b"", b"Location: http://\xff\xfe/", status=b"307 Moved"),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_response_is_called_so(name: str) -> None:
    refused(lambda _: [INVALID[name]], "the server sent an invalid|the transfer failed|closed the connection")


CUT = {
    "a closed connection": b"",
    "half a status": b"HTTP/1.1 2",
    "half a body": HEAD + b"Content-Length: 9\r\n\r\nhalf",
    "a length and chunks": HEAD + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "half a chunk": CHUNKED + b"9\r\nhalf",
    "no last chunk": CHUNKED + b"2\r\n{}\r\n",
    "an endless chunk": CHUNKED + b"f" * 18 + b"\r\nx",
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", CUT)
def test_what_breaks_off_is_not_taken_for_the_whole(name: str) -> None:
    refused(lambda _: [CUT[name]], "closed the connection|the transfer failed|invalid response|of 9 bytes arrived")


def test_a_length_above_the_limit_is_refused_without_reading() -> None:
    script = for_ever(HEAD + b"Content-Length: 1000001\r\n\r\n", bytes(1000), slow=True)
    with answering(script) as server, pytest.raises(TooLongError, match="is larger than 1000000 bytes"):
        get(server.address)


def test_the_same_length_twice_is_taken() -> None:
    with answering(lambda _: [HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"]) as server:
        assert get(server.address) == b"{}"


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/x", "file:///etc/passwd", "javascript:alert(1)", "http://", "data:,x", "http:///x"]
)
def test_a_redirection_to_what_is_no_web_address_is_refused(location: str) -> None:
    refused(lambda _: [redirect(location)], "redirects to something that is not a web address|redirects more than 10")


def test_a_redirection_without_a_location_is_an_answer_like_any_other() -> None:
    refused(lambda _: [answer(status=b"302 Found")], "answers HTTP 302")


def test_no_encoding_is_unpacked() -> None:
    with answering(lambda _: [answer(b"\x1f\x8bnot gzip at all", b"Content-Encoding: gzip, br, deflate")]) as server:
        assert get(server.address) == b"\x1f\x8bnot gzip at all"


# Names and connections.


def test_a_name_server_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def resolve(*_: object, **__: object) -> None:
        released.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(UnavailableError, match=r"example\.com/a: the server did not answer in time"):
        get("http://example.com", patience=0.3)
    released.set()


def test_a_server_that_accepts_no_connection_is_not_waited_for() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        with pytest.raises(UnavailableError, match="did not answer in time"):
            get(f"http://127.0.0.1:{full.getsockname()[1]}", patience=0.3)
        for each in waiting:
            each.close()


def test_a_server_that_never_greets_is_not_waited_for() -> None:
    with (
        answering(lambda _: slowly(itertools.repeat(b""))) as server,
        pytest.raises(UnavailableError, match="did not answer in time"),
    ):
        get(server.address.replace("http:", "https:"), patience=0.3)


# Proxies.


def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(lambda _: [answer(b"1")]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address.replace("//", "//who:s3cret@"))
        assert get("http://models.invalid/x") == b"1"
    assert proxy.requests[0].startswith(b"GET http://models.invalid/x/a HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"who:s3cret") in proxy.requests[0]


PROXIES = {
    "slow": (for_ever(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", slow=True), "did not answer in time"),
    "endless": (for_ever(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000, slow=False), "too many bytes|invalid response"),
    "refuses": (lambda _: [answer(status=b"407 Who are you")], "the proxy cannot be reached, or refuses"),
    "mad": (lambda _: [b"\xff\r\n\r\n"], "the proxy cannot be reached, or refuses|invalid response"),
}


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_that_harms_is_bounded_like_a_server(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script, says = PROXIES[name]
    with answering(script) as proxy:
        monkeypatch.setenv("https_proxy", proxy.address.replace("//", "//who:s3cret@"))
        with pytest.raises(UnavailableError, match=says) as caught:
            get("https://models.invalid/x", patience=1.0 if name == "slow" else 20.0)
    assert proxy.requests[0].startswith(b"CONNECT models.invalid:443 ")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("proxy", "says"),
    [("http://who:s3cret@127.0.0.1:1", "cannot be reached, or refuses"), ("http:///", "is invalid")],
)
def test_a_proxy_that_fails_is_blamed_with_the_variables_to_check(
    scheme: str, proxy: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{scheme}_proxy", proxy)
    with pytest.raises(
        UnavailableError, match=rf"the .*proxy.* {says} \(check HTTPS_PROXY, HTTP_PROXY and NO_P"
    ) as told:
        get(f"{scheme}://models.invalid/x")
    assert "s3cret" not in str(told.value)


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key, by nobody whom anybody trusts."""
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=test"
    command = [real.program("openssl"), *words.split(), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    (folder / "both.pem").write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return folder


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "both.pem")
    return context


def test_a_certificate_that_nobody_trusts_is_refused(tls: ssl.SSLContext) -> None:
    says = (
        r"a: the server's certificate is not trusted: self-signed certificate \(check its address; REQUESTS_CA_BUNDLE"
    )
    with answering(files({"/a": b"1"}), tls=tls) as server, pytest.raises(UnavailableError, match=says):
        get(server.address)
    assert server.requests == []


def test_a_certificate_that_is_not_valid_now_is_told_with_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, past = Ed25519PrivateKey.generate(), datetime(2020, 1, 1, tzinfo=UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, past, past + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = made.add_extension(names, critical=False).sign(key, None).public_bytes(Encoding.PEM)
    (tmp_path / "cert.pem").write_bytes(signed)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "both.pem").write_bytes(private + signed)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    says = r"not trusted: certificate has expired \(is the clock of this machine right\?"
    with answering(files({"/a": b"1"}), tls=context) as server, pytest.raises(UnavailableError, match=says):
        get(server.address)


def test_a_certificate_of_another_host_is_told_with_the_host(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))
    says = "not trusted: Hostname mismatch, certificate is not valid for 'localhost'"
    with answering(files({"/a": b"1"}), tls=tls) as server, pytest.raises(UnavailableError, match=says):
        get(server.address.replace("127.0.0.1", "localhost"))


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_authorities_that_cannot_be_read_are_told_with_the_variable_that_names_them(
    variable: str, tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate\n")
    for file, reason in ((tmp_path / "gone.pem", "cannot be read: No such file or directory"), (empty, "has no cert")):
        monkeypatch.setenv(variable, str(file))
        with answering(lambda _: [answer(b"1")], tls=tls) as server, pytest.raises(InputError) as caught:
            get(server.address)
        assert str(caught.value).startswith(f"{file}: {reason}")
        assert f"({variable} names it" in str(caught.value)
    with answering(lambda _: [answer(b"1")]) as plain:
        assert get(plain.address) == b"1", "without TLS nobody asks for them"


def test_no_redirection_leads_from_https_to_http(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))
    with (
        answering(files({"/a": b"1"})) as plain,
        answering(lambda _: [redirect(f"{plain.address}/a")], tls=tls) as server,
        pytest.raises(UnavailableError, match="redirects from https to http"),
    ):
        get(server.address)
    assert plain.requests == []


@pytest.mark.nightly
def test_a_body_over_tls_is_bounded_like_any_other(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))
    with answering(files({"/a": b"1"}), tls=tls) as server:
        assert get(server.address) == b"1"
    for script, says in ((SLOW["trailers"], "in time"), ENDLESS["continue"]):
        with answering(script, tls=tls) as server, pytest.raises(UnavailableError, match=says):
            get(server.address, patience=1.0 if says == "in time" else 20.0)


# Users and passwords.


def authorizations(server: Server) -> list[str]:
    """Return the user and password of each request, an empty text where there is none."""
    lines = [line for request in server.requests for line in [*request.split(b"\r\n"), b"end"]]
    found, last = [], ""
    for line in lines:
        if line.startswith(b"Authorization: Basic "):
            last = base64.b64decode(line.split()[2]).decode()
        elif line == b"end":
            found.append(last)
            last = ""
    return found


def with_user(server: Server, text: str = "user:given") -> str:
    return server.address.replace("//", f"//{text}@")


@pytest.fixture
def netrc(tmp_path: Path) -> Callable[[str], None]:
    def write(text: str) -> None:
        (tmp_path / ".netrc").write_text(text)
        (tmp_path / ".netrc").chmod(0o600)

    return write


def test_the_address_goes_before_netrc(netrc: Callable[[str], None]) -> None:
    netrc("machine 127.0.0.1 login other password other\n")
    with answering(files({"/a": b"1"})) as server:
        get(with_user(server))
        get(with_user(server, "user"))
        get(with_user(server, "us%C3%A9r:p%40:"))
        get(with_user(server, ":key"))
        get(server.address)
        get(with_user(server, ""))
    assert authorizations(server) == ["user:given", "user:", "usér:p@:", ":key", "other:other", "other:other"]


def test_a_redirection_on_the_same_server_keeps_them_and_any_other_drops_them(netrc: Callable[[str], None]) -> None:
    with answering(files({"/b": b"1"})) as other:

        def script(request: bytes) -> list[bytes]:
            return [redirect("/x" if request.startswith(b"GET /a") else f"{other.address}/b")]

        with answering(script) as server:
            assert get(with_user(server)) == b"1"
            netrc("machine 127.0.0.1 login other password other\n")
            assert get(with_user(server)) == b"1"
    assert authorizations(server) == ["user:given"] * 4
    assert authorizations(other) == ["", ""]  # netrc has no ports, and is for the server of the address


def test_no_server_chooses_whom_the_next_one_takes_us_for() -> None:
    with (
        answering(files({"/b": b"1"})) as other,
        answering(lambda _: [redirect(f"{with_user(other, 'evil:evil')}/b")]) as server,
    ):
        assert get(server.address) == b"1"
    assert authorizations(other) == [""]


@pytest.mark.parametrize("script", [files({}), lambda _: [b"x"], lambda _: [redirect("http://[")], SLOW["a body"]])
def test_no_message_shows_them(script: Script) -> None:
    with answering(script) as server, pytest.raises(UnavailableError) as caught:
        get(with_user(server, "user:s3cr%2Ft"), patience=0.5)
    shown = f"{caught.value}{caught.value!r}{caught.value.__cause__!r}"
    assert "s3cr" not in shown
    assert base64.b64encode(b"user:s3cr/t").decode() not in shown


def test_a_netrc_that_cannot_be_read_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_bytes(b"machine \xff\n")
    with answering(files({})) as server, pytest.raises(UnavailableError, match=r"the request cannot be made") as caught:
        get(server.address)
    assert not isinstance(caught.value, NotFoundError)


# Other methods, what is repeated, and streams.


def asked(server: Server, **named: Any) -> http.Request:
    bounds = {"place": server.address, "limit": 1_000_000, "patience": 20.0}
    return http.Request(**{"url": f"{server.address}/a", **bounds, **named})


@pytest.mark.parametrize("body", [b"", b"1", bytes(300_000)])
@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_a_method_sends_its_headers_and_its_body(method: str, body: bytes) -> None:
    with answering(lambda _: [answer(b"ok", b"X-Some: y", status=b"201 Created")]) as server:
        found = http.send(asked(server, method=method, body=body, headers={"If-Match": "x"}, authorization="T k"))
    assert (found.status, found.body, found.headers["x-some"], found.url) == (201, b"ok", "y", f"{server.address}/a")
    head, _, sent = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(method.encode() + b" /a HTTP/1.1\r\n")
    assert {b"If-Match: x", b"Authorization: T k"} < set(head.split(b"\r\n"))
    assert method == "DELETE" or b"Content-Length: %d" % len(body) in head.split(b"\r\n")
    assert sent == body


def test_the_length_of_what_is_asked_by_head_is_not_waited_for() -> None:
    with answering(lambda _: [HEAD + b"Content-Length: 99999999999\r\n\r\n"]) as server:
        found = http.send(asked(server, method="HEAD"))
    assert (found.status, found.headers["content-length"], found.body) == (200, "99999999999", b"")


def test_what_a_server_says_of_an_error_is_kept_if_it_is_short() -> None:
    for length in (10, 64 * 1024, 64 * 1024 + 1, 10_000_000):
        with answering(lambda _, n=length: [answer(b"x" * n, status=b"409 Conflict")]) as server:
            found = http.send(asked(server, method="PUT", limit=5))
        assert (found.status, len(found.body)) == (409, length if length <= 64 * 1024 else 0)


def test_a_server_that_reads_slowly_is_not_waited_for_beyond_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        request = asked(Server(deaf.getsockname()[1]), method="PUT", body=bytes(30_000_000), patience=0.5)
        with pytest.raises(UnavailableError, match="in time"):
            http.send(request)


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"303 See Other"])
def test_a_change_is_not_redirected_by_what_would_make_it_a_get(status: bytes) -> None:
    with answering(lambda _: [answer(b"", b"Location: /b", status=status)]) as server:
        assert http.send(asked(server, method="PUT", body=b"1")).status == int(status[:3])
    assert len(server.requests) == 1


def test_a_change_is_redirected_on_the_same_server_alone() -> None:
    def script(request: bytes) -> list[bytes]:
        moved = answer(b"", b"Location: /b", status=b"307 Temporary")
        return [answer(request.partition(b"\r\n\r\n")[2]) if b" /b " in request else moved]

    with answering(script) as server:
        assert http.send(asked(server, method="PUT", body=b"123")).body == b"123"
        elsewhere = answer(b"", b"Location: %s/b" % server.address.encode(), status=b"308 Permanent")
        with answering(lambda _: [elsewhere]) as first, pytest.raises(UnavailableError, match="to another server"):
            http.send(asked(first, method="PUT", body=b"123"))
    assert len(server.requests) == 2


def test_an_authorization_is_for_one_server_and_netrc_is_only_read_if_that_is_wanted(
    netrc: Callable[[str], None],
) -> None:
    netrc("machine 127.0.0.1 login other password other\n")
    with answering(files({"/b": b"1"})) as other, answering(lambda _: [redirect(f"{other.address}/b")]) as server:
        http.send(asked(server, authorization="Bearer secret", netrc=False))
        http.send(asked(server, netrc=False))
    assert [b"Authorization: Bearer secret" in request for request in server.requests] == [True, False]
    assert not [request for request in [*server.requests, *other.requests] if b"Basic" in request]
    assert not [request for request in other.requests if b"Authorization" in request]


def test_a_way_back_does_not_bring_the_authorization_back() -> None:
    def script(request: bytes) -> list[bytes]:
        return [redirect(f"{other.address}/b") if b" /a " in request else answer(b"1")]

    with (
        answering(lambda _: [redirect(f"{server.address}/c")]) as other,
        answering(script) as server,
    ):
        assert http.send(asked(server, authorization="Bearer secret", netrc=False)).body == b"1"
    assert [b"secret" in request for request in server.requests] == [True, False]


def in_turn(*answers: bytes) -> Script:
    """Give each answer once, and the last one for ever."""
    left = list(answers)
    return lambda _: [left.pop(0) if len(left) > 1 else left[0]]


BUSY = answer(b"", status=b"503 Busy")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
@pytest.mark.parametrize("first", [BUSY, answer(b"", status=b"429 Slow down"), answer(b"", status=b"500 Oh"), b""])
def test_what_is_safe_to_repeat_is_repeated(method: str, first: bytes) -> None:
    with answering(in_turn(first, answer(b""))) as server:
        assert http.send(asked(server, method=method, body=b"1" * (method == "PUT"))).status == 200
    assert len(server.requests) == 2
    assert server.requests[0] == server.requests[1]


def test_what_is_not_safe_to_repeat_is_only_repeated_if_the_server_did_not_take_it() -> None:
    with answering(in_turn(BUSY, answer(b""))) as server:
        assert http.send(asked(server, method="POST")).status == 503
    with answering(in_turn(b"", answer(b""))) as server, pytest.raises(http.BrokenOffError):
        http.send(asked(server, method="POST"))
    with answering(in_turn(answer(b"", status=b"429 Slow down"), answer(b""))) as server:
        assert http.send(asked(server, method="POST")).status == 200
    with answering(in_turn(BUSY, answer(b""))) as server:
        assert http.send(asked(server, method="POST", repeatable=True)).status == 200


@pytest.mark.nightly
def test_a_server_that_stays_busy_is_given_up_soon() -> None:
    with answering(lambda _: [BUSY]) as server:
        found = http.send(asked(server))
        assert "the server is busy (HTTP 503) (try again later)" in str(asked(server).unexpected(found))
    assert len(server.requests) == 4


AFTER = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: %s\r\n\r\n"


@pytest.mark.nightly
def test_a_busy_server_says_how_long_to_wait() -> None:
    begun = time.monotonic()
    with answering(in_turn(AFTER % b"1", answer(b"1"))) as server:
        assert http.send(asked(server)).body == b"1"
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize("text", [b"60", b"Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(text: bytes) -> None:
    begun = time.monotonic()
    with answering(lambda _: [AFTER % text]) as server:
        found = http.send(asked(server))
    assert time.monotonic() - begun < 15
    assert (found.status, len(server.requests)) == (503, 1)
    assert ("in 60 seconds" in str(asked(server).unexpected(found))) == (text == b"60")


@pytest.mark.parametrize("text", [b"-1", b"9" * 5000, b"x", b"", "\u0662".encode(), b"1e9"])
def test_an_odd_time_to_wait_is_none(text: bytes) -> None:
    with answering(in_turn(AFTER % text, answer(b"1"))) as server:
        assert http.send(asked(server)).body == b"1"


def test_a_stream_begins_where_it_is_asked_to_whether_or_not_the_server_knows_parts() -> None:
    body = bytes(range(256)) * 1000

    def script(request: bytes) -> list[bytes]:
        begin = 200_001
        part = answer(body[begin:], b"Content-Range: bytes %d-255999/256000" % begin, status=b"206 Partial Content")
        return [part if b" /a " in request and b"Range: bytes=%d-" % begin in request else answer(body)]

    with answering(script) as server:
        for url in ("a", "b"):
            for offset in (0, 200_001):
                request = asked(server, url=f"{server.address}/{url}", limit=0)
                found, pieces = http.stream(request, offset=offset)
                assert (b"".join(pieces), found.status) == (body[offset:], 206 if url == "a" and offset else 200)


def test_a_stream_of_another_part_is_refused() -> None:
    part = answer(b"x", b"Content-Range: bytes 0-0/5", status=b"206 Partial Content")
    with answering(lambda _: [part]) as server, pytest.raises(UnavailableError, match="another part"):
        http.stream(asked(server), offset=4)


def test_a_stream_that_breaks_off_says_so_after_what_arrived() -> None:
    with answering(lambda _: [CUT["half a body"]]) as server:
        _, pieces = http.stream(asked(server))
        assert next(pieces) == b"half"
        with pytest.raises(http.BrokenOffError):
            next(pieces)


def test_a_stream_that_is_refused_has_no_pieces() -> None:
    with answering(files({})) as server:
        found, pieces = http.stream(asked(server))
    assert (found.status, list(pieces)) == (404, [])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["a body", "chunks", "a body with its length"])
def test_a_stream_ends_at_the_deadline(name: str) -> None:
    with answering(SLOW[name]) as server:
        _, pieces = http.stream(asked(server, patience=2.0))
        with pytest.raises(UnavailableError, match="in time"):
            list(pieces)


def test_a_stream_that_is_left_early_closes_its_connection() -> None:
    ended = threading.Event()

    def script(_: bytes) -> Iterator[bytes]:
        try:
            yield from itertools.chain([HEAD + b"\r\n"], itertools.repeat(bytes(100_000)))
        finally:
            ended.set()

    with answering(script) as server:
        _, pieces = http.stream(asked(server))
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert ended.wait(5)  # a server gives up a connection that is open after ten


# Connections that are kept.


def keeping(script: Script) -> Callable[[socket.socket], None]:
    """Answer requests on one connection until it ends."""

    def talk(connection: socket.socket) -> None:
        buffered = b""
        while True:
            while b"\r\n\r\n" not in buffered:
                if not (piece := connection.recv(65536)):
                    return
                buffered += piece
            request, _, buffered = buffered.partition(b"\r\n\r\n")
            for piece in script(request):
                connection.sendall(piece)

    return talk


@contextlib.contextmanager
def kept(script: Script) -> Iterator[tuple[Server, list[int]]]:
    """Serve with connections that stay open, and count them."""
    opened: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection = listening.accept()[0]
                    opened.append(1)
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        def serve(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                keeping(script)(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Server(listening.getsockname()[1]), opened
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def staying(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body


def test_connections_are_kept_if_that_is_wanted() -> None:
    with kept(lambda request: [staying(request.split()[1])]) as (server, opened):
        with contextlib.closing(http.Connections()) as connections:
            for number in range(5):
                url = f"{server.address}/{number}"
                assert http.send(asked(server, url=url, connections=connections)).body == b"/%d" % number
        assert len(opened) == 1
        http.send(asked(server))
        assert len(opened) == 2


def test_a_web_server_is_asked_for_all_keys_on_one_connection() -> None:
    with kept(lambda request: [staying(request.split()[1])]) as (server, opened):
        store = HTTPStore(server.address)
        assert [store.get(key) for key in ("a", "b", "c")] == [b"/a", b"/b", b"/c"]
        assert b"".join(store.read("d")) == b"/d"
        assert len(opened) == 1


def test_a_connection_is_not_kept_whose_answer_was_not_read_to_its_end() -> None:
    bodies = {b"/long": staying(bytes(200_000)), b"/error": staying(bytes(200_000), b"404 Not Found")}
    script: Script = lambda request: [bodies.get(request.split()[1], staying(b"1"))]  # noqa: E731
    with kept(script) as (server, opened), contextlib.closing(http.Connections()) as connections:
        for path in ("long", "a", "error", "a"):
            request = asked(server, url=f"{server.address}/{path}", connections=connections, limit=1000)
            with contextlib.suppress(TooLongError):
                assert http.send(request).body == (b"1" if path == "a" else b"")
        assert len(opened) == 3


def test_what_a_server_sends_beyond_an_answer_is_not_taken_for_the_next_one() -> None:
    script: Script = lambda request: [staying(request.split()[1]) + staying(b"evil")]  # noqa: E731
    with kept(script) as (server, _), contextlib.closing(http.Connections()) as connections:
        for number in range(5):
            url = f"{server.address}/{number}"
            with contextlib.suppress(UnavailableError):
                assert http.send(asked(server, url=url, connections=connections)).body == b"/%d" % number
            time.sleep(0.01)


def test_a_kept_connection_that_ended_is_opened_again() -> None:
    def script(request: bytes) -> Iterator[bytes]:
        yield staying(request.split()[1])
        raise OSError

    with kept(script) as (server, opened), contextlib.closing(http.Connections()) as connections:
        for number in range(3):
            url = f"{server.address}/{number}"
            assert http.send(asked(server, url=url, connections=connections)).body == b"/%d" % number
        assert len(opened) == 3


def test_each_request_on_a_kept_connection_has_its_own_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on while the server is slow."""
    now, given_up = 0.0, threading.Event()

    def script(request: bytes) -> Iterator[bytes]:
        nonlocal now
        if b"/slow" in request:
            now += 100
        if b"/never" in request:
            given_up.wait(30)
        yield staying(b"1")

    monkeypatch.setattr(http, "time", SimpleNamespace(monotonic=lambda: now))
    with kept(script) as (server, opened), contextlib.closing(http.Connections()) as connections:
        for path, patience in (("quick", 50), ("slow", 1000), ("quick", 50)):
            bounds = {"connections": connections, "patience": patience}
            assert http.send(asked(server, url=f"{server.address}/{path}", **bounds)).body == b"1"
        assert len(opened) == 1
        with pytest.raises(UnavailableError, match="in time"):
            http.send(asked(server, url=f"{server.address}/never", connections=connections, patience=0.2))
        given_up.set()


@pytest.mark.nightly
def test_many_threads_share_connections() -> None:
    with (
        kept(lambda request: [staying(request.split()[1] * 100)]) as (server, opened),
        contextlib.closing(http.Connections()) as connections,
    ):

        def get(number: int) -> bytes:
            return http.send(asked(server, url=f"{server.address}/{number}", connections=connections)).body

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(get, range(200))) == [b"/%d" % number * 100 for number in range(200)]
        assert len(opened) <= 8
