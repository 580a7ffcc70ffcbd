"""Where the credentials for a registry come from."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.login import Account, accounts

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
        ({"identitytoken": "i"}, Account(identity="i")),
        ({**auth("<token>", ""), "identitytoken": "i"}, Account(user="<token>", identity="i")),
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
    assert home.find(address) == Account(identity="i")
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
