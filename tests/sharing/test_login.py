"""How a registry learns who we are, and who else does not."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.channel import OCIStore
from sharing.examples import bundle
from sharing.servers import Script, Server, answer, answering, redirect

KEY = "1.0/bert.tar.gz"
BERT = bundle()
pytestmark = pytest.mark.usefixtures("clean_environment")


def log_in(folder: Path, host: str, **entry: str) -> None:
    (folder / "config.json").write_text(json.dumps({"auths": {host: entry}}))


ADA = {"username": "ada", "password": "s3cr:t"}


BODY = b"bundle"
MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "layers": [{"mediaType": "application/x", "digest": Digest.of(BODY), "size": len(BODY)}],
    }
).encode()


def oci(server: Server) -> OCIStore:
    return OCIStore(f"oci://{server.address.partition('//')[2]}/m", patience=30)


def wants(challenge: bytes) -> bytes:
    return answer(b"", b"WWW-Authenticate: " + challenge, status=b"401 Who are you")


def registry(challenge: bytes, *, blob: Iterable[bytes] = (answer(BODY),)) -> Script:
    """Serve one bundle to whoever sends any authorization."""

    def script(request: bytes) -> Iterable[bytes]:
        if b"Authorization: " not in request:
            return [wants(challenge)]
        return blob if b"/blobs/" in request else [answer(MANIFEST)]

    return script


def authorized(server: Server) -> list[bytes]:
    return [line for request in server.requests for line in request.split(b"\r\n") if line.startswith(b"Authorization")]


def test_where_the_bytes_are_elsewhere_no_authorization_goes_there(tmp_path: Path) -> None:
    with (
        answering(lambda _: [answer(BODY)]) as cdn,
        answering(registry(b'Basic realm="x"', blob=[redirect(f"{cdn.address}/b?signed=1")])) as server,
    ):
        log_in(tmp_path, server.address.partition("//")[2], **ADA)
        assert oci(server).get(KEY) == BODY
    assert len(authorized(server)) == 2
    assert authorized(cdn) == []


def test_where_the_bytes_are_to_be_sent_elsewhere_no_authorization_goes_there(
    tmp_path: Path,
) -> None:
    there: list[bytes] = []

    def script(request: bytes) -> Iterable[bytes]:
        method = request.split(b" ", 1)[0]
        if b"Authorization: " not in request:
            return [wants(b"Basic")]
        if method == b"POST":
            return [answer(b"", b"Location: %s/up?x=1" % bucket.address.encode(), status=b"202 Accepted")]
        if method == b"PUT":
            there.append(request.partition(b"\r\n\r\n")[2])
            return [answer(b"", status=b"201 Created")]
        return [answer(there[-1]) if there and b"/manifests/" in request else answer(b"", status=b"404 Not Found")]

    created = answer(b"", status=b"201 Created")
    with answering(lambda _: [created]) as bucket, answering(script) as server:
        log_in(tmp_path, server.address.partition("//")[2], **ADA)
        oci(server).push(IndexEntry.of(BERT), BERT.data)
    assert authorized(bucket) == []
    assert [request.split(b" ")[1].split(b"?")[0] for request in bucket.requests] == [b"/up"] * len(bucket.requests)
    assert b"digest=" + Digest.of(BERT.data).replace(":", "%3A").encode() in bucket.requests[0]


def test_a_password_goes_to_the_token_server_that_the_registry_names_and_only_a_token_to_the_registry(
    tmp_path: Path,
) -> None:
    token = answer(json.dumps({"token": "t0ken"}).encode())
    with answering(lambda _: [token]) as issuer:
        challenge = b'Basic realm="x", bearer Realm = "%s/t?a=b" , service="a b",scope="repository:m/bert:pull"'
        challenge %= issuer.address.encode()
        with answering(registry(challenge)) as server:
            log_in(tmp_path, server.address.partition("//")[2], **ADA)
            assert oci(server).get(KEY) == BODY
    assert set(authorized(server)) == {b"Authorization: Bearer t0ken"}
    assert authorized(issuer) == [b"Authorization: Basic " + base64.b64encode(b"ada:s3cr:t")]
    assert b"GET /t?a=b&service=a+b&scope=repository%3Am%2Fbert%3Apull " in issuer.requests[0]


def test_a_token_that_is_over_is_renewed() -> None:
    good: list[bytes] = []  # each token for one request

    def issue(_: bytes) -> Iterable[bytes]:
        good.append(b"t%d" % len(issuer.requests))
        return [answer(json.dumps({"access_token": good[-1].decode()}).encode())]

    def script(request: bytes) -> Iterable[bytes]:
        if not good or b"Bearer " + good[-1] not in request:
            return [wants(b'Bearer realm="%s/"' % issuer.address.encode())]
        good.clear()
        return [answer(BODY) if b"/blobs/" in request else answer(MANIFEST)]

    with answering(issue) as issuer, answering(script) as server:
        assert oci(server).get(KEY) == BODY
    assert len(issuer.requests) == 2


@pytest.mark.parametrize(
    "realm",
    ["http://tokens.invalid/x", "", "http://[", "file:///etc"],
)
def test_a_password_is_not_sent_to_a_token_server_without_tls(realm: str, tmp_path: Path) -> None:
    with answering(registry(b'Bearer realm="%s"' % realm.encode())) as server:
        log_in(tmp_path, server.address.partition("//")[2], **ADA)
        with pytest.raises(UnavailableError, match="names a token server without TLS"):
            oci(server).get(KEY)
    assert authorized(server) == []


@pytest.mark.parametrize(
    "body", [b"{}", b"x", b'{"token": 5}', b'{"token": "x\\r\\nX-Evil: y"}', bytes(5_000_000)], ids=len
)
def test_what_is_no_token_is_refused(body: bytes) -> None:
    with answering(lambda _: [answer(body)]) as issuer:
        challenge = b'Bearer realm="%s/"' % issuer.address.encode()
        with answering(registry(challenge)) as server, pytest.raises(UnavailableError, match=r"no token|larger"):
            oci(server).get(KEY)
    assert authorized(server) == []


def test_over_plain_http_to_another_machine_nothing_secret_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(registry(b"Basic")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        log_in(tmp_path, "registry.invalid", **ADA)
        with pytest.raises(UnavailableError, match="access denied"):
            OCIStore("oci+http://registry.invalid/m").get(KEY)
    assert proxy.requests
    assert authorized(proxy) == []
