"""What cosign and its kin read, by Sigstore's own parsers and in real registries; cosign itself is in `tests/trust`."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from sigstore_models.bundle.v1 import Bundle as SigstoreBundle

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.sharing.entry import PROVENANCE, SIGSTORE, IndexEntry
from packyard.sharing.index.access import Publisher
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci.manifest import bundle_digest
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, SigningKey
from packyard.sharing.trust.provenance import Statement
from sharing.examples import bundle, publish

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
BERT = bundle()
ENTRY = IndexEntry.of(BERT)
MANIFEST = bundle_digest(ENTRY)


def made(entry: IndexEntry = ENTRY) -> Statement:
    manifest = bundle_digest(entry)
    return Statement(entry, {"a": Digest.of(b"")}, None, manifest=manifest)


def attest(entry: IndexEntry, key: SigningKey = KEY) -> Mapping[str, bytes]:
    return {entry.beside(SIGSTORE): made(entry).to_bytes(key)}


@pytest.fixture
def channel(tmp_path: Path) -> DirectoryStore:
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [BERT], attest=attest, by=Publisher(key=KEY))
    return store


def test_the_bundle_is_one_that_sigstore_reads_and_its_envelope_is_signed() -> None:
    data = made().to_bytes(KEY)
    SigstoreBundle.from_json(data)
    signed = json.loads(data)["dsseEnvelope"]
    (signature,) = signed["signatures"]  # sigstore-go demands one, and takes an id for one of another kind
    assert [*signature] == ["sig"]
    payload = b64decode(signed["payload"])
    assert KEY.public.has_signed(Envelope(payload, signed["payloadType"], {}).pae(), b64decode(signature["sig"]))
    statement = json.loads(payload)
    assert [each["digest"]["sha256"] for each in statement["subject"]] == [ENTRY.digest.hex, MANIFEST.hex]


def test_readers_take_a_statement_of_several_subjects_and_find_the_file_by_its_name() -> None:
    document = json.loads(made().payload())
    file, manifest = document["subject"]
    others = [{"digest": {"sha512": "0" * 128}}, {"name": "x.tar.gz", "digest": {"sha256": "0" * 64}}]
    for subjects in ([file], [manifest, file], [*others, manifest, file]):
        assert provenance.check(json.dumps({**document, "subject": subjects}).encode(), ENTRY, NOBODY, what="x")[0]
    for subjects in ([], [manifest], [file, {**file, "digest": manifest["digest"]}]):
        with pytest.raises(IntegrityError, match=r"subject bert\.tar\.gz: must be one"):
            provenance.check(json.dumps({**document, "subject": subjects}).encode(), ENTRY, NOBODY, what="x")


def test_publishing_again_leaves_a_signed_statement_that_verifies(channel: DirectoryStore, tmp_path: Path) -> None:
    private = generate_private_key(SECP256R1())
    changing = SigningKey.of(private)  # which signs the same bytes by another signature each time
    one, two = (attest(ENTRY, changing) for _ in range(2))
    assert one != two
    store, by = DirectoryStore(tmp_path / "changing"), Publisher(key=changing)
    for objects in (one, two):
        store.put(ENTRY.beside(SIGSTORE), one[ENTRY.beside(SIGSTORE)])
        publish(store, [BERT], attest=lambda _, objects=objects: objects, by=by)
        assert store.get(ENTRY.beside(SIGSTORE)) == one[ENTRY.beside(SIGSTORE)]
    publish(channel, [BERT], attest=lambda entry: {entry.beside(PROVENANCE): made().to_bytes()}, by=Publisher(key=KEY))
    assert ENTRY.beside(PROVENANCE) not in channel.list("")
