"""What is proved of a bundle, as data and in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from packyard import __version__
from packyard.core.errors import IntegrityError
from packyard.sharing.fetching.verify import verify_bundle, with_sbom
from packyard.sharing.index.index import Index
from packyard.sharing.trust.keys import NOBODY, Trust
from packyard.sharing.trust.provenance import Statement
from sharing.test_provenance import BERT, INPUTS, KEY, MADE, OTHER, SBOM, SIGNED, TRUST

SHORT = f"{KEY.public.id[:19]}…"
NAMED = Trust.of(replace(KEY.public, name="release"))


def test_says_what_a_trusted_signature_proves() -> None:
    proof = with_sbom(verify_bundle(BERT, SIGNED, NAMED, what="x"), SBOM, what="x")
    assert (proof.signers, proof.vouching, proof.others, proof.has_sbom) == (*[(KEY.public.id,)] * 2, (), True)
    assert list(proof.describe()) == [
        "bert 1.0: its files are intact",
        f"signed by release ({SHORT}), which you trust",
        f"built by packyard {__version__} from commit 0123456789ab",
        "the SBOM beside it is the one that its provenance names",
    ]


def test_without_a_trusted_key_it_says_what_it_could_not_prove() -> None:
    assert list(verify_bundle(BERT, SIGNED, NOBODY, what="x").describe())[1:] == [
        f"not verified: it names {SHORT} as its signer, which you do not trust",
        "get the public key from its publisher, then: packyard keys trust FILE CHANNEL",
        f"built by packyard {__version__} from commit 0123456789ab (no signature proves that)",
    ]
    assert list(verify_bundle(BERT, None, NOBODY, what="x").describe())[1:] == [
        "not signed: nobody can tell who published it",
        "nothing says how it was built: it has no provenance",
    ]


def test_a_signed_index_that_lists_it_proves_it_without_signed_provenance() -> None:
    for attested in (None, MADE.to_bytes(), MADE.to_bytes(OTHER)):
        proof = verify_bundle(BERT, attested, NAMED, what="x", index=Index(signers=(KEY.public.id,)))
        assert proof.vouching
        assert list(proof.describe())[:2] == [
            "bert 1.0: its files are intact, and the channel lists it",
            f"signed by release ({SHORT}), which you trust",
        ]


def test_a_signed_index_excuses_no_forged_signature() -> None:
    place = SIGNED.index(b'"sig": "') + 20
    forged = SIGNED[:place] + b"AAAAAAAAAA" + SIGNED[place + 10 :]
    with pytest.raises(IntegrityError, match=r"was changed|base64"):
        verify_bundle(BERT, forged, TRUST, what="x", index=Index(signers=(KEY.public.id,)))


def test_another_sbom_than_the_one_of_the_provenance_is_refused() -> None:
    with pytest.raises(IntegrityError, match=r"x\.spdx\.json: is not the SBOM that the provenance names"):
        with_sbom(verify_bundle(BERT, SIGNED, TRUST, what="x"), SBOM + b" ", what="x")
    without = Statement(BERT, INPUTS, None).to_bytes(KEY)
    with pytest.raises(IntegrityError, match=r"expected none"):
        with_sbom(verify_bundle(BERT, without, TRUST, what="x"), SBOM, what="x")
