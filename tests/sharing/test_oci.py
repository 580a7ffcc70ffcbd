"""The store in a registry, with real ones, and read by the clients of others."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

import real
import sample
from packyard.core.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, UnavailableError
from packyard.sharing.stores import http, open_store
from packyard.sharing.stores.oci.address import ArtifactAddress
from packyard.sharing.stores.oci.repositories import OCIStore
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store, TooLongError
from sharing.examples import bundle
from sharing.store_contract import StoreContract

BERT = bundle("bert", "1.2.0+cpu", "hello")
KEY = "1.2.0+cpu/bert.tar.gz"
ENDS = (".sha256", ".intoto.json", ".spdx.json", ".sigstore.json")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep proxies, and credentials of whoever runs the tests, away."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))


def anywhere(host: str) -> str:
    """Return the address of a channel that nobody else uses."""
    return f"oci://{host}/c-{uuid.uuid4().hex}/models"


class TestRegistry3(StoreContract):
    @pytest.fixture
    def store(self, registry3: str) -> Store:
        return open_store(anywhere(registry3))


class TestRegistry2(StoreContract):
    @pytest.fixture
    def store(self, registry2: str) -> Store:
        return OCIStore(anywhere(registry2))


class TestRegistryWithReferrers(StoreContract):
    @pytest.fixture
    def store(self, registry_with_referrers: str) -> Store:
        return OCIStore(anywhere(registry_with_referrers))


class TestRegistryWithoutDeletes(StoreContract):
    @pytest.fixture
    def store(self, registry_without_deletes: str) -> Store:
        return OCIStore(anywhere(registry_without_deletes))


@pytest.fixture(params=["registry3", "registry2", "registry_with_referrers", "registry_without_deletes"])
def store(request: pytest.FixtureRequest) -> OCIStore:
    return OCIStore(anywhere(request.getfixturevalue(request.param)))


def ask(store: OCIStore, repository: str, path: str, **named: Any) -> requests.Response:
    """Send a request of the test's own."""
    host, _, channel = store.address.removeprefix("oci://").partition("/")
    url = f"http://{host}/v2/{channel}/{repository}/{path}"
    method = named.pop("method", "GET")
    return requests.request(
        method, url, timeout=300, headers={"Accept": f"{MANIFEST}, {INDEX}", "Content-Type": MANIFEST}, **named
    )


def publish(store: Store, key: str = KEY, data: bytes = BERT.data) -> None:
    """Put a bundle, and all that is published with it."""
    store.put(key, data)
    for end in ENDS:
        store.put(key + end, f"{end} of {key}\n".encode())


# What is in the registry.


def test_a_bundle_is_an_artifact_with_one_layer_and_the_release_is_its_tag(store: OCIStore) -> None:
    publish(store)
    manifest = ask(store, "bert", "manifests/1.2.0_-cpu").json()
    assert manifest["mediaType"] == MANIFEST
    assert manifest["artifactType"] == "application/vnd.packyard.bundle.v1"
    assert manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
    (layer,) = manifest["layers"]
    assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip"
    assert (layer["digest"], layer["size"]) == (Digest.of(BERT.data), len(BERT.data))
    assert layer["annotations"] == {"org.opencontainers.image.title": "bert.tar.gz"}
    assert manifest["annotations"]["org.opencontainers.image.title"] == "bert"
    assert manifest["annotations"]["org.opencontainers.image.version"] == "1.2.0+cpu"


def test_the_same_bundle_has_the_same_manifest_in_every_channel(registry2: str, registry3: str) -> None:
    stores = [OCIStore(anywhere(registry2)), OCIStore(anywhere(registry3))]
    for each in stores:
        publish(each)
    first, second = (ask(each, "bert", "manifests/1.2.0_-cpu").content for each in stores)
    assert first == second


