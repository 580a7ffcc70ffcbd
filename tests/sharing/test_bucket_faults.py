"""Servers of buckets that fail, and networks that do: each call ends in time, with a message, and shows no secret."""

import contextlib
import re
import ssl
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, PackyardError, UnavailableError
from packyard.sharing.stores import bucket, open_store
from packyard.sharing.stores.clouds import open_gcs
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError
from sharing.buckets import BUCKET
from sharing.servers import Script, answer, answering, for_ever, redirect

SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQ="  # Azure's keys have to be base64

pytestmark = pytest.mark.usefixtures("clean_environment")

Verb = Callable[[Store], object]


@pytest.fixture(autouse=True)
def _few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket, "ATTEMPTS", 2)
    monkeypatch.setattr(bucket, "PAUSE", 0.01)


@pytest.fixture
def open_at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Store]:
    """Open a store of a kind on a server at an address."""

    def open_at(kind: str, url: str, *, patience: float = 20) -> Store:
        monkeypatch.setattr("packyard.sharing.stores.store.PATIENCE", patience)
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "somebody")
        monkeypatch.setenv("AZURE_STORAGE_KEY", SECRET)
        monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{url}/somebody")
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", url)
        return open_store(f"{kind}://{BUCKET}/zoo")

    return open_at


KINDS = ("s3", "az", "gs")
VERBS: dict[str, Verb] = {
    "get": lambda store: store.get("index/a", limit=1_000_000),
    "put": lambda store: store.put("index/a", b"1"),
    "list": lambda store: store.list(""),
}

HEAD = b'HTTP/1.1 200 OK\r\nLast-Modified: Sun, 22 Nov 2026 10:00:00 GMT\r\nETag: "x"\r\nx-goog-generation: 1\r\n'


NO_KEY = answer(b"<Error><Code>InvalidAccessKeyId</Code></Error>", status=b"403 Forbidden")
LENGTH = HEAD + b"Content-Length: 9000000\r\n\r\n"

#: What a server does whatever it is asked, what is said of it, and by which verbs it is asked.
FAULTS: dict[str, tuple[Script, str, str]] = {
    "slow headers": (for_ever(HEAD, b"X: y\r\n", slow=True), "did not answer in time", "get"),
    "endless headers": (for_ever(HEAD, b"X: y\r\n" * 1000, slow=False), "invalid response", "get put list"),
    "closes": (lambda _: [b""], "closed the connection early", "get put list"),
    "denies": (lambda _: [answer(status=b"403 Forbidden")], r"access denied \(HTTP 403", "get put list"),
    "busy": (lambda _: [answer(b"", status=b"503 Slow Down")], r"answers HTTP 503 .*try again", "get put list"),
    "does not know": (lambda _: [NO_KEY], r"\(HTTP 403: InvalidAccessKeyId\) \(check the key that is set", "get put"),
    "refuses": (lambda _: [answer(b"s3cret", status=b"400 Bad")], "the server answers HTTP 400", "get put list"),
    "a slow body": (for_ever(HEAD + b"Content-Length: 90000\r\n\r\n", b" ", slow=True), "in time", "get"),
    "half a body": (lambda _: [HEAD + b"Content-Length: 9\r\n\r\nhalf"], "closed|invalid response|in time", "get"),
    "an endless body": (for_ever(HEAD + b"\r\n", b" " * 100_000, slow=False), "invalid response|is larger", "get"),
    "a long body": (for_ever(LENGTH, b" " * 1000, slow=True), "is larger than 1000000", "get"),
}


#: Seconds in which a call ends on a machine that is busy: less than the patience of a store that waits for nothing.
SOON = 15


