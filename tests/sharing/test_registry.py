"""A channel in a registry: a package is a repository, a version a tag, what is known of it refers to it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tiny
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, PackyardError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching import fetch as fetching
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores import open_store
from packyard.sharing.stores.client import Answer, Client, Request
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.store import DeniedError, MissingStoreError, Store
from sharing.examples import bundle, close, compressed_otherwise, fetch, publish
from sharing.own_registry import Registry, running

BERT = bundle("bert", "1.2.0+cpu", "hello")
KEY = "1.2.0+cpu/bert.tar.gz"
QUIRKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no referrers": {"has_referrers": False},
    "no types": {"types": False},
    "tokens": {"tokens": True},
    "hides by 401": {"hides": 401, "tokens": True},
    "hides by 403": {"hides": 403},
    "small pages": {"page": 2},
    "mounts": {"mounts": True},
    "busy": {"busy": 2},
}


pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running(Registry()) as started:
        yield started


@pytest.fixture(params=QUIRKS)
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    with running(Registry(**QUIRKS[request.param])) as started:
        log_in(tmp_path, started)
        yield started


def log_in(folder: Path, registry: Registry, *, user: str = "ada", password: str = "s3cr:t", **more: object) -> None:
    login = {"auths": {registry.host: {"username": user, "password": password}}}
    (folder / "config.json").write_text(json.dumps({**login, **more}))


def said(entry: IndexEntry) -> dict[str, bytes]:
    """Return something to be published with a bundle."""
    return {entry.beside(".spdx.json"): f"about {entry}\n".encode()}


# What users do, on every registry.


def test_publishes_lists_yanks_closes_copies_and_removes(odd: Registry, tmp_path: Path) -> None:
    store = open_store(odd.address)
    for version in ("1.0", "1.1", "2.0-rc1"):
        publish(store, [bundle(version=version), bundle("gpt-2", version)], attest=said)
    assert [(row.name, row.version) for row in access.read(store).summaries()] == [("bert", "1.1"), ("gpt-2", "1.1")]
    assert fetch(store, "bert") == bundle(version="1.1")
    assert fetch(store, "bert@^2.0-rc1") == bundle(version="2.0-rc1")

    assert yank(store, "bert@1.1", "diverges")[1]
    assert not yank(open_store(odd.address), "bert@1.1", "diverges")[1]
    assert fetch(open_store(odd.address), "bert") == bundle(version="1.0")
    fetched = fetching.fetch(open_store(odd.address), Reference.parse("bert"))
    assert fetched.why == "the latest version; 1.1 is yanked: diverges"

    close(store, "1.0")
    close(store, "1.1")
    with pytest.raises(ConflictError, match=r"the release 1\.1\.0 is closed"):
        publish(open_store(odd.address), [bundle("new", "1.1.0")])

    folder = DirectoryStore(tmp_path / "copy")
    copy(open_store(odd.address), folder)
    (entry,) = (each for each in access.read(folder).named("bert").entries if each.yanked)
    assert (entry.version, entry.yanked) == ("1.1", "diverges")
    assert access.read(folder).release("1.1").closed
    assert folder.get("1.1/bert.tar.gz.spdx.json") == b"about bert@1.1\n"

    outcomes = gc(open_store(odd.address), Policy(yanked=True), ["bert"])
    assert [(outcome.entry.version, outcome.status) for outcome in outcomes] == [("1.1", "removed")]
    with pytest.raises(InputError, match=r"bert@1\.1 was removed: it was yanked: diverges"):
        fetch(open_store(odd.address), "bert@1.1")
    assert list(fsck.check(open_store(odd.address))) == []


# What is in the registry.


def test_a_bundle_is_an_artifact_with_one_layer_and_its_version_is_the_tag(registry: Registry) -> None:
    told: list[str] = []
    for _ in range(2):
        publish(open_store(registry.address), [BERT], Publisher(tell=told.append))
    once = f"{registry.address}: publish each package from one job at a time, as tags can be overwritten"
    assert [text for text in told if not text.startswith("not signed")] == [once]
    assert registry.tags("bert") == ["1.2.0_-cpu"]
    assert registry.tags("index") == ["bert"]
    manifest = json.loads(registry.manifest("bert", "1.2.0_-cpu"))
    assert manifest["artifactType"] == "application/vnd.packyard.bundle.v1"
    assert manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
    (layer,) = manifest["layers"]
    assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip"
    assert (layer["digest"], layer["size"]) == (Digest.of(BERT.data), len(BERT.data))
    assert layer["annotations"] == {"org.opencontainers.image.title": "bert.tar.gz"}
    facts = manifest["annotations"]
    assert facts["org.opencontainers.image.title"] == "bert"
    assert facts["org.opencontainers.image.version"] == "1.2.0+cpu"
    assert json.loads(facts["vnd.packyard.entry"])["tar"] == BERT.tar


def test_the_same_bundle_has_the_same_manifest_whatever_is_done_to_it(registry: Registry) -> None:
    publish(open_store(registry.address), [BERT], attest=said)
    first = registry.manifest("bert", "1.2.0_-cpu")
    yank(open_store(registry.address), "bert@1.2.0+cpu", "diverges")
    close(open_store(registry.address), "1.2.0")
    assert registry.manifest("bert", "1.2.0_-cpu") == first
    with running(Registry()) as other:
        copy(open_store(registry.address), open_store(other.address))
        assert other.manifest("bert", "1.2.0_-cpu") == first


def test_a_list_of_referrers_keeps_those_of_others_and_those_do_not_stand_for_ours() -> None:
    with running(Registry(has_referrers=False)) as registry:
        store = open_store(registry.address)
        publish(store, [BERT])
        subject = registry.manifest("bert", "1.2.0_-cpu")
        foreign = json.dumps(
            {**json.loads(subject), "artifactType": "application/spdx+json", "annotations": {}}
        ).encode()
        registry.manifests["zoo/models/bert", Digest.of(foreign)] = ("", foreign)
        entry = {"mediaType": "a/b", "digest": Digest.of(foreign), "size": len(foreign), "x-kept": [1]}
        tag = str(Digest.of(subject)).replace(":", "-")
        registry.manifests["zoo/models/bert", tag] = (
            "",
            json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
        )
        store = open_store(registry.address)
        store.put(f"{KEY}.spdx.json", b"ours")
        assert json.loads(registry.manifest("bert", tag))["manifests"][0] == entry
        assert open_store(registry.address).get(f"{KEY}.spdx.json") == b"ours"


class Dashed(dict[tuple[str, str], tuple[str, bytes]]):
    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        return super().get((key[0], key[1].replace("sha256-", "sha256:")), default)


def test_a_registry_that_reads_the_tag_of_a_list_as_a_digest_says_so() -> None:
    """As GitLab's: github.com/oras-project/oras-go/issues/1396."""
    with running(Registry(has_referrers=False, manifests=Dashed())) as registry:
        publish(open_store(registry.address), [BERT])
        with pytest.raises(UnavailableError, match="reads this tag as a digest; publish to a registry that lists"):
            open_store(registry.address).put(f"{KEY}.spdx.json", b"ours")