def test_what_is_published_with_a_bundle_refers_to_it(store: OCIStore) -> None:
    publish(store)
    data = ask(store, "bert", "manifests/1.2.0_-cpu").content
    digest = str(Digest.of(data))
    listed = ask(store, "bert", f"referrers/{digest}")
    if listed.status_code == 404:
        listed = ask(store, "bert", f"manifests/{digest.replace(':', '-')}")
        assert {each["artifactType"] for each in listed.json()["manifests"]} == {
            "application/vnd.packyard.checksum.v1",
            "application/vnd.in-toto+json",
            "application/spdx+json",
            "application/vnd.dev.sigstore.bundle.v0.3+json",
        }
    referrers = [ask(store, "bert", f"manifests/{each['digest']}").json() for each in listed.json()["manifests"]]
    subject = {"mediaType": MANIFEST, "digest": digest, "size": len(data)}
    assert [each["subject"] for each in referrers] == [subject] * len(ENDS)
    assert {each["layers"][0]["mediaType"] for each in referrers} == {
        "text/plain",
        "application/vnd.dsse.envelope.v1+json",
        "application/spdx+json",
        "application/vnd.dev.sigstore.bundle.v0.3+json",
    }
    for end in ENDS:
        assert store.get(KEY + end) == f"{end} of {KEY}\n".encode()


def test_what_is_published_without_a_bundle_refers_to_nothing(store: OCIStore) -> None:
    store.put(f"{KEY}.sha256", b"1")
    assert "subject" not in ask(store, "bert", "manifests/1.2.0_-cpu_.sha256").json()
    assert store.get(f"{KEY}.sha256") == b"1"


def test_a_list_of_referrers_keeps_those_of_others(registry3: str) -> None:
    store = OCIStore(anywhere(registry3))
    store.put(KEY, BERT.data)
    tag = str(Digest.of(ask(store, "bert", "manifests/1.2.0_-cpu").content)).replace(":", "-")
    foreign = json.loads(ask(store, "bert", "manifests/1.2.0_-cpu").content)
    foreign["annotations"] = {"by": "another"}
    data = json.dumps(foreign).encode()
    assert ask(store, "bert", f"manifests/{Digest.of(data)}", method="PUT", data=data).status_code == 201
    entry = {
        "mediaType": MANIFEST,
        "digest": Digest.of(data),
        "size": len(data),
        "x-kept": [1],
        "annotations": {"a": "b"},
    }
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    host, _, channel = store.address.removeprefix("oci://").partition("/")
    url = f"http://{host}/v2/{channel}/bert/manifests/{tag}"
    put = requests.put(url, json.dumps(index), headers={"Content-Type": INDEX}, timeout=300)
    assert put.status_code == 201
    store.put(f"{KEY}.sha256", b"1")
    store.put(f"{KEY}.sha256", b"1")
    manifests = ask(store, "bert", f"manifests/{tag}").json()["manifests"]
    assert manifests[0] == entry
    assert len(manifests) == 2


def test_where_tags_are_immutable_a_list_of_referrers_that_cannot_grow_is_no_failure(registry2: str) -> None:
    store = OCIStore(anywhere(registry2))
    put = store._registry.put_manifest

    def immutable(repository: str, reference: str, data: bytes, media_type: str) -> http.Answer:
        if reference.startswith("sha256-") and store._registry.manifest(repository, reference):
            return http.Answer(status=409, url="", headers={})
        return put(repository, reference, data, media_type)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store._registry, "put_manifest", immutable)
        publish(store)
    assert len(referrers(store)) == 1
    assert store.list("") == sorted([KEY, *(KEY + end for end in ENDS)])


def test_lists_bundles_and_what_was_published_with_them_of_all_names(store: OCIStore) -> None:
    keys = [KEY, "v2_7_0/bert.tar.gz", "1.2.0+cpu/gpt-2.tar.gz", "1.2.0+cpu/index.tar.gz"]
    for key in keys:
        publish(store, key)
    store.put("index/x/1.json", b"1")
    expected = sorted([key + end for key in keys for end in ("", *ENDS)])
    assert store.list("") == sorted([*expected, "index/x/1.json"])
    assert store.list("1.2.0+cpu/gpt") == [key for key in expected if "gpt" in key]
    assert store.list("v2") == [key for key in expected if key.startswith("v2")]
    assert store.list("index") == ["index/x/1.json"]