def check_refused(store: Store, verb: Verb, says: str) -> PackyardError:
    begin = time.monotonic()
    with pytest.raises(UnavailableError, match=says) as caught:
        verb(store)
    assert time.monotonic() - begin < SOON
    assert str(caught.value).startswith(store.address)
    assert "\n" not in str(caught.value)
    for hidden in (SECRET, "s3cret", "Signature", "<Error"):
        assert hidden not in f"{caught.value}{caught.value!r}{caught.value.__cause__}{store!r}{store.address}"
    return caught.value


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_call_ends_in_time_and_says_why(open_at: Callable[..., Store], kind: str, fault: str) -> None:
    script, says, verbs = FAULTS[fault]
    with answering(script) as server:
        store = open_at(kind, server.address, patience=1.5 if "in time" in says else 20)
        for verb in verbs.split():
            error = check_refused(store, VERBS[verb], says)
            assert isinstance(error, TooLongError) == ("larger" in str(error))
            assert not isinstance(error, NotFoundError)
    assert server.sent < 50_000_000


@pytest.mark.parametrize("kind", KINDS)
def test_no_redirection_takes_credentials_or_writes_elsewhere(open_at: Callable[..., Store], kind: str) -> None:
    with answering(lambda _: [HEAD + b"Content-Length: 1\r\n\r\n1"]) as other:
        elsewhere = other.address.replace("127.0.0.1", "localhost")
        missing = answer(status=b"404 No")
        with answering(
            lambda request: [missing if b"GET" in request and b"new HTTP" in request else redirect(elsewhere)]
        ) as server:
            store = open_at(kind, server.address)
            with pytest.raises(UnavailableError, match=r"answers HTTP 30|invalid response"):
                store.put("new", b"1")
            assert other.requests == []
            assert store.get("a") == b"1"
    assert all(b"authorization" not in request.lower() for request in other.requests)


def test_a_server_that_refuses_conditions_is_written_to_without(open_at: Callable[..., Store]) -> None:
    there: dict[bytes, bytes] = {}
    found = HEAD + b"Connection: close\r\nContent-Length: 1\r\n\r\n"

    def script(request: bytes) -> list[bytes]:
        method, path = request.split(b" ", 2)[:2]
        if method != b"PUT":
            return [found + there[path] if path in there else answer(status=b"404 No")]
        if b"if-none-match" in request.lower() or b"if-match" in request.lower():
            return [answer(b"<Error><Code>NotImplemented</Code></Error>", status=b"501 Not Implemented")]
        there[path] = request[-1:]
        return [answer(b"", b'ETag: "x"')]

    with answering(script) as server:
        store = open_at("s3", server.address)
        store.put("a", b"1")
        with pytest.raises(ConflictError, match="exists with other content"):
            store.put("a", b"2")
        store.swap("a", b"2", Digest.of(b"1"))
        assert not store.keeps_conditions()
    assert there[b"/models/zoo/a"] == b"2"


# TLS and proxies.


@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_that_nobody_trusts_is_refused(
    open_at: Callable[..., Store], tls: ssl.SSLContext, kind: str
) -> None:
    with answering(lambda _: [HEAD + b"Content-Length: 1\r\n\r\n1"], tls=tls) as server:
        check_refused(open_at(kind, server.address), VERBS["get"], "certificate is not trusted")
    assert server.requests == []


def test_an_endpoint_that_is_no_address_is_refused(open_at: Callable[..., Store]) -> None:
    for kind in ("s3", "az"):
        with pytest.raises(PackyardError, match=r"endpoint '127\.0\.0\.1:9.*' must be an address \(write https://HOST"):
            open_at(kind, "127.0.0.1:9")


@pytest.mark.parametrize("kind", ["s3", "https"])
def test_a_certificate_of_another_time_points_to_the_clock(
    open_at: Callable[..., Store], authority: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority / "expired.pem", authority / "key.pem")
    with answering(lambda _: [answer(b"1")], tls=tls) as server:
        store = open_store(server.address) if kind == "https" else open_at(kind, server.address)
        check_refused(store, VERBS["get"], r"certificate is not valid now.* \(check this computer's clock")


