"""Provenance: what it says of a bundle, byte by byte the same, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from packyard import __version__
from packyard.core.bundle import record
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.core.files.git import Revision
from packyard.sharing.fetching.verify import verify_bundle
from packyard.sharing.trust import envelope, provenance, sbom
from packyard.sharing.trust.keys import SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance, Statement
from sample import tries
from sharing.examples import bundle, compressed_otherwise
from sharing.hostile import Grammar

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
TRUST = Trust.of(KEY.public)
BERT = bundle()
INPUTS = {"packages/bert/package.yaml": Digest.of(b"1"), "bases/job.yaml": Digest.of(b"2")}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REVISION = Revision(commit=COMMIT, url="git+https://example.com/zoo.git", folder="zoo")
SBOM = sbom.to_bytes(BERT)
MADE = Statement(BERT, INPUTS, REVISION, sbom=SBOM)
SIGNED = MADE.to_bytes(KEY)


def test_is_an_in_toto_statement_in_the_words_of_slsa() -> None:
    found = json.loads(MADE.payload())
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    digest = {"sha256": Digest.of(BERT.data).hex}
    assert found["subject"] == [{"name": "bert.tar.gz", "digest": digest, "annotations": {"tar": BERT.tar}}]
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
    assert details["byproducts"] == [{"name": "bert.tar.gz.spdx.json", "digest": {"sha256": Digest.of(SBOM).hex}}]


def test_what_is_judged_and_shown_is_read_back() -> None:
    read = verify_bundle(BERT, SIGNED, TRUST, what="x").provenance
    assert read == Provenance(packyard=__version__, commit=COMMIT, sbom=Digest.of(SBOM))
    changed = Statement(BERT, INPUTS, Revision(commit=COMMIT, changed=frozenset(INPUTS))).to_bytes(KEY)
    proof = verify_bundle(BERT, changed, TRUST, what="x")
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


def _changed(change: Callable[[Any], object]) -> bytes:
    document = json.loads(MADE.payload())
    change(document)
    return _wrap(document)


def _dependencies(document: Any) -> Any:
    return document["predicate"]["buildDefinition"]["resolvedDependencies"]


#: Signed by the trusted key: what it must not be believed, all the same.
ATTACKS: dict[str, tuple[bytes, str]] = {
    "two subjects": (
        _changed(lambda s: s["subject"].append(s["subject"][0])),
        "bert.tar.gz: must be one, found 2",
    ),
    "another bundle's provenance": (Statement(bundle("gpt"), {}, None).to_bytes(KEY), "is about gpt@1.0"),
    "another version's provenance": (Statement(bundle(version="2"), {}, None).to_bytes(KEY), "is about bert@2"),
    "the same version with other content": (
        Statement(bundle(text="other"), {}, None).to_bytes(KEY),
        "get the file that was published",
    ),
    "the same tar in another file": (
        Statement(compressed_otherwise(BERT), {}, None).to_bytes(KEY),
        "get the file that was published",
    ),
    "a subject of another name": (
        _changed(lambda s: s["subject"][0].update(name="gpt.tar.gz")),
        "bert.tar.gz: must be one, found 0",
    ),
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
    with pytest.raises(IntegrityError, match=r"\Abert\.tar\.gz\.(intoto|sigstore)\.json: ") as refused:
        verify_bundle(BERT, attested, TRUST, what="bert.tar.gz")
    assert reason in str(refused.value)


def test_a_statement_with_any_value_is_refused_or_about_the_same_bundle() -> None:
    """A trusted signature makes no statement valid for a bundle that it does not name; and nobody else makes one."""
    for seed in range(tries(1000)):
        spoil = Grammar(seed).spoiled
        with suppress(IntegrityError):
            wrapped = spoil(MADE.payload())
            assert verify_bundle(BERT, _wrap(wrapped), TRUST, what="x").provenance
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
