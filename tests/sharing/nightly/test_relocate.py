"""Images that move with packages into another registry, read by crane; and what a registry may not do to that."""

from __future__ import annotations

import io
import json
import random
import subprocess
import tarfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

import real
import tiny
from commandline import done, packyard
from packyard.core.bundle import Bundle, Manifest, build
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import ShippedUseCase
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError
from packyard.sharing.publishing import relocate
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.relocate import copy_images
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci import transport
from packyard.sharing.stores.oci.address import Address
from sharing import servers

Crane = Callable[..., str]


@pytest.fixture
def crane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Crane:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    program = real.pinned_program("crane")

    def run(*words: str) -> str:
        done = subprocess.run([program, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def layer(folder: Path, text: bytes) -> str:
    """Write a layer with one file."""
    file = folder / f"{uuid.uuid4().hex}.tar"
    with tarfile.open(file, "w") as tar:
        member = tarfile.TarInfo("program")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    return str(file)


@pytest.fixture
def image(crane: Crane, registry3: str, tmp_path: Path) -> str:
    """An image for two platforms."""
    name = f"{registry3}/{uuid.uuid4().hex}/app"
    for platform in ("amd64", "arm64"):
        crane("append", "-f", layer(tmp_path, platform.encode() * 1000), "-t", f"{name}:{platform}", "--oci-empty-base")
        crane("mutate", "--set-platform", f"linux/{platform}", f"{name}:{platform}", "-t", f"{name}:{platform}")
    crane("index", "append", "-m", f"{name}:amd64", "-m", f"{name}:arm64", "-t", f"{name}:1")
    return f"{name}:1"


@pytest.fixture
def to(registry_with_referrers: str) -> Address:
    return Address.parse(f"oci://{registry_with_referrers}/m-{uuid.uuid4().hex}")


def moved(images: list[str], to: Address, locked: Mapping[str, Digest] | None = None) -> list[relocate.Relocated]:
    return copy_images(images, to, locked or {}, patience=30)


def place(image: str, to: Address) -> str:
    """Return where an image is afterwards, as crane names it."""
    host, _, name = image.partition("/")
    return f"{to.host}/{to.path}/{host.partition(':')[0]}/{name}"


def test_an_image_of_several_platforms_is_the_same_in_the_other_registry(crane: Crane, image: str, to: Address) -> None:
    (found,) = moved([image], to)
    assert crane("digest", place(image, to)) == crane("digest", image) == found.digest
    assert crane("manifest", place(image, to)) == crane("manifest", image)
    for platform in ("linux/amd64", "linux/arm64"):
        crane("validate", "--remote", place(image, to), "--platform", platform)
    assert moved([image], to) == [found]


@pytest.mark.parametrize("registry", ["registry2", "registry3", "registry_with_referrers"])
def test_a_large_blob_is_sent_in_parts(
    crane: Crane,
    registry3: str,
    registry: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    to = Address.parse(f"oci://{request.getfixturevalue(registry)}/m-{uuid.uuid4().hex}")
    name = f"{registry3}/{uuid.uuid4().hex}/large:1"
    crane("append", "-f", layer(tmp_path, random.Random(1).randbytes(20_000)), "-t", name, "--oci-empty-base")
    monkeypatch.setattr(transport, "PART", 1000)
    moved([name], to)
    crane("validate", "--remote", place(name, to))


def test_what_is_named_by_its_digest_is_found_by_it(crane: Crane, image: str, to: Address) -> None:
    digest = crane("digest", image)
    by_digest = f"{image.rpartition(':')[0]}@{digest}"
    moved([by_digest], to)
    assert crane("digest", place(by_digest, to)) == digest


def test_all_missing_images_are_said_and_none_is_copied(crane: Crane, image: str, to: Address) -> None:
    absent = [f"{image.rpartition('/')[0]}/{name}" for name in ("none:1", "other:2")]
    with pytest.raises(InputError) as refused:
        moved([image, *absent], to)
    assert [each.file for each in refused.value.problems] == absent
    with pytest.raises(AssertionError, match=r"NAME_UNKNOWN|MANIFEST_UNKNOWN|404"):
        crane("digest", place(image, to))


def test_a_tag_that_moved_is_refused_and_kept_where_a_lock_has_it(
    crane: Crane, image: str, to: Address, tmp_path: Path
) -> None:
    (found,) = moved([image], to)
    crane("append", "-f", layer(tmp_path, b"new"), "-t", image, "--oci-empty-base")
    with pytest.raises(ConflictError, match="its tag moved"):
        moved([image], to)
    (again,) = moved([image], to, {image: found.digest})
    assert (again.digest, again.moved) == (found.digest, crane("digest", image))
    assert crane("digest", place(image, to)) == found.digest


def test_publish_writes_the_digests_that_a_registry_answers_into_both_sboms(
    crane: Crane, image: str, tmp_path: Path
) -> None:
    sources, channel, gone = tiny.workspace(tmp_path / "ws"), tmp_path / "channel", image.replace("/app:1", "/gone:2")
    for name, each in (("here", image), ("gone", gone)):
        pod = tiny.POD.replace("registry.example/x:1", each).replace("name: x", f"name: {name}")
        tiny.write(sources / f"bases/one/{name}.yaml", pod)
    tiny.replace(sources / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, here.yaml, gone.yaml]")
    words = ("publish", "--workspace", sources, "--version", "1.0", "--to", channel)
    told = packyard(*words, "--resolve-images")
    assert told.returncode == 0, told.stderr
    assert f"the SBOM has no digest: {gone}" in told.stderr
    for end in ("spdx", "cdx"):
        (listed,) = (channel / "1.0").glob(f"p.tar.gz.{end}.json")
        assert Digest(crane("digest", image)).hex in listed.read_text()
    assert packyard("fsck", channel).stderr == "nothing is wrong\n"


def test_a_copy_leads_packages_to_their_images_and_changes_no_byte_of_them(
    crane: Crane, image: str, to: Address, tmp_path: Path
) -> None:
    host = image.partition("/")[0]
    packed = _bundle({"REGISTRY": host}, [image])
    publish(DirectoryStore(tmp_path / "from"), [packed])
    target = f"oci+http://{to.host}/{to.path}"
    done("copy", tmp_path / "from", target, "--with-images", cwd=tmp_path)
    site = yaml.safe_load((tmp_path / "site.yaml").read_text())
    assert crane("digest", f"{site['values']['REGISTRY']}/{image.partition('/')[2]}") == crane("digest", image)
    lock = json.loads((tmp_path / "images.lock").read_text())
    assert lock["images"] == {image: crane("digest", image)}
    assert done("get", "bert", "--from", target, "--into", tmp_path, cwd=tmp_path)
    done("copy", tmp_path / "from", target, "--with-images", cwd=tmp_path)
    (tmp_path / "site.yaml").write_text("values: {}\n")
    refused = packyard("copy", tmp_path / "from", target, "--with-images", cwd=tmp_path)
    assert (refused.returncode, "--site FILE" in refused.stderr) == (1, True)
    refused = packyard("copy", tmp_path / "from", tmp_path / "to", "--with-images", cwd=tmp_path)
    assert (refused.returncode, "--images-to" in refused.stderr) == (2, True)


def _bundle(setters: Mapping[str, str], images: list[str]) -> Bundle:
    cases = {"single-node": ShippedUseCase(setters=setters)}
    described = Manifest(name="bert", version="1.0", use_cases=cases, model={}, images=tuple(images))
    return build(described, [Member(path="README.md", data=b"")])


_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_BLOB = b"the layer"


def _served(**changes: object) -> bytes:
    """Return a manifest with one layer, changed."""
    blob = {"mediaType": "application/octet-stream", "digest": str(Digest.of(_BLOB)), "size": len(_BLOB)}
    document = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": blob, "layers": [{**blob, **changes}]}
    return json.dumps(document).encode()


ATTACKS = {
    "a blob with other bytes": (_served(), b"the lay3r", "expected sha256:"),
    "a blob that is longer": (_served(), _BLOB * 2, "larger than|expected"),
    "a size that nobody has": (_served(size=10**14), _BLOB, "more than"),
    "a layer of its maker": (_served(mediaType="application/vnd.oci.image.layer.nondistributable.v1.tar"), b"", "only"),
    "a digest that is a path": (_served(digest="sha256:../../x"), _BLOB, "digest"),
    "too many layers": (json.dumps({**json.loads(_served()), "layers": 600 * json.loads(_served())["layers"]}).encode(),
                        _BLOB, "more than 500"),
}  # fmt: skip


@pytest.mark.parametrize(("manifest", "blob", "reason"), ATTACKS.values(), ids=ATTACKS)
@pytest.mark.usefixtures("crane")
def test_a_hostile_registry_is_refused(manifest: bytes, blob: bytes, reason: str, to: Address) -> None:
    def answer(path: str) -> bytes:
        return manifest if "/manifests/" in path else blob

    with served(answer) as host, pytest.raises((IntegrityError, InputError), match=reason):
        moved([f"{host}/app:1"], to)


@pytest.mark.usefixtures("crane")
def test_a_registry_that_says_another_manifest_for_a_digest_is_refused(to: Address) -> None:
    def answer(path: str) -> bytes:
        return _served() if path.endswith("/1") else _served(size=1)

    with served(answer) as host, pytest.raises(IntegrityError, match="expected sha256"):
        moved([f"{host}/app:1"], to)


@pytest.mark.usefixtures("crane")
def test_a_blob_that_broke_off_goes_on_and_one_that_is_there_is_not_fetched_again(to: Address) -> None:
    asked: list[bytes] = []

    def script(request: bytes) -> Iterator[bytes]:
        if b"/manifests/" in request:
            yield servers.answer(_served())
            return
        asked.append(request)
        first, rest = _BLOB[:4], _BLOB[4:]
        if b"Range: bytes=4-" in request:
            span = b"Content-Range: bytes 4-%d/%d" % (len(_BLOB) - 1, len(_BLOB))
            yield servers.answer(rest, span, status=b"206 Partial Content")
        else:
            yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_BLOB), first)

    with servers.answering(script) as server:
        image = f"127.0.0.1:{server.port}/app:1"
        (found,) = moved([image], to)
        assert [b"Range: " in each for each in asked] == [False, True]
        assert moved([image], to) == [found]
    assert len(asked) == 2


@contextmanager
def served(answer: Callable[[str], bytes]) -> Iterator[str]:
    """Answer requests by their path as long as the block runs, and yield the host."""

    def script(request: bytes) -> Iterator[bytes]:
        body = answer(request.split(b" ")[1].decode())
        yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body)

    with servers.answering(script) as server:
        yield server.address.partition("://")[2]
