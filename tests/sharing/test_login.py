"""Where the credentials for a registry come from, how it learns who we are, and who else does not."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.oci.login import Account, accounts
from sharing.examples import bundle
from sharing.servers import Script, Server, answer, answering, redirect
from sharing.test_oci_hostile import BODY, KEY, oci
from sharing.test_oci_hostile import MANIFEST as DOCUMENT

pytestmark = pytest.mark.usefixtures("clean_environment")

HOST = "registry.example:5000"
ADA = Account(user="ada", password="s3cr:t")


def auth(user: str = "ada", password: str = "s3cr:t") -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


class Home:
    """A home directory with files of credentials, and programs that give some."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.environment = {"HOME": str(folder)}
        self.told: list[str] = []
        (folder / "bin").mkdir()
        monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")

    def write(self, name: str, document: object) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return file

    def helper(self, name: str, script: str) -> None:
        file = self.write(f"bin/docker-credential-{name}", f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def find(self, address: str = f"oci://{HOST}/zoo/models") -> Account | None:
        parsed = Address.parse(address)
        return next(accounts(parsed, self.environment, self.told.append), None)

    def user(self) -> str:
        found = self.find()
        assert found
        return found.user


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        *((f"oci://{HOST}/zoo/models", name) for name in (HOST, f"https://{HOST}/v2/", HOST.upper(), f"{HOST}/zoo")),
        ("oci://zoo.example:443/v", "zoo.example"),
        ("oci://zoo.example/v", "https://zoo.example:443/v2/"),
        ("oci://docker.io/zoo", "https://index.docker.io/v1/"),
        ("oci://docker.io/zoo", "docker.io"),
    ],
)
def test_a_registry_is_found_by_any_of_its_names(home: Home, address: str, name: str) -> None:
    assert home.find(address) is None
    home.write(".docker/config.json", {"auths": {"other.example": auth("eve"), name: auth()}})
    assert home.find(address) == ADA


def test_the_entry_of_the_nearest_folder_counts_and_none_of_another_one(home: Home) -> None:
    entries = {name: auth("eve") for name in ("registry.example", f"{HOST}/zo", f"{HOST}/zoo/models/x", "x" + HOST)}
    home.write(".docker/config.json", {"auths": entries})
    assert home.find() is None
    for folder in ("", "/zoo", "/zoo/models"):
        entries[HOST + folder] = auth(folder or "all")
        home.write(".docker/config.json", {"auths": entries})
        assert home.user() == (folder or "all")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"username": "ada", "password": "s3cr:t"}, ADA),
        (auth("ada", "s3cr:t\0\0"), ADA),
        (auth("_json_key", '{"key": "a:b\\n"}'), Account(user="_json_key", password='{"key": "a:b\\n"}')),
        ({"auth": f"{auth()['auth'][:5]}\n{auth()['auth'][5:]}\n"}, ADA),
        ({"identitytoken": "i"}, Account("<token>", "i")),
        ({**auth("<token>", ""), "identitytoken": "i"}, Account("<token>", "i")),
        (auth("", ""), None),
        ({"auth": 5}, None),
    ],
)
def test_an_entry_is_a_user_and_password_or_a_token(home: Home, entry: object, expected: Account | None) -> None:
    home.write(".docker/config.json", {"auths": {HOST: entry}})
    assert home.find() == expected


def test_the_files_count_in_their_order(home: Home) -> None:
    home.environment["REGISTRY_AUTH_FILE"] = str(home.folder / "override.json")
    for name in (".docker/config.json", "override.json"):
        home.write(name, {"auths": {HOST: auth(name)}})
        assert home.user() == name
    home.write("override.json", {"auths": {}})
    assert home.user() == ".docker/config.json"
    home.environment["DOCKER_CONFIG"] = str(home.folder / "docker")
    assert home.find() is None
    home.write("docker/config.json", {"auths": {HOST: auth()}})
    assert home.find() == ADA


ANSWER = """test "$1" = get && cat > "$0.asked" && echo '{"ServerURL": "x", "Username": "%s", "Secret": "%s"}'"""


@pytest.mark.parametrize(
    ("address", "asked"),
    [("oci://docker.io/zoo", "https://index.docker.io/v1/"), ("oci://zoo.example/v", "zoo.example")],
)
def test_a_helper_is_asked_for_the_registry_by_its_name(home: Home, address: str, asked: str) -> None:
    home.helper("cloud", ANSWER % ("<token>", "i"))
    home.write(".docker/config.json", {"credsStore": "cloud"})
    assert home.find(address) == Account("<token>", "i")
    assert (home.folder / "bin/docker-credential-cloud.asked").read_text() == asked


def test_the_helper_of_a_registry_goes_before_the_store_and_that_before_the_file(home: Home) -> None:
    for name in ("one", "two"):
        home.helper(name, ANSWER % (name, "s3cr:t"))
    home.write(".docker/config.json", {"credHelpers": {HOST: "one"}, "credsStore": "two", "auths": {HOST: auth()}})
    for user, helper in (("one", "one"), ("two", "two"), ("ada", "")):
        assert home.find() == Account(user=user, password="s3cr:t")
        if helper:
            home.helper(helper, "echo 'credentials not found in native keychain'; exit 1")