def test_the_verbs_publish_to_a_registry_and_get_from_it(registry: Registry, tmp_path: Path) -> None:
    source = tiny.workspace(tmp_path / "source")
    tiny.done("publish", "--workspace", source, "--version", "1.0", "--to", registry.address)
    assert tiny.done("get", "p", "--from", registry.address, "--to", tmp_path) == f"{tmp_path}/p\n"


def test_tags_of_others_are_no_versions(registry: Registry) -> None:
    publish(open_store(registry.address), [BERT])
    data = registry.manifest("bert", "1.2.0_-cpu")
    for tag in ("latest", "1.2", "9.9", "sha256-" + "0" * 64):
        registry.manifests["zoo/models/bert", tag] = ("", data)
    package = access.read(open_store(registry.address)).named("bert")
    assert [entry.version for entry in package.entries] == ["1.2.0+cpu"]
    assert fetch(open_store(registry.address), "bert") == BERT


def test_other_bytes_and_what_has_no_place_are_refused(registry: Registry) -> None:
    store = open_store(registry.address)
    publish(store, [bundle()])
    publish(store, [compressed_otherwise(bundle())])
    for other in (bundle(text="other"), bundle(version="v1.0.0")):
        with pytest.raises(ConflictError, match="is published"):
            publish(open_store(registry.address), [other])
    for refused in ("index.html", "1.0/bert.tar.gz.other", "1.0/index.tar.gz", "../x", "1_-2/bert.tar.gz"):
        with pytest.raises(InputError):
            store.put(refused, b"")