def test_does_not_list_tags_of_others(registry3: str) -> None:
    store = OCIStore(anywhere(registry3))
    store.put(KEY, BERT.data)
    data = ask(store, "bert", "manifests/1.2.0_-cpu").content
    for tag in ("latest", "sha256-" + "0" * 64, "sha256-" + "0" * 64 + ".sig", "1.2_.0", "1.2_.other", "_.x"):
        assert ask(store, "bert", f"manifests/{tag}", method="PUT", data=data).status_code == 201
    assert store.list("") == [KEY]


@pytest.mark.parametrize("key", [f"1.{'2' * 126}/bert.tar.gz", "index/yanked/" + "1" * 100 + "/" + "a" * 60, "z" * 500])
def test_a_key_that_is_too_long_for_a_tag_is_kept_all_the_same(store: OCIStore, key: str) -> None:
    store.put(key, b"1")
    store.put(f"{key}.sha256", b"2")
    assert (store.get(key), store.get(f"{key}.sha256")) == (b"1", b"2")
    assert store.list(key) == [key, f"{key}.sha256"]


def test_a_shard_of_the_index_is_read_by_its_digest_in_one_request(
    store: OCIStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = Digest.of(b"node")
    key = f"index/{digest.hex}.json"
    store.put(key, b"node")
    store.put(key, b"node")
    assert store.list("index/") == [key]
    monkeypatch.setattr(store._registry, "manifest", None)
    assert store.get(key) == b"node"
    with pytest.raises(TooLongError):
        store.get(key, limit=3)
    with pytest.raises(NotFoundError):
        store.get(f"index/p/bert/{'0' * 64}.json")


def test_a_record_with_another_digest_than_its_key_is_refused(store: OCIStore) -> None:
    with pytest.raises(IntegrityError, match="is to have sha256:0000"):
        store.put(f"index/p/bert/{'0' * 64}.json", b"1")
    assert store.list("") == []


def test_a_writer_that_is_overtaken_says_so(store: OCIStore, monkeypatch: pytest.MonkeyPatch) -> None:
    other = OCIStore(store.address)

    def between(*arguments: Any) -> Any:
        monkeypatch.undo()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        answer = put(*arguments)
        overwrite()
        return answer

    def overwrite() -> None:
        host, _, channel = store.address.removeprefix("oci://").partition("/")
        url = f"http://{host}/v2/{channel}/bert/manifests/"
        data = requests.get(f"{url}2", headers={"Accept": MANIFEST}, timeout=300).content
        assert requests.put(f"{url}1", data, headers={"Content-Type": MANIFEST}, timeout=300).status_code == 201

    other.put("2/bert.tar.gz", b"other")
    put = store._registry.put_manifest
    monkeypatch.setattr(store._registry, "put_manifest", between)
    with pytest.raises(ConflictError, match="exists with other content"):
        store.put("1/bert.tar.gz", b"mine")


def test_a_tag_that_is_taken_by_something_else_is_left_alone(registry3: str) -> None:
    store = OCIStore(anywhere(registry3))
    store.put(KEY, BERT.data)
    document = ask(store, "bert", "manifests/1.2.0_-cpu").json()
    image = json.dumps({**document, "layers": document["layers"] * 2}).encode()
    assert ask(store, "bert", "manifests/3.0", method="PUT", data=image).status_code == 201
    for verb in (store.get, lambda key: store.put(key, b"1"), lambda key: store.swap(key, b"1", None)):
        with pytest.raises(IntegrityError, match=r"bert:3\.0: has 2 layers instead of one"):
            verb("3.0/bert.tar.gz")


# Addresses.


@pytest.fixture
def at(store: OCIStore) -> Callable[[str], bytes]:
    publish(store)

    def get(mark: str) -> bytes:
        address = ArtifactAddress.parse(f"{store.address}/bert{mark}")
        assert address
        return b"".join(store.at(address.name, address.reference)[1](0))

    return get


def test_a_bundle_is_got_by_its_tag_its_version_or_its_digest(store: OCIStore, at: Callable[[str], bytes]) -> None:
    digest = Digest.of(ask(store, "bert", "manifests/1.2.0_-cpu").content)
    for mark in (":1.2.0+cpu", ":1.2.0_-cpu", f"@{digest}", f":1.2.0_-cpu@{digest}", f":latest@{digest}"):
        assert Bundle.open(at(mark)) == BERT
    with pytest.raises(NotFoundError, match=r"oci://.*/bert:1\.2\.1: not found"):
        at(":1.2.1")
    with pytest.raises(NotFoundError, match=r"bert@sha256:0000.*: not found"):
        at(f"@sha256:{'0' * 64}")


def test_a_channel_is_no_artifact_and_the_other_way_round() -> None:
    for address in (
        "oci://h:5000/models",
        "oci://h/a/b",
        "oci://h:5000",
        "https://h/a:1",
        "bert@1.0",
        "/x/y:1",
        "oci://h",
    ):
        assert ArtifactAddress.parse(address) is None
    found = ArtifactAddress.parse(f"oci://u:p@h:5000/a/b/bert:1.0@sha256:{'0' * 64}")
    assert found
    assert (str(found.channel), found.name, found.tag, found.digest) == (
        "oci://h:5000/a/b", "bert", "1.0", f"sha256:{'0' * 64}",
    )  # fmt: skip
    assert "p@" not in repr(found)


@pytest.mark.parametrize(
    "address",
    [
        "oci://h/a/B:1",
        "oci://h/a/b:",
        "oci://h/a/b:1/2:",
        "oci://h/a/b:.x",
        "oci://h/a/b@sha256:123",
        "oci://h/a/b:a b",
    ],
)
def test_an_odd_address_of_an_artifact_is_refused(address: str) -> None:
    with pytest.raises(InputError):
        ArtifactAddress.parse(address)


@pytest.mark.parametrize(
    "address",
    ["oci://", "oci:///x", "oci://h/UPPER", "oci://h/a?b", "oci://h/a#b", "oci://h:x/a", "oci://h:0/a", "oci://[::1/a",
     "oci://h/a//b", "oci://h/../a", "oci://h/a/%41", "oci://h\n/a", "oci://h/" + "a" * 300, "oci://é/a",
     "oci+http://user:secret@registry.example/x"],
)  # fmt: skip
def test_an_odd_address_of_a_channel_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError) as caught:
        open_store(address)
    assert "secret" not in str(caught.value)


