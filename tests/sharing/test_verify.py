"""What is proved of a bundle, as data and in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from packyard import __version__
from packyard.core.errors import IntegrityError
from packyard.sharing.fetching.verify import verify_bundle, verify_listed, with_sbom
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust
from packyard.sharing.trust.provenance import Statement
from sharing.examples import bundle
from sharing.test_provenance import BERT, INPUTS, KEY, MADE, OTHER, READ, SBOM, SIGNED, TRUST

NAMED = Trust.of(replace(KEY.public, name="release"))


def test_says_what_a_trusted_signature_proves() -> None:
    proof = with_sbom(verify_bundle(BERT, SIGNED, NAMED, what="x"), SBOM, what="x")
    assert (proof.signers, proof.others, proof.has_sbom, proof.is_proved) == ((KEY.public.id,), (), True, True)
    assert proof.provenance == READ
    short = KEY.public.id[:19]
    assert proof.describe() == (
        f"bert 1.0: files are intact. Built by packyard {__version__} from commit 0123456789ab, "
        f"signed by release ({short}…); the SBOM belongs to it"
    )


def test_without_a_trusted_key_it_says_what_it_could_not_prove() -> None:
    said = verify_bundle(BERT, SIGNED, NOBODY, what="x").describe()
    assert (
        f"Not proved: built by packyard {__version__} from commit 0123456789ab. It says that it is signed by " in said
    )
    assert f"{KEY.public.id}, which you do not trust (packyard keys trust FILE CHANNEL), so its publisher" in said
    assert (
        "It is signed by nobody, so its publisher is unknown"
        in verify_bundle(BERT, MADE.to_bytes(), NOBODY, what="x").describe()
    )
    assert "it has no provenance" in verify_bundle(BERT, None, NOBODY, what="x").describe()


def test_a_signed_index_that_lists_it_proves_it_without_signed_provenance() -> None:
    for attested in (None, MADE.to_bytes(), MADE.to_bytes(OTHER)):
        proof = verify_bundle(BERT, attested, NAMED, what="x", listed_by=[KEY.public.id])
        assert proof.is_proved
        assert "listed by the channel, signed by release" in proof.describe()
        assert "so its publisher is unknown" not in proof.describe()


def test_a_signed_index_excuses_no_forged_signature() -> None:
    place = SIGNED.index(b'"sig": "') + 20
    forged = SIGNED[:place] + b"AAAAAAAAAA" + SIGNED[place + 10 :]
    with pytest.raises(IntegrityError, match=r"was altered|base64"):
        verify_bundle(BERT, forged, TRUST, what="x", listed_by=[KEY.public.id])


def test_provenance_by_a_key_that_was_stolen_is_refused_unless_a_signed_index_lists_the_bundle() -> None:
    new = Trust.of(OTHER.public)
    with pytest.raises(IntegrityError, match="which you do not trust"):
        verify_bundle(BERT, SIGNED, new, what="x")
    proof = verify_bundle(BERT, SIGNED, new, what="x", listed_by=[OTHER.public.id])
    assert (proof.signers, proof.others) == ((), (KEY.public.id,))


def test_another_sbom_than_the_one_of_the_provenance_is_refused() -> None:
    with pytest.raises(IntegrityError, match=r"x\.spdx\.json: is not the SBOM that the provenance names"):
        with_sbom(verify_bundle(BERT, SIGNED, TRUST, what="x"), SBOM + b" ", what="x")
    without = Statement(BERT, INPUTS, None).to_bytes(KEY)
    with pytest.raises(IntegrityError, match=r"expected none"):
        with_sbom(verify_bundle(BERT, without, TRUST, what="x"), SBOM, what="x")


@pytest.fixture
def listed(tmp_path: Path) -> DirectoryStore:
    """A channel that lists `BERT`, with its provenance."""
    store = DirectoryStore(tmp_path / "channel")
    publish(store, [BERT], attest=lambda entry: {f"{entry.key}.sigstore.json": SIGNED}, by=Publisher(key=OTHER))
    return store


def test_what_a_signed_index_lists_is_verified_with_the_provenance_of_the_channel(listed: DirectoryStore) -> None:
    trusted = Trust.of(KEY.public, OTHER.public)
    found = access.read(listed, trusted)
    (entry,) = found.entries
    proof = verify_listed(found, entry, BERT, provenance.get(listed, "bert", "1.0"), trusted)
    assert (proof.signers, proof.listed_by, proof.provenance) == ((KEY.public.id,), (OTHER.public.id,), READ)
    with pytest.raises(IntegrityError, match=r"bert@1\.0: expected"):
        verify_listed(found, entry, bundle(text="other"), None, trusted)
