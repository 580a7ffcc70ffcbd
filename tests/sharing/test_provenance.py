"""Provenance: what it says of a bundle, byte by byte the same, what is refused, and what it proves."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from packyard import __version__
from packyard.core.bundle import record
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.core.files.git import Revision
from packyard.sharing.entry import PROVENANCE, SIGSTORE, IndexEntry
from packyard.sharing.fetching.fetch import verify, with_sbom
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import Index
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.store import DeniedError, NotFoundError
from packyard.sharing.trust import envelope, provenance, sbom
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance, Statement
from sample import tries
from sharing.examples import bundle, compressed_otherwise, proof, publish
from sharing.hostile import Grammar

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
TRUST = Trust.of(KEY.public)
BUNDLE = bundle()
BERT = IndexEntry.of(BUNDLE)
INPUTS = {"packages/bert/package.yaml": Digest.of(b"1"), "bases/job.yaml": Digest.of(b"2")}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REVISION = Revision(commit=COMMIT, url="git+https://example.com/zoo.git", folder="zoo")
SBOM = sbom.to_bytes(BUNDLE)
MADE = Statement(BERT, INPUTS, REVISION, sbom=SBOM)
SIGNED = MADE.to_bytes(KEY)


def test_an_unsigned_statement_is_found_where_s3_denies_what_is_missing_to_who_may_not_list(tmp_path: Path) -> None:
    class Unlisted(DirectoryStore):
        def get(self, key: str, **more: Any) -> bytes:
            try:
                return super().get(key, **more)
            except NotFoundError as error:
                raise DeniedError("access denied") from error

    store = Unlisted(tmp_path / "channel")
    store.put("1/a", b"")
    with pytest.raises(DeniedError):
        provenance.get(store, BERT)
    store.put(BERT.beside(PROVENANCE), MADE.to_bytes())
    assert provenance.get(store, BERT) == (PROVENANCE, MADE.to_bytes())


def test_is_an_in_toto_statement_in_the_words_of_slsa() -> None:
    found = json.loads(MADE.payload())
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    digest, manifest = ({"sha256": Digest.of(data).hex} for data in (BUNDLE.data, manifests.bundle(BERT).data))
    assert found["subject"] == [
        {"name": "bert.tar.gz", "digest": digest, "annotations": {"tar": BERT.tar}},
        {"name": "bert", "digest": manifest, "mediaType": "application/vnd.oci.image.manifest.v1+json"},
    ]
    definition = found["predicate"]["buildDefinition"]
    assert definition["externalParameters"] == {"name": "bert", "version": "1.0"}
    source, *others = definition["resolvedDependencies"]
    assert source["uri"] == f"git+https://example.com/zoo.git@{COMMIT}"
    assert source["digest"] == {"gitCommit": COMMIT}
    assert source["annotations"] == {"dirty": False, "folder": "zoo"}
    assert {each["name"] for each in others} >= {*INPUTS, "PyYAML", "Jinja2", "MarkupSafe", "Python", "zlib"}
    assert all(each.keys() & {"uri", "digest"} for each in others)
    details = found["predicate"]["runDetails"]
    assert details["builder"] == {"id": "urn:packyard", "version": {"packyard": __version__}}
    described, *_ = json.loads(SBOM)["packages"]
    assert (described["name"], described["versionInfo"]) == ("bert", "1.0")
    assert details["byproducts"] == [{"name": "bert.tar.gz.spdx.json", "digest": {"sha256": Digest.of(SBOM).hex}}]


def test_what_is_judged_and_shown_is_read_back() -> None:
    read = verify(BERT, (SIGSTORE, SIGNED), TRUST, what="x").provenance
    assert read == Provenance(packyard=__version__, commit=COMMIT, sbom=Digest.of(SBOM))
    changed = Statement(BERT, INPUTS, Revision(commit=COMMIT, changed=frozenset(INPUTS))).to_bytes(KEY)
    proof = verify(BERT, (SIGSTORE, changed), TRUST, what="x")
    assert proof.provenance == Provenance(packyard=__version__, commit=COMMIT, dirty=True)
    assert "with changes that are not committed" in "\n".join(proof.describe())


def test_says_nothing_of_when_and_where() -> None:
    again = Statement(BERT, dict(reversed(INPUTS.items())), REVISION, sbom=SBOM)
    assert again.to_bytes(KEY) == SIGNED
    text = MADE.payload().decode()
    assert not re.search(r"(?i)startedOn|finishedOn|invocation|host|user|\d\d:\d\d", text)


def _wrap(statement: dict[str, Any] | bytes, key: SigningKey = KEY) -> bytes:
    data = statement if isinstance(statement, bytes) else record.to_bytes(statement)
    return envelope.sign(data, key)


def _signed(made: Bundle) -> bytes:
    return Statement(IndexEntry.of(made), {}, None).to_bytes(KEY)


def _changed(change: Callable[[Any], object]) -> bytes:
    document = json.loads(MADE.payload())
    change(document)
    return _wrap(document)


def _dependencies(document: Any) -> Any:
    return document["predicate"]["buildDefinition"]["resolvedDependencies"]


#: Signed by the trusted key: what it must not be believed, all the same.
ATTACKS: dict[str, tuple[bytes, str]] = {
    "another bundle's provenance": (_signed(bundle("gpt")), "is about gpt@1.0"),
    "another version's provenance": (_signed(bundle(version="2")), "is about bert@2"),
    "the same version with other content": (_signed(bundle(text="other")), "get the file that was published"),
    "the same tar in another file": (_signed(compressed_otherwise(BUNDLE)), "get the file that was published"),
    "another predicate": (_changed(lambda s: s.update(predicateType="https://slsa.dev/vsa/v1")), "predicateType"),
    "a name that is a path": (
        _changed(lambda s: s["predicate"]["buildDefinition"]["externalParameters"].update(name="../x")),
        "is not a name for a package",
    ),
    "a commit that is a flag of git": (
        _changed(lambda s: _dependencies(s)[0].update(digest={"gitCommit": "--upload-pack=x"})),
        "is not a commit",
    ),
    "no statement": (b"{}", "is not signed"),
    "oversized": (SIGNED + b" " * provenance.LIMIT, "is larger than"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_refuses(attack: str) -> None:
    attested, reason = ATTACKS[attack]
    with pytest.raises(IntegrityError, match=r"\Abert\.tar\.gz\.sigstore\.json: ") as refused:
        verify(BERT, (SIGSTORE, attested), TRUST, what="bert.tar.gz")
    assert reason in str(refused.value)


def test_a_statement_with_any_value_is_refused_or_about_the_same_bundle() -> None:
    """A trusted signature makes no statement valid for a bundle that it does not name; and nobody else makes one."""
    for seed in range(tries(1000)):
        spoil = Grammar(seed).spoiled
        with suppress(IntegrityError):
            wrapped = spoil(MADE.payload())
            assert verify(BERT, (SIGSTORE, _wrap(wrapped)), TRUST, what="x").provenance
            assert all(digest.encode() in wrapped for digest in (BERT.digest.hex, BERT.tar))
        with suppress(IntegrityError):
            assert envelope.open(spoil(SIGNED), TRUST, file="x").payload == MADE.payload()


def test_other_libraries_of_the_formats_accept_it() -> None:
    from google.protobuf.json_format import Parse
    from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance as Predicate
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as Message

    Statement.copy_from_pb(Parse(MADE.payload(), Message())).validate()
    Parse(json.dumps(json.loads(MADE.payload())["predicate"]), Predicate())  # refuses unknown fields


# What is proved of a bundle, as data and in words.

SHORT = f"{KEY.public.id[:19]}…"
NAMED = Trust.of(replace(KEY.public, name="release"))


def test_without_a_trusted_key_it_says_what_it_could_not_prove() -> None:
    assert list(verify(BERT, (SIGSTORE, SIGNED), NOBODY, what="x").describe())[1:] == [
        f"not verified: it names {SHORT} as its signer, which you do not trust",
        "get the public key from its publisher, then: packyard keys trust FILE CHANNEL",
        f"built by packyard {__version__} from commit 0123456789ab (no signature proves that)",
    ]
    assert list(verify(BERT, None, NOBODY, what="x").describe())[1:] == [
        "not signed: nobody can tell who published it",
        "nothing says how it was built: it has no provenance",
    ]


def test_a_signed_index_that_lists_it_proves_it_without_signed_provenance() -> None:
    for attested in (None, (PROVENANCE, MADE.to_bytes()), (SIGSTORE, MADE.to_bytes(OTHER))):
        proof = verify(BERT, attested, NAMED, what="x", index=Index(signers=(KEY.public.id,)))
        assert proof.vouching
        assert list(proof.describe())[:2] == [
            "bert 1.0: its files are intact, and the channel lists it",
            f"signed by release ({SHORT}), which you trust",
        ]


def test_a_signed_index_excuses_no_forged_signature() -> None:
    place = SIGNED.index(b'"sig": "') + 20
    forged = SIGNED[:place] + b"AAAAAAAAAA" + SIGNED[place + 10 :]
    with pytest.raises(IntegrityError, match=r"was changed|base64"):
        verify(BERT, (SIGSTORE, forged), TRUST, what="x", index=Index(signers=(KEY.public.id,)))


def test_another_sbom_than_the_one_of_the_provenance_is_refused() -> None:
    with pytest.raises(IntegrityError, match=r"x\.spdx\.json: is not the SBOM that the provenance names"):
        with_sbom(verify(BERT, (SIGSTORE, SIGNED), TRUST, what="x"), SBOM + b" ", what="x")
    without = Statement(BERT, INPUTS, None).to_bytes(KEY)
    with pytest.raises(IntegrityError, match=r"expected none"):
        with_sbom(verify(BERT, (SIGSTORE, without), TRUST, what="x"), SBOM, what="x")


# What cosign and its kin read, by Sigstore's own parsers; cosign itself is in `nightly/test_cosign.py`.


def test_the_bundle_is_one_that_sigstore_reads_and_its_envelope_is_signed() -> None:
    from securesystemslib.dsse import Envelope  # imports boto3
    from sigstore_models.bundle.v1 import Bundle as SigstoreBundle

    SigstoreBundle.from_json(SIGNED)
    signed = json.loads(SIGNED)["dsseEnvelope"]
    (signature,) = signed["signatures"]  # sigstore-go demands one, and takes an id for one of another kind
    assert [*signature] == ["sig"]
    payload = b64decode(signed["payload"])
    assert KEY.public.has_signed(Envelope(payload, signed["payloadType"], {}).pae(), b64decode(signature["sig"]))


def test_readers_take_a_statement_of_several_subjects_and_find_the_file_by_its_name() -> None:
    document = json.loads(MADE.payload())
    file, manifest = document["subject"]
    others = [{"digest": {"sha512": "0" * 128}}, {"name": "x.tar.gz", "digest": {"sha256": "0" * 64}}]
    for subjects in ([file], [manifest, file], [*others, manifest, file]):
        assert verify(BERT, (SIGSTORE, _wrap({**document, "subject": subjects})), TRUST, what="x").provenance
    for subjects in ([], [manifest], [file, {**file, "digest": manifest["digest"]}]):
        with pytest.raises(IntegrityError, match=r"subject bert\.tar\.gz: must be one"):
            verify(BERT, (SIGSTORE, _wrap({**document, "subject": subjects})), TRUST, what="x")


def test_publishing_again_leaves_a_signed_statement_that_verifies(tmp_path: Path) -> None:
    private = generate_private_key(SECP256R1())
    changing = SigningKey.of(private)  # which signs the same bytes by another signature each time
    one, two = (proof(BERT, changing) for _ in range(2))
    assert one != two
    store, by = DirectoryStore(tmp_path / "changing"), Publisher(key=changing)
    for objects in (one, two):
        store.put(BERT.beside(SIGSTORE), one[BERT.beside(SIGSTORE)])
        publish(store, [BUNDLE], attest=lambda _, objects=objects: objects, by=by)
        assert store.get(BERT.beside(SIGSTORE)) == one[BERT.beside(SIGSTORE)]
    publish(store, [BUNDLE], attest=lambda entry: {entry.beside(PROVENANCE): MADE.to_bytes()}, by=by)
    assert BERT.beside(PROVENANCE) not in store.list("")
