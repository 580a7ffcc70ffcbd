"""Channels in real registries, read and written by the clients of others."""

import json
import subprocess
from pathlib import Path

import pytest

import real
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.store import NotFoundError
from sharing.examples import bundle, close, fetch, publish
from sharing.registries import anywhere
from sharing.test_registry import BERT, KEY, said

SERVERS = ["registry3", "registry2", "registry_with_referrers"]


pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture(params=SERVERS)
def store(request: pytest.FixtureRequest) -> OCIStore:
    return OCIStore(anywhere(request.getfixturevalue(request.param)))


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reference(store: OCIStore) -> str:
    return f"{store.address.removeprefix('oci://')}/bert:1.2.0_-cpu"


def test_publishes_yanks_closes_and_removes(store: OCIStore) -> None:
    def again() -> OCIStore:
        return OCIStore(store.address)

    publish(store, [bundle(version=version) for version in ("1.0", "1.1", "1.2")], attest=said)
    publish(again(), [bundle("gpt-2", "1.1")])
    yank(again(), "bert@1.2", "diverges")
    for version in ("1.0", "1.2"):
        close(again(), version)
    assert fetch(again(), "bert") == bundle(version="1.1")
    assert again().get("1.1/bert.tar.gz.spdx.json") == b"about bert@1.1\n"
    gc(again(), Policy(yanked=True))
    assert [entry.version for entry in access.read(again()).named("bert").entries] == ["1.0", "1.1"]
    with pytest.raises(ConflictError, match=r"was removed: it was yanked: diverges"):
        publish(again(), [bundle(version="1.2")])
    assert sorted(access.read(again()).names()) == ["bert", "gpt-2"]
    assert list(fsck.check(again())) == []


def test_oras_pulls_the_file_and_sees_what_refers_to_it(store: OCIStore, tmp_path: Path) -> None:
    publish(store, [BERT], attest=said)
    yank(store, "bert@1.2.0+cpu", "diverges")
    oras = real.pinned_program("oras")
    run(oras, "pull", "--plain-http", reference(store), "-o", tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["bert.tar.gz"]
    assert (tmp_path / "out" / "bert.tar.gz").read_bytes() == BERT.data
    found = json.loads(run(oras, "discover", "--plain-http", "--format", "json", reference(store)))
    assert len(found.get("referrers") or found["manifests"]) == 2
    tags = run(oras, "repo", "tags", "--plain-http", reference(store).rpartition(":")[0]).split()
    assert {tag for tag in tags if not tag.startswith("sha256-")} == {"1.2.0_-cpu"}


def test_crane_and_skopeo_copy_the_bundle_unchanged(store: OCIStore, tmp_path: Path) -> None:
    publish(store, [BERT])
    crane = real.pinned_program("crane")
    host, _, _ = reference(store).rpartition(":")
    blob = subprocess.run([crane, "blob", "--insecure", f"{host}@{Digest.of(BERT.data)}"], capture_output=True)
    assert blob.stdout == BERT.data
    run(crane, "pull", "--insecure", "--format=oci", reference(store), tmp_path / "oci")
    assert (tmp_path / "oci" / "blobs" / "sha256" / Digest.of(BERT.data).hex).read_bytes() == BERT.data
    to = f"dir:{tmp_path}/out"
    skopeo = (real.program("skopeo"), "--insecure-policy", "copy", "--src-tls-verify=false")
    run(*skopeo, f"docker://{reference(store)}", to)
    assert (tmp_path / "out" / Digest.of(BERT.data).hex).read_bytes() == BERT.data


@pytest.mark.parametrize("to", ["registry2", "registry_with_referrers"])
def test_what_oras_copied_with_all_that_refers_to_it_is_there(
    registry3: str, to: str, request: pytest.FixtureRequest
) -> None:
    first, second = OCIStore(anywhere(registry3)), OCIStore(anywhere(request.getfixturevalue(to)))
    publish(first, [BERT, bundle()], attest=said)
    yank(first, "bert@1.2.0+cpu", "diverges")
    plain = ("--from-plain-http", "--to-plain-http")
    run(real.pinned_program("oras"), "copy", "--recursive", *plain, reference(first), reference(second))
    assert second.get(f"{KEY}.spdx.json") == b"about bert@1.2.0+cpu\n"
    assert access.read(second).named("bert").get("1.2.0+cpu").yanked == "diverges"
    with pytest.raises(NotFoundError):
        second.get("1.0/bert.tar.gz")


def test_flux_unpacks_what_the_tar_has(store: OCIStore, tmp_path: Path) -> None:
    publish(store, [BERT])
    (tmp_path / "flux").mkdir()
    run(real.pinned_program("fluxoci"), reference(store), tmp_path / "flux")
    (tmp_path / "tar").mkdir()
    BERT.unpack(tmp_path / "tar")
    run(real.program("diff"), "-r", tmp_path / "flux", tmp_path / "tar")
    assert (tmp_path / "flux" / "bert" / "README.md").read_text() == "hello"


def test_what_oras_pushed_by_hand_can_be_read(registry3: str, tmp_path: Path) -> None:
    store = OCIStore(anywhere(registry3))
    (tmp_path / "bert.tar.gz").write_bytes(BERT.data)
    layer = "bert.tar.gz:application/vnd.oci.image.layer.v1.tar+gzip"
    subprocess.run(
        [real.pinned_program("oras"), "push", "--plain-http", reference(store), layer],
        cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip
    assert store.get(KEY) == BERT.data