@pytest.mark.parametrize("deletes", [True, False])
def test_a_removed_version_leaves_a_mark_under_its_tag_and_never_comes_again(registry: Registry, deletes: bool) -> None:
    registry.deletes = deletes
    store = open_store(registry.address)
    publish(store, [bundle(version=version) for version in ("1.0", "2.0")], attest=said)
    close(store, "1.0")
    before = Digest.of(registry.manifest("bert", "1.0"))
    gc(store, Policy(keep=1))
    assert registry.tags("bert") == ["1.0", "2.0"]
    manifest = json.loads(registry.manifest("bert", "1.0"))
    assert manifest["artifactType"] == "application/vnd.packyard.removed.v1"
    assert manifest["annotations"]["vnd.packyard.reason"] == "it is older than the newest 1"
    assert (("zoo/models/bert", str(before)) in registry.manifests) != deletes
    referring = [data for _, data in registry.manifests.values() if before.encode() in data and b"subject" in data]
    assert bool(referring) != deletes
    with pytest.raises(InputError, match="was removed"):
        fetch(open_store(registry.address), "bert@1.0")
    with pytest.raises(ConflictError, match="was removed: it is older"):
        publish(open_store(registry.address), [bundle(version="1.0.0")])


def test_where_tags_do_not_move_a_version_is_published_and_not_removed(registry: Registry) -> None:
    registry.is_mutable = False
    publish(open_store(registry.address), [bundle(version=version) for version in ("1.0", "2.0")], attest=said)
    for version in ("1.0", "2.0"):
        yank(open_store(registry.address), f"bert@{version}", "diverges")
    close(open_store(registry.address), "1.0")
    with pytest.raises(UnavailableError, match="tags are immutable"):
        gc(open_store(registry.address), Policy(yanked=True))
    assert fetch(open_store(registry.address), "bert@1.0") == bundle()


def test_fsck_names_what_is_altered_and_repairs_no_index(registry: Registry) -> None:
    publish(open_store(registry.address), [bundle(), bundle("gpt-2")])
    digest = Digest.of(bundle().data)
    registry.blobs["zoo/models/bert", digest] = b"other"
    (finding,) = fsck.check(open_store(registry.address))
    assert (finding.kind, finding.key) == ("altered", "1.0/bert.tar.gz")
    with pytest.raises(InputError, match="a registry has no index to repair"):
        fsck.repair(open_store(registry.address))


def test_copies_from_files_keep_all_bytes(registry: Registry, tmp_path: Path) -> None:
    folder, back = DirectoryStore(tmp_path / "a"), DirectoryStore(tmp_path / "b")
    publish(folder, [bundle(), bundle("gpt-2")])
    yank(folder, "bert@1.0", "diverges")
    store = open_store(registry.address)
    copy(folder, store)
    copy(open_store(registry.address), back)
    assert [status for _, status in copy(folder, open_store(registry.address))] == ["unchanged"] * 2
    for key in store.list(""):
        assert folder.get(key) == store.get(key) == back.get(key)
    assert access.read(back).named("bert").entries == access.read(folder).named("bert").entries


# How much is asked.