def test_an_address_says_how_the_registry_is_asked() -> None:
    from packyard.sharing.stores.oci.address import Address

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
    assert str(Address.parse("oci://user:secret@h.example/a/b/")) == "oci://h.example/a/b"
    assert Address.parse("oci://h.example:443/a") == Address.parse("oci+https://h.example/a")
    assert "secret" not in repr(open_store("oci://user:secret@h.example/a/b/"))


def test_a_server_that_is_no_registry_is_said_to_be_none(tmp_path: Path) -> None:
    with real.serve(tmp_path) as address, pytest.raises(MissingStoreError, match="is no registry"):
        open_store(address.replace("http://", "oci://") + "/models").get("index/index.json")


def test_what_was_published_with_a_bundle_is_got_by_its_address(store: OCIStore) -> None:
    publish(store)
    digest = Digest.of(ask(store, "bert", "manifests/1.2.0_-cpu").content)
    for mark in (":1.2.0+cpu", f"@{digest}"):
        address = ArtifactAddress.parse(f"{store.address}/bert{mark}")
        assert address
        for end in ENDS:
            assert store.published_with("bert", address.reference, end) == f"{end} of {KEY}\n".encode()
    store.put("2.0/bert.tar.gz", b"alone")
    assert store.published_with("bert", "2.0", ".intoto.json") is None


# The clients of others.


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reference(store: OCIStore) -> str:
    return f"{store.address.removeprefix('oci://')}/bert:1.2.0_-cpu"


