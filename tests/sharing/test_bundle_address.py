"""One bundle by an address of its own: in a registry, or wherever a channel is."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import real
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, UnavailableError
from packyard.sharing.checksum import line
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.bundle_address import BundleAddress
from packyard.sharing.fetching.cache import Cache
from packyard.sharing.fetching.fetch import Fetched, Fetching, opened_at
from packyard.sharing.stores import open_store
from packyard.sharing.stores.oci.address import ArtifactAddress
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import bundle, large_bundle

BERT, GPT = bundle("bert", "1.2.0+cpu", "hello"), bundle("gpt", "2.0")
KEY, OTHER = SigningKey.new(), SigningKey.new()
TRUST = Trust.of(KEY.public)
KEPT = "1.2.0+cpu/bert.tar.gz"


@pytest.fixture(autouse=True)
def _alone(clean_environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clean_environment.setenv("NO_PROXY", "127.0.0.1")
    clean_environment.setenv("DOCKER_CONFIG", str(tmp_path))


@pytest.fixture(params=["registry3", "registry_with_referrers"])
def registry(request: pytest.FixtureRequest) -> str:
    return f"oci://{request.getfixturevalue(request.param)}/c-{uuid.uuid4().hex}/models"


def put(store: Store, key: str, found: Bundle, signed: SigningKey | None = None) -> None:
    entry = IndexEntry(name="x", version="1", tar=found.tar, digest=found.digest, size=len(found.data))
    store.put(key, found.data)
    store.put(f"{key}.sha256", line(entry))
    if signed:
        store.put(f"{key}.sigstore.json", Provenance.of(found, {}, None, sbom=b"{}").to_bytes(signed))


def got(address: str, trusted: Trust | None = None) -> tuple[Bundle, Fetched]:
    asked = BundleAddress.parse(address)
    assert asked
    with opened_at(asked, Fetching(trusted=trusted) if trusted else None) as fetched:
        return fetched.read(), fetched


def test_a_bundle_in_a_registry_is_got_by_tag_and_digest_and_proved_by_its_provenance(registry: str) -> None:
    put(open_store(registry), KEPT, BERT, KEY)
    manifest = digest_of(registry, "bert", "1.2.0_-cpu")
    for mark in (":1.2.0+cpu", f"@{manifest}", f":1.2.0+cpu@{manifest}"):
        found, fetched = got(f"{registry}/bert{mark}", TRUST)
        assert found == BERT
        assert "signed by" in fetched.proof.describe()
        assert "not proved" not in fetched.proof.describe()
    assert "so the publisher is unknown" in got(f"{registry}/bert:1.2.0+cpu")[1].proof.describe()
    with pytest.raises(IntegrityError, match=r"bert:1\.2\.0_-cpu\.sigstore\.json: "):
        got(f"{registry}/bert:1.2.0+cpu", Trust.of(OTHER.public))


def test_a_bundle_of_a_registry_goes_to_a_file_and_to_the_cache(registry3: str, tmp_path: Path) -> None:
    made, channel = large_bundle(), f"oci://{registry3}/c-{uuid.uuid4().hex}"
    put(open_store(channel), "1.0/large.tar.gz", made)
    asked = BundleAddress.parse(f"{channel}/large:1.0")
    assert asked
    cache = Cache(tmp_path / "bundles")
    with opened_at(asked, Fetching(cache=cache)) as fetched:
        assert fetched.unpack(tmp_path) == tmp_path / "large"
    assert [each.size for each in cache.entries()] == [len(made.data)]


def test_a_bundle_that_nobody_signed_is_refused_by_who_trusts_a_key(registry: str) -> None:
    put(open_store(registry), KEPT, BERT)
    with pytest.raises(IntegrityError, match=r"has no provenance .* \(ask whoever publishes there to sign it"):
        got(f"{registry}/bert:1.2.0+cpu", TRUST)


def test_a_signed_bundle_of_another_name_or_version_is_refused(registry: str) -> None:
    put(open_store(registry), KEPT, GPT, KEY)
    put(open_store(registry), "1.9/gpt.tar.gz", GPT, KEY)
    for address in (f"{registry}/bert:1.2.0+cpu", f"{registry}/gpt:1.9"):
        with pytest.raises(IntegrityError, match=r"expected this bundle, found gpt@2\.0"):
            got(address, TRUST)


def test_what_is_not_in_the_registry_is_said(registry: str) -> None:
    put(open_store(registry), KEPT, BERT)
    with pytest.raises(InputError, match=r"bert:7\.0: there is no bundle"):
        got(f"{registry}/bert:7.0")


def test_a_registry_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with real.serve(tmp_path) as address, pytest.raises(UnavailableError, match="is no registry"):
        got(address.replace("http://", "oci://") + "/models/bert:1.0")


def test_a_bundle_on_a_web_server_is_got_by_what_a_browser_shows(tmp_path: Path) -> None:
    put(open_store(str(tmp_path)), KEPT, BERT, KEY)
    put(open_store(str(tmp_path)), "3.0/bert.tar.gz", GPT, KEY)
    with real.serve(tmp_path.parent) as server:
        address = f"{server}/{tmp_path.name}"
        for version in ("1.2.0+cpu", "1.2.0%2Bcpu"):
            found, fetched = got(f"{address}/{version}/bert.tar.gz", TRUST)
            assert found == BERT
            assert fetched.proof.signers == (KEY.public.id,)
            assert "whether it was yanked is not known" in fetched.choice.why
        with pytest.raises(IntegrityError, match=r"bert@1\.2\.0\+cpu\.sigstore\.json: "):
            got(f"{address}/{KEPT}", Trust.of(OTHER.public))
        with pytest.raises(IntegrityError, match=r"expected this bundle, found gpt@2\.0"):
            got(f"{address}/3.0/bert.tar.gz", TRUST)
        with pytest.raises(InputError, match=r"bert@9: there is no 9/bert\.tar\.gz\.sha256"):
            got(f"{address}/9/bert.tar.gz")
        (tmp_path / f"{KEPT}.sha256").write_bytes((tmp_path / "3.0/bert.tar.gz.sha256").read_bytes())
        with pytest.raises(IntegrityError, match="expected sha256"):
            got(f"{address}/{KEPT}")


@pytest.mark.parametrize(
    "address",
    [
        "https://u:secret@h/bert.tar.gz", "https://u:secret@h/1.0/bert", "https://u:secret@h/v/../bert.tar.gz",
        "https://u:secret@h/p/1.0/Bert.tar.gz", "https://u:secret@h/p/1.0/bert.tar.gz?x", "https://u:secret@h",
        "https://u:secret@h/p/1%2F0/bert.tar.gz", "oci://u:secret@127.0.0.1/models", "oci://u:secret@127.0.0.1",
        "oci://u:secret@127.0.0.1/models/a_b:1",
    ],
)  # fmt: skip
def test_an_address_of_anything_else_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(InputError) as caught:
        got(address)
    assert "secret" not in str(caught.value)
    assert caught.value.problems[0].hint


def test_the_channel_of_a_bundle_is_the_one_that_keys_are_trusted_for() -> None:
    assert BundleAddress.parse("bert") is None
    for address, channel in {
        "https://u:p@h/v/1.0/bert.tar.gz": "https://u:p@h/v",
        "s3://bucket/1.0/bert.tar.gz": "s3://bucket",
        "oci://h:5000/v/bert:1.0": "oci://h:5000/v",
        f"oci://h/v/bert:1.0@sha256:{'0' * 64}": "oci://h/v",
    }.items():
        found = BundleAddress.parse(address)
        assert found
        assert found.channel == channel
        assert "u:p" not in f"{found}{found!r}"


def digest_of(channel: str, name: str, tag: str) -> str:
    address = ArtifactAddress.parse(f"{channel}/{name}:{tag}")
    assert address
    found = OCIStore(address.channel)._registry.manifest(address.channel.repository(name), tag)
    assert found is not None
    return Digest.of(found)
