"""What cosign and its kin read, by Sigstore's own parsers and in real registries; cosign itself is in `tests/trust`."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from sigstore_models.bundle.v1 import Bundle as SigstoreBundle

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.sharing.entry import PROVENANCE, IndexEntry
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.oci.manifest import SIGSTORE_TYPE, bundle_digest
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import sigstore
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance
from sharing.examples import bundle
from sharing.registries import anywhere, ask

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
TRUST = Trust.of(KEY.public)
BERT = bundle()
ENTRY = IndexEntry.of(BERT)
MANIFEST = bundle_digest(ENTRY)
SIGNATURE = "dev.cosignproject.cosign/signature"


def made(entry: IndexEntry = ENTRY) -> Provenance:
    manifest = bundle_digest(entry)
    return Provenance.of(entry, {"a": Digest.of(b"")}, None, libraries={}, manifest=manifest)


def attest(entry: IndexEntry, key: SigningKey = KEY) -> Mapping[str, bytes]:
    proved = made(entry)
    return {
        entry.beside(PROVENANCE): proved.to_bytes([key]),
        **sigstore.described(proved, [key]),
    }


@pytest.fixture
def channel(tmp_path: Path) -> DirectoryStore:
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [BERT], attest=attest, by=Publisher(keys=[KEY]))
    return store


def test_the_bundle_is_one_that_sigstore_reads_and_its_envelope_is_signed() -> None:
    data = sigstore.described(made(), [KEY, OTHER])[f"{ENTRY.key}.sigstore.json"]
    SigstoreBundle.from_json(data)
    signed = json.loads(data)["dsseEnvelope"]
    (signature,) = signed["signatures"]  # sigstore-go demands one, and takes an id for one of another kind
    assert [*signature] == ["sig"]
    payload = b64decode(signed["payload"])
    assert KEY.public.has_signed(Envelope(payload, signed["payloadType"], {}).pae(), b64decode(signature["sig"]))
    statement = json.loads(payload)
    assert [each["digest"]["sha256"] for each in statement["subject"]] == [ENTRY.digest.hex, MANIFEST.hex]


def test_the_same_is_described_by_the_same_bytes_and_without_a_key_by_none() -> None:
    assert attest(ENTRY) == attest(ENTRY)
    assert sigstore.described(made(), []) == {}


def test_readers_take_a_statement_of_several_subjects_and_find_the_file_by_its_name() -> None:
    document = json.loads(made().statement())
    file, manifest = document["subject"]
    others = [{"digest": {"sha512": "0" * 128}}, {"name": "x.tar.gz", "digest": {"sha256": "0" * 64}}]
    for subjects in ([file], [manifest, file], [*others, manifest, file]):
        read = Provenance.parse(json.dumps({**document, "subject": subjects}).encode(), file="x")
        assert (read.file, read.manifest) == (ENTRY.digest, MANIFEST if manifest in subjects else None)
    for subjects in ([], [manifest], [file, {**file, "digest": manifest["digest"]}]):
        with pytest.raises(IntegrityError, match=r"subject bert\.tar\.gz: must be one"):
            Provenance.parse(json.dumps({**document, "subject": subjects}).encode(), file="x")


@pytest.mark.parametrize("registry", ["registry3", "registry2", "registry_with_referrers"])
def test_a_registry_has_what_cosign_looks_for_as_a_referrer(
    registry: str, request: pytest.FixtureRequest, channel: DirectoryStore
) -> None:
    store = OCIStore(anywhere(request.getfixturevalue(registry)))
    assert [each.status for each in copy(channel, store, by=Publisher(keys=[KEY]))] == ["published"]
    image = ask(store, "bert", "manifests/1.0")
    assert Digest.of(image.content) == MANIFEST
    tag = MANIFEST.replace(":", "-")
    listed = ask(store, "bert", f"manifests/{tag}")  # where the registry keeps no list of its own
    listed = listed if listed.ok else ask(store, "bert", f"referrers/{MANIFEST}")
    kinds = {each["artifactType"] for each in listed.json()["manifests"]}
    assert SIGSTORE_TYPE in kinds or registry == "registry_with_referrers"  # which does not know the types
    assert list(fsck.check(store, TRUST)) == []
    before = tags(store)
    assert [each.status for each in copy(channel, store, by=Publisher(keys=[KEY]))] == ["unchanged"]
    assert tags(store) == before


def tags(store: OCIStore) -> dict[str, bytes]:
    found = ask(store, "bert", "tags/list").json()["tags"]
    return {tag: ask(store, "bert", f"manifests/{tag}").content for tag in found}


CHANGES = {
    "another key's": ([OTHER], ENTRY),
    "another package's": ([KEY], IndexEntry.of(bundle("gpt"))),
    "another version's": ([KEY], IndexEntry.of(bundle(version="2.0"))),
    "other bytes'": ([KEY], IndexEntry.of(bundle(text="other"))),
}


@pytest.mark.parametrize("end", [".sigstore.json", ".cosign.json"])
@pytest.mark.parametrize(("keys", "entry"), CHANGES.values(), ids=CHANGES)
def test_fsck_and_copy_find_what_is_not_about_the_bundle(
    channel: DirectoryStore, tmp_path: Path, end: str, keys: list[SigningKey], entry: IndexEntry
) -> None:
    data = sigstore.described(made(entry), keys)[f"{entry.key}{end}"]
    (tmp_path / f"channel/{ENTRY.key}{end}").write_bytes(data)
    found = [(each.kind, each.key) for each in fsck.check(channel, TRUST)]
    if keys == [OTHER]:  # the index that a trusted key signed vouches for the bundle
        assert found == []
        return
    assert found == [("unproved", f"{ENTRY.key}{end}")]
    with pytest.raises(IntegrityError, match=rf"bert\.tar\.gz\{end}"):
        copied(channel, DirectoryStore(tmp_path / "target"))
    assert end == ".cosign.json" or keys != [KEY] or [*fsck.check(channel, NOBODY)]


def copied(source: Store, target: Store) -> object:
    from packyard.sharing.fetching.fetch import Fetching

    return copy(source, target, how=Fetching(trusted=TRUST), by=Publisher(keys=[KEY]))