@pytest.mark.parametrize("status", [b"400 Bad Request", b"301 Moved Permanently"])
@pytest.mark.parametrize("says", [True, False])
def test_a_bucket_in_another_region_is_told_with_the_variable_to_set(
    open_at: Callable[..., Store], status: bytes, says: bool
) -> None:
    code = b"AuthorizationHeaderMalformed" if status.startswith(b"400") else b"PermanentRedirect"
    body = b"<Error><Code>%s</Code>%s</Error>" % (code, b"<Region>eu-central-1</Region>" if says else b"")

    def script(request: bytes) -> Iterable[bytes]:
        asks = request.startswith(b"HEAD /models HTTP")
        assert asks == (b"authorization" not in request.lower())
        return [answer(b"" if asks else body, b"x-amz-bucket-region: eu-central-1", status=status)]

    with answering(script) as server:
        store = open_at("s3", server.address)
        problem = r"the region is us-east-1, and the bucket is in eu-central-1 \(HTTP \d+.*set AWS_REGION=eu-central-1"
        check_refused(store, VERBS["get"], problem)
        check_refused(store, VERBS["list"], problem)


def test_a_server_that_has_each_bucket_at_a_host_of_its_own_is_told_and_asked_so(
    open_at: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refusal = answer(b"<Error><Code>SecondLevelDomainForbidden</Code></Error>", status=b"403 Forbidden")
    with answering(lambda _: [refusal]) as server:
        says = "the bucket in the name of the host .*set AWS_VIRTUAL_HOSTED_STYLE_REQUEST=true"
        check_refused(open_at("s3", server.address), VERBS["get"], says)
    config = tmp_path / "config"
    config.write_text("[default]\ns3 =\n  addressing_style = virtual\n")
    for variable, value in (("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true"), ("AWS_CONFIG_FILE", str(config))):
        with monkeypatch.context() as patch, answering(lambda _: [answer(b"1", b"Last-Modified: x")]) as server:
            patch.setenv(variable, value)
            patch.setenv("HTTP_PROXY", server.address)  # in the place of a name server
            store = open_at("s3", "http://storage.example")
            with contextlib.suppress(UnavailableError):
                store.get("a")
        assert server.requests[0].startswith(b"GET http://models.storage.example/zoo/a HTTP/1.1\r\n")


@pytest.mark.parametrize("kind", [*KINDS, "https"])
def test_authorities_of_the_environment_and_of_a_profile_are_trusted(
    open_at: Callable[..., Store],
    tls: ssl.SSLContext,
    authority: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
) -> None:
    ca, config = authority / "ca.pem", tmp_path / "config"
    config.write_text(f"[default]\nca_bundle = {ca}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "ca.pem").write_bytes(ca.read_bytes())
    variables = {"REQUESTS_CA_BUNDLE": ca}
    if kind == "s3":
        variables |= {"AWS_CA_BUNDLE": ca, "AWS_CONFIG_FILE": config, "SSL_CERT_DIR": tmp_path / "folder"}
    for variable, value in variables.items():
        with (
            monkeypatch.context() as patch,
            answering(lambda _: [HEAD + b"Content-Length: 1\r\n\r\n1"], tls=tls) as server,
        ):
            patch.setenv(variable, str(value))
            store = open_store(server.address) if kind == "https" else open_at(kind, server.address)
            assert store.get("a") == b"1"


def test_authorities_that_are_missing_are_told_with_what_names_them(
    open_at: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text("[default]\nca_bundle = /nowhere/ca.pem\n")
    for variable, value, named in (
        ("AWS_CONFIG_FILE", str(tmp_path / "config"), "ca_bundle of the AWS profile"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "SSL_CERT_FILE"),
    ):
        monkeypatch.setenv(variable, value)
        with pytest.raises(PackyardError, match=rf"/nowhere/ca\.pem: cannot be read.*\({named} names it"):
            open_at("s3", "https://127.0.0.1:1")
    with pytest.raises(PackyardError, match=r"/nowhere/ca\.pem: cannot be read.*\(SSL_CERT_FILE names it"):
        open_store("https://127.0.0.1:1").get("a")


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_the_server_breaks_off_is_repeated_whether_it_was_done_or_not(
    open_at: Callable[..., Store], kind: str, is_done: bool
) -> None:
    there: dict[bytes, tuple[int, bytes]] = {}
    broken = list[bytes]()

    def script(request: bytes) -> Iterable[bytes]:
        head, _, body = request.partition(b"\r\n\r\n")
        method, path = head.split(b" ", 2)[:2]
        version, data = there.get(path, (0, b""))
        about = [b"Last-Modified: Sun, 22 Nov 2026 10:00:00 GMT", b'ETag: "%d"' % version]
        about.append(b"x-goog-generation: %d" % version)
        if method == b"GET":
            return [answer(data, *about) if version else answer(status=b"404 No")]
        wanted = re.search(rb'(?i)-match: "?(\d+|\*)', head)
        assert wanted, head
        if int(wanted[1].replace(b"*", b"0")) != version:
            return [answer(status=b"412 Precondition Failed")]
        is_first = body not in broken
        broken.append(body)
        if is_done or not is_first:
            there[path] = (version + 1, body)
        return [] if is_first else [answer(b"", b'ETag: "x"')]

    with answering(script) as server:
        store = open_at(kind, server.address)
        store.put("a", b"1")
        store.swap("a", b"2", Digest.of(b"1"))
        assert store.get("a") == b"2"
        with pytest.raises(ConflictError, match="exists with other content"):
            store.put("a", b"3")
    assert broken == ([b"1", b"2"] if is_done else [b"1", b"1", b"2", b"2"])


# Google's credentials.


def test_credentials_of_google_that_are_of_no_use_are_said_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nowhere")
    with answering(lambda _: [answer(status=b"401 Unauthorized")]) as server:
        with pytest.raises(UnavailableError, match=r"access denied \(HTTP 401\) \(log in: gcloud auth"):
            open_gcs("gs://models/zoo", host=server.address).get("a")
        assert b"authorization" not in server.requests.pop().lower()
        (tmp_path / "account.json").write_text("s3cret")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        with pytest.raises(UnavailableError, match="Google's credentials cannot be read") as caught:
            open_gcs("gs://models/zoo", host=server.address).get("a")
        assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"
        assert server.requests == []


def s3_list(*names: str, more: bool = False) -> bytes:
    """Return a page of what is in a bucket."""
    entry = "<Contents><Key>{}</Key><LastModified>2026-11-22T10:00:00.000Z</LastModified><Size>1</Size></Contents>"
    rest = "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>" if more else ""
    return f"<ListBucketResult>{''.join(map(entry.format, names))}{rest}</ListBucketResult>".encode()


@pytest.mark.parametrize("kind", ["s3", "gs"])
def test_a_list_without_end_ends_at_a_number_of_objects(
    open_at: Callable[..., Store], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("packyard.sharing.stores.store.MOST_KEYS", 5000)
    page = answer(s3_list(*(f"zoo/{number}" for number in range(1000)), more=True))
    with answering(lambda _: [page]) as server:
        check_refused(open_at(kind, server.address), VERBS["list"], "lists more than 5000 objects")
        assert 5 < len(server.requests) < 20


@pytest.mark.parametrize("kind", ["s3", "gs"])
def test_folders_that_consoles_make_and_hidden_names_are_no_objects(open_at: Callable[..., Store], kind: str) -> None:
    with answering(lambda _: [answer(s3_list("zoo/", "zoo/v1/a", "zoo/.x/a", "zoo/v1/.a"))]) as server:
        assert open_at(kind, server.address).list("") == ["v1/a"]
    with answering(lambda _: [answer(s3_list("zoo/a//b"))]) as server:
        check_refused(open_at(kind, server.address), VERBS["list"], "there are other objects, with names")