def test_requests_do_not_grow_with_the_versions_or_the_packages_that_nobody_asks_for(registry: Registry) -> None:
    publish(open_store(registry.address), [bundle(version=f"1.{number}") for number in range(6)])
    publish(open_store(registry.address), [bundle(f"other-{number}") for number in range(6)])
    registry.requests.clear()
    fetch(open_store(registry.address), "bert")
    assert len(registry.requests) == 4  # tags, manifest, referrers, layer
    registry.requests.clear()
    assert len(list(access.read(open_store(registry.address)).names())) == 7
    assert len(registry.requests) == 1
    yank(open_store(registry.address), "bert@1.5", "diverges")
    registry.requests.clear()
    rows = {row.name: row.version for row in access.read(open_store(registry.address)).summaries()}
    assert (len(rows), rows["bert"]) == (7, "1.4")
    assert (
        len(registry.requests) == 1 + 3 * 7 + 3
    )  # the names; tags, manifest and referrers of each; those of the version before


def test_an_interrupted_publish_leaves_nothing_wrong_and_is_completed_by_the_next(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Client.ask
    for fail_at in range(1, 40):
        registry.manifests.clear()
        count = 0

        def counted(client: Client, request: Request, fail_at: int = fail_at) -> Answer:
            nonlocal count
            count += 1
            if count == fail_at:
                raise UnavailableError("cut off")
            return ask(client, request)

        monkeypatch.setattr(Client, "ask", counted)
        with suppress(UnavailableError):
            publish(open_store(registry.address), [bundle()], attest=said)
        monkeypatch.setattr(Client, "ask", ask)
        assert list(fsck.check(open_store(registry.address))) == []
        referring = [data for _, data in registry.manifests.values() if b"spdx" in data]
        assert referring or not registry.tags("bert"), "what has its tag is whole"
        publish(open_store(registry.address), [bundle()], attest=said)
        assert open_store(registry.address).list("") == [f"1.0/bert.tar.gz{end}" for end in ("", ".spdx.json")]
        if count < fail_at:
            return
    raise AssertionError("it takes too many requests")


# Logins.


@pytest.mark.parametrize("refuses", [401, 403])
def test_an_expired_login_keeps_nobody_from_what_is_public(refuses: int, tmp_path: Path) -> None:
    told: list[str] = []
    with running(Registry(tokens=True, refuses=refuses)) as registry:
        log_in(tmp_path, registry)
        publish(open_store(registry.address), [bundle()])
        log_in(tmp_path, registry, password="over")
        store = open_store(registry.address, tell=told.append)
        assert fetch(store, "bert") == bundle()
        assert told == [
            f"your login is refused (HTTP {refuses}), so it is not used (renew it: docker login {registry.host}; "
            f"or remove it: docker logout {registry.host})"
        ]
        with pytest.raises(DeniedError, match=r"access denied .*docker login"):
            publish(store, [bundle("gpt-2")])
        registry.public = False
        with pytest.raises(DeniedError, match=rf"access denied \(HTTP {refuses}\) \(log in again: docker"):
            fetch(open_store(registry.address), "bert")


# Addresses, and what is not there.


def test_a_server_that_is_no_registry_is_said_to_be_none(tmp_path: Path) -> None:
    import real

    with real.serve(tmp_path) as address, pytest.raises(MissingStoreError, match="is no registry"):
        fetch(open_store(address.replace("http://", "oci://") + "/models"), "bert")


def test_nobody_signs_what_a_registry_lists_so_each_bundle_has_to_be_signed(registry: Registry) -> None:
    from packyard.sharing.trust.keys import SigningKey, Trust

    key = SigningKey.new()
    publish(open_store(registry.address), [bundle()], Publisher(key=key))
    with pytest.raises(IntegrityError, match="is missing: nothing proves where the bundle is from"):
        fetch(open_store(registry.address), "bert", trusted=Trust.of(key.public))
    store: Store = OCIStore(registry.address)
    with pytest.raises(PackyardError):
        store.swap("index/index.json", b"", None)