def test_oras_pulls_the_file_and_sees_what_refers_to_it(store: OCIStore, tmp_path: Path) -> None:
    publish(store)
    oras = real.pinned_program("oras")
    run(oras, "pull", "--plain-http", reference(store), "-o", tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["bert.tar.gz"]
    assert (tmp_path / "out" / "bert.tar.gz").read_bytes() == BERT.data
    found = json.loads(run(oras, "discover", "--plain-http", "--format", "json", reference(store)))
    assert len(found.get("referrers") or found["manifests"]) == 4  # checksum, provenance, SBOM, Sigstore bundle


def test_crane_and_skopeo_copy_the_bundle_unchanged(store: OCIStore, tmp_path: Path) -> None:
    publish(store)
    crane = real.pinned_program("crane")
    host, _, _ = reference(store).rpartition(":")
    blob = subprocess.run([crane, "blob", "--insecure", f"{host}@{Digest.of(BERT.data)}"], capture_output=True)
    assert blob.stdout == BERT.data
    run(crane, "pull", "--insecure", "--format=oci", reference(store), tmp_path / "oci")
    assert (tmp_path / "oci" / "blobs" / "sha256" / Digest.of(BERT.data).hex).read_bytes() == BERT.data
    run(
        real.program("skopeo"),
        "--insecure-policy",
        "copy",
        "--src-tls-verify=false",
        f"docker://{reference(store)}",
        f"dir:{tmp_path}/out",
    )
    assert (tmp_path / "out" / Digest.of(BERT.data).hex).read_bytes() == BERT.data


def test_what_crane_and_skopeo_copied_to_another_registry_is_the_same_channel(
    registry3: str, registry_with_referrers: str
) -> None:
    store, to = OCIStore(anywhere(registry3)), OCIStore(anywhere(registry_with_referrers))
    publish(store)
    run(real.pinned_program("crane"), "copy", "--insecure", reference(store), reference(to))
    assert to.get(KEY) == BERT.data
    publish(to)
    again = OCIStore(anywhere(registry3))
    run(
        real.program("skopeo"), "--insecure-policy", "copy", "--src-tls-verify=false", "--dest-tls-verify=false",
        f"docker://{reference(to)}", f"docker://{reference(again)}",
    )  # fmt: skip
    assert again.get(KEY) == BERT.data


@pytest.mark.parametrize("to", ["registry2", "registry_with_referrers"])
def test_what_oras_copied_with_all_that_refers_to_it_is_found(
    registry3: str, to: str, request: pytest.FixtureRequest
) -> None:
    first, second = OCIStore(anywhere(registry3)), OCIStore(anywhere(request.getfixturevalue(to)))
    publish(first)
    plain = ("--from-plain-http", "--to-plain-http")
    run(real.pinned_program("oras"), "copy", "--recursive", *plain, reference(first), reference(second))
    assert second.get(KEY) == BERT.data
    for end in ENDS:
        assert second.get(KEY + end) == first.get(KEY + end)
    with pytest.raises(NotFoundError):
        second.get("1.0/bert.tar.gz.sha256")


def test_flux_unpacks_what_the_tar_has(store: OCIStore, tmp_path: Path) -> None:
    publish(store)
    (tmp_path / "flux").mkdir()
    run(real.pinned_program("fluxoci"), reference(store), tmp_path / "flux")
    (tmp_path / "tar").mkdir()
    BERT.unpack(tmp_path / "tar")
    run(real.program("diff"), "-r", tmp_path / "flux", tmp_path / "tar")
    assert (tmp_path / "flux" / "bert" / "README.md").read_text() == "hello"


def test_argo_cd_takes_the_manifest(store: OCIStore) -> None:
    """The rule of argo-cd 3.1 and later, util/oci/client.go: one content layer, of a media type that is allowed.

    A content layer's type ends in ``tar``, ``tar+gzip`` or ``tar.gzip``; allowed by default are the three below. There
    are at most ten layers, and a configuration of Helm means a chart. Its semver ranges skip tags that are no versions.
    """
    publish(store)
    manifest = ask(store, "bert", "manifests/1.2.0_-cpu").json()
    allowed = {
        "application/vnd.oci.image.layer.v1.tar",
        "application/vnd.oci.image.layer.v1.tar+gzip",
        "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
    }
    content = [each["mediaType"] for each in manifest["layers"] if each["mediaType"].endswith(("tar", "tar+gzip"))]
    assert len(content) == 1
    assert set(content) <= allowed
    assert manifest["config"]["mediaType"] != "application/vnd.cncf.helm.config.v1+json"


def test_what_oras_pushed_by_hand_is_got_too(registry3: str, tmp_path: Path) -> None:
    store = OCIStore(anywhere(registry3))
    (tmp_path / "bert.tar.gz").write_bytes(BERT.data)
    layer = "bert.tar.gz:application/vnd.oci.image.layer.v1.tar+gzip"
    subprocess.run(
        [real.pinned_program("oras"), "push", "--plain-http", reference(store), layer],
        cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip
    assert store.get(KEY) == BERT.data
    store.put(KEY, BERT.data)


def test_a_registry_that_is_gone_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="cannot be reached"):
        OCIStore("oci://127.0.0.1:1/models").get(KEY)


# Interruptions.


def requests_of(monkeypatch: pytest.MonkeyPatch, *, fail_at: int = 0, done: bool = False) -> list[str]:
    """Return the list that the requests of a publish are added to; one of them fails before, or after, it is done."""
    asked: list[str] = []
    send = http.send

    def counted(request: http.Request) -> http.Answer:
        asked.append(f"{request.method} {request.url}")
        if len(asked) == fail_at and not done:
            raise UnavailableError("cut off")
        answer = send(request)
        if len(asked) == fail_at:
            raise UnavailableError("cut off")
        return answer

    monkeypatch.setattr(http, "send", counted)
    return asked


def whole_publish(store: Store) -> None:
    publish(store)
    store.put("index/x/1.json", b"1")
    store.swap("index/index.json", b"1", None)
    store.remove("index/x/1.json")


@pytest.mark.parametrize("kind", ["registry3", "registry_with_referrers", "registry_without_deletes"])
def test_a_publish_that_ends_at_any_request_leaves_nothing_wrong_and_is_completed_by_the_next(
    kind: str, request: pytest.FixtureRequest
) -> None:
    host = request.getfixturevalue(kind)
    with pytest.MonkeyPatch.context() as patch:
        store = OCIStore(anywhere(host))
        asked = requests_of(patch)
        whole_publish(store)
    expected = {key: store.get(key) for key in store.list("")}
    assert len(expected) == 2 + len(ENDS)
    cases = [(fail_at, done) for fail_at in range(1, len(asked) + 1) for done in (False, True)]
    for fail_at, done in sample.some(cases, lambda case: (case[1], *kind_of(asked[case[0] - 1])), of=kind):
        store = OCIStore(anywhere(host))
        with pytest.MonkeyPatch.context() as patch:
            requests_of(patch, fail_at=fail_at, done=done)
            with pytest.raises(UnavailableError, match="cut off"):
                whole_publish(store)
        store = OCIStore(store.address)
        found = store.list("")
        assert all(store.get(key) == expected.get(key, b"1") for key in found)
        publish(store)
        store.put("index/x/1.json", b"1")
        if "index/index.json" not in found:
            store.swap("index/index.json", b"1", None)
        store.remove("index/x/1.json")
        assert {key: store.get(key) for key in store.list("")} == expected
        assert len(referrers(store)) == len(ENDS), (fail_at, done, asked[fail_at - 1])


def kind_of(request: str) -> tuple[str, str]:
    """Return what a request is for."""
    method, _, url = request.partition(" ")
    return method, "".join(
        part for part in ("/bert/", "/index/", "manifests", "blobs", "upload", "_.", "sha256") if part in url
    )


def referrers(store: OCIStore) -> list[str]:
    """Return the digests of what a registry, or a tag, lists for the bundle."""
    digest = str(Digest.of(ask(store, "bert", "manifests/1.2.0_-cpu").content))
    listed = ask(store, "bert", f"referrers/{digest}")
    if listed.status_code == 404:
        listed = ask(store, "bert", f"manifests/{digest.replace(':', '-')}")
    return sorted(each["digest"] for each in listed.json()["manifests"])


def test_publishers_of_one_bundle_at_once_lose_nothing_of_it(store: OCIStore) -> None:
    stores = [OCIStore(store.address) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(publish, stores))
    assert store.list("") == sorted([KEY, *(KEY + end for end in ENDS)])
    assert {store.get(KEY + end) for end in ENDS} == {f"{end} of {KEY}\n".encode() for end in ENDS}
