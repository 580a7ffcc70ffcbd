"""Stores in buckets, on real servers: the contract of all stores, what each server promises, and its errors."""

from pathlib import Path

import pytest

from packyard.core.errors import InputError, UnavailableError
from packyard.sharing.stores import open_store
from packyard.sharing.stores.bucket import cache_control, content_type
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store
from sharing.buckets import BucketServer, Opener
from sharing.store_contract import StoreContract

pytestmark = pytest.mark.usefixtures("clean_environment")


#: Whether each keeps conditions.
SERVERS = {"on_versitygw": True, "on_rclone": False, "on_azurite": True, "on_gcs": True}


@pytest.fixture(params=SERVERS)
def any_opener(request: pytest.FixtureRequest) -> Opener:
    opener: Opener = request.getfixturevalue(request.param)
    return opener


class TestBuckets(StoreContract):
    @pytest.fixture
    def store(self, any_opener: Opener) -> Store:
        return any_opener()

    @pytest.mark.nightly
    def test_what_is_larger_than_other_objects_may_be_is_put_twice(self, store: Store) -> None:
        super().test_what_is_larger_than_other_objects_may_be_is_put_twice(store)


# What servers promise.


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_asked_what_it_keeps_and_nothing_is_left(name: str, request: pytest.FixtureRequest) -> None:
    store = request.getfixturevalue(name)()
    assert store.keeps_conditions() == SERVERS[name]
    for key in store.list(""):  # rclone may go on to list what it has no more
        with pytest.raises(NotFoundError):
            store.get(key)


def test_a_bucket_that_is_not_there_is_called_so(any_opener: Opener) -> None:
    store = any_opener("no-such-bucket")
    for verb in (
        lambda: store.get("index/a"),
        lambda: store.put("index/a", b"1"),
        lambda: store.swap("index/a", b"1", None),
        lambda: store.list(""),
    ):
        with pytest.raises(MissingStoreError, match=r"no-such-bucket/.*: there is no such bucket .*check the address"):
            verb()


@pytest.mark.parametrize(
    ("name", "variable", "value"),
    [
        ("on_versitygw", "AWS_SECRET_ACCESS_KEY", "s3cret-and-wrong"),
        ("on_versitygw", "AWS_ACCESS_KEY_ID", "s3cret-and-wrong"),
        ("on_azurite", "AZURE_STORAGE_KEY", "s3cretAndWrong=="),
    ],
)
def test_wrong_credentials_are_refused_and_not_shown(
    name: str, variable: str, value: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = request.getfixturevalue(name)
    monkeypatch.setenv(variable, value)
    store = opener()
    for verb in (lambda: store.get("a"), lambda: store.put("a", b"1"), lambda: store.list("")):
        with pytest.raises(
            UnavailableError,
            match=r"access denied \(HTTP 403: \w+\) \((see|check) (what|the key)|answers HTTP 404: XAdmin",
        ) as caught:
            verb()
        assert caught.value.__cause__ is None
        assert "s3cret" not in f"{caught.value}{caught.value!r}{store!r}{store.address}"


# Where S3's credentials come from.


def test_a_profile_gives_keys_or_a_program_for_them_region_and_endpoint(
    versitygw: BucketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".aws").mkdir()
    config = f"[profile zoo]\nregion = eu-north-1\nendpoint_url = {versitygw.url}\n"
    (tmp_path / ".aws" / "config").write_text(f"{config}[default]\nregion = us-west-2\n")
    (tmp_path / ".aws" / "credentials").write_text(
        "[zoo]\naws_access_key_id = test-access-key\naws_secret_access_key = test-secret-key\n"
        "[default]\naws_access_key_id = other\naws_secret_access_key = other\n"
    )
    monkeypatch.setenv("AWS_PROFILE", "zoo")
    monkeypatch.setenv("AWS_REGION", "us-east-1")  # the server's
    store = open_store("s3://models/profile")
    store.put("index/a", b"1")
    said = '{"Version": 1, "AccessKeyId": "test-access-key", "SecretAccessKey": "test-secret-key"}'
    (tmp_path / ".aws" / "config").write_text(f"{config}credential_process = echo '{said}'\n")
    (tmp_path / ".aws" / "credentials").unlink()
    open_store("s3://models/profile").remove("index/a")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(InputError, match=r"AWS profile: .*nobody.* could not be found"):
        open_store("s3://models/profile")


# What hosts are told of objects.


@pytest.mark.parametrize(
    ("key", "kind", "is_immutable"),
    [
        ("index/index.json", "application/json", False),
        (f"index/p/bert/{'0' * 64}.json", "application/json", True),
        ("v1.0/bert.tar.gz", "application/octet-stream", True),
        ("1.0/bert.tar.gz.sha256", "text/plain; charset=utf-8", True),
        ("web/page.js", "text/javascript; charset=utf-8", False),
        ("web/p/bert.html", "text/html; charset=utf-8", False),
    ],
)
def test_says_of_each_object_what_it_is_and_how_long_it_stays(key: str, kind: str, is_immutable: bool) -> None:
    assert (content_type(key), "immutable" in cache_control(key)) == (kind, is_immutable)