@pytest.mark.parametrize("script", ["echo something else; exit 1", "echo no JSON", "kill -9 $$", ""])
def test_a_helper_that_fails_is_named_and_what_it_says_is_not_shown(home: Home, script: str) -> None:
    if script:
        home.helper("cloud", f"echo s3cret >&2; {script}")
    home.write(".docker/config.json", {"credsStore": "cloud", "auths": {HOST: auth()}})
    assert home.find() == ADA
    assert home.told[0].startswith("docker-credential-cloud: the credential helper does not work")
    assert "s3cret" not in home.told[0]


@pytest.mark.parametrize(
    "document", ["x", "[" * 100_000, json.dumps({"auths": {HOST: {"auth": "s3cr=t"}}})], ids=["text", "deep", "auth"]
)
def test_a_file_that_cannot_be_understood_is_named_without_what_is_in_it(home: Home, document: str) -> None:
    home.environment["REGISTRY_AUTH_FILE"] = str(file := home.write("override.json", document))
    home.write(".docker/config.json", {"auths": {HOST: auth()}})
    assert home.find() == ADA
    assert str(file) in home.told[0]
    assert "s3cr" not in home.told[0]


# How a registry is asked.


def test_an_address_says_how_the_registry_is_asked() -> None:
    asked = {
        "oci://localhost:5000/a": "http://localhost:5000",
        "oci://127.1.2.3/a": "http://127.1.2.3",
        "oci://[::1]:5000/a": "http://[::1]:5000",
        "oci://h.example/a": "https://h.example",
        "oci+http://h.example/a": "http://h.example",
        "oci+https://localhost/a": "https://localhost",
        "oci://docker.io/a": "https://registry-1.docker.io",
        "OCI://H.Example": "https://h.example",
        "oci://h.example:443/b": "https://h.example",
        "oci://h.example:80/b": "https://h.example:80",
        "oci://127.0.0.1:80/b": "http://127.0.0.1",
    }
    assert {address: Address.parse(address).url for address in asked} == asked
    assert str(Address.parse("oci://h.example/a/b/")) == "oci://h.example/a/b"
    assert Address.parse("oci://h.example:443/a") == Address.parse("oci+https://h.example/a")


# Who else learns who we are.

BERT = bundle()
MANIFEST = json.dumps(DOCUMENT).encode()


def log_in(folder: Path, server: str, **entry: str) -> None:
    host = server.partition("//")[2]
    (folder / "config.json").write_text(json.dumps({"auths": {host: entry or auth()}}))


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
        log_in(tmp_path, server.address)
        assert oci(server).get(KEY) == BODY
    assert len(authorized(server)) == 2
    assert authorized(cdn) == []


def test_where_the_bytes_are_to_be_sent_elsewhere_no_authorization_goes_there(tmp_path: Path) -> None:
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
        log_in(tmp_path, server.address)
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
            log_in(tmp_path, server.address)
            assert oci(server).get(KEY) == BODY
            log_in(tmp_path, server.address, identitytoken="s3cr+t")
            assert oci(server).get(KEY) == BODY
    assert set(authorized(server)) == {b"Authorization: Bearer t0ken"}
    assert authorized(issuer) == [b"Authorization: Basic " + base64.b64encode(b"ada:s3cr:t")]
    named = b"service=a+b&scope=repository%3Am%2Fbert%3Apull"
    assert b"GET /t?a=b&" + named + b" " in issuer.requests[0]
    form = b"grant_type=refresh_token&refresh_token=s3cr%2Bt&client_id=packyard&" + named
    assert issuer.requests[-1].startswith(b"POST /t?a=b ")
    assert issuer.requests[-1].endswith(form)


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


@pytest.mark.parametrize("realm", ["http://tokens.invalid/x", "", "http://[", "file:///etc"])
def test_a_password_is_not_sent_to_a_token_server_without_tls(realm: str, tmp_path: Path) -> None:
    with answering(registry(b'Bearer realm="%s"' % realm.encode())) as server:
        log_in(tmp_path, server.address)
        with pytest.raises(UnavailableError, match="names a token server without TLS"):
            oci(server).get(KEY)
    assert authorized(server) == []


@pytest.mark.parametrize(
    "body", [b"{}", b"x", b'{"token": 5}', b'{"token": "x\\r\\nX-Evil: y"}', bytes(5_000_000)], ids=len
)
def test_what_is_no_token_is_refused(body: bytes) -> None:
    with answering(lambda _: [answer(body)]) as issuer:
        challenge = b'Bearer realm="%s/"' % issuer.address.encode()
        with (
            answering(registry(challenge)) as server,
            pytest.raises(PackyardError, match=r"no token|larger|JSON|a text"),
        ):
            oci(server).get(KEY)
    assert authorized(server) == []


def test_over_plain_http_to_another_machine_nothing_secret_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(registry(b"Basic")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        log_in(tmp_path, "oci://registry.invalid")
        with pytest.raises(UnavailableError, match="access denied"):
            OCIStore("oci+http://registry.invalid/m").get(KEY)
    assert proxy.requests
    assert authorized(proxy) == []
