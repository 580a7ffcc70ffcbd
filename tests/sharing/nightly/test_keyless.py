"""Who signed without a key: sigstore-python judges, offline, what somebody signed at Sigstore's public service."""

from pathlib import Path

import pytest
import sigstore
from sigstore.errors import TUFError
from sigstore.verify import Verifier

import real
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, UnavailableError
from packyard.sharing.trust import keyless
from packyard.sharing.trust.keys import Identity
from sharing.examples import proof
from sharing.test_provenance import BERT, KEY

pytestmark = pytest.mark.nightly  # the signature is of a pinned module

#: What cosign's own tests verify: its subject, who signed it, and who says so.
SUBJECT = Digest("sha256:732112270d7e59418a8c080b134b24cabd67d250d0d0147a97ed95ba5c280aa4")
IDENTITY, ISSUER = "cody@soyland.com", "https://github.com/login/oauth"


@pytest.fixture
def bundle() -> bytes:
    return (real.pinned_manifests() / "keyless.sigstore.json").read_bytes()


@pytest.fixture
def root() -> Path:
    """The public service's root, which sigstore-python carries."""
    return next(Path(sigstore.__file__).parent.rglob("*sigstore.dev/trusted_root.json"))


def verify(bundle: bytes, root: Path, *, name: str = IDENTITY, issuer: str = ISSUER) -> bytes:
    return keyless.check(bundle, Identity(name, issuer, root.read_text()), file="x.sigstore.json")


def test_the_identity_that_signed_is_accepted_and_no_other(bundle: bytes, root: Path) -> None:
    assert SUBJECT.hex.encode() in verify(bundle, root)
    for wrong in ({"name": "eve@example.com"}, {"issuer": "https://accounts.google.com"}):
        with pytest.raises(IntegrityError, match=r"x\.sigstore\.json: does not prove that .* signed it"):
            verify(bundle, root, **wrong)
    for other in (proof(BERT, KEY)[f"{BERT.key}.sigstore.json"], b"{}", b"", bundle[:-20]):
        with pytest.raises(IntegrityError, match="does not prove"):
            verify(other, root)


def test_keys_that_cannot_be_had_are_no_failed_proof(
    bundle: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(**_: bool) -> None:
        raise TUFError("Failed to refresh TUF metadata")

    monkeypatch.setattr(Verifier, "production", offline)
    with pytest.raises(UnavailableError, match=r"Failed to refresh TUF metadata \(try again, or .*--trusted-root FILE"):
        keyless.check(bundle, Identity(IDENTITY, ISSUER), file="x.sigstore.json")
    (tmp_path / "root.json").write_text("{}")
    with pytest.raises(InputError, match=r"is no trusted root of Sigstore \(cosign trusted-root create"):
        verify(bundle, tmp_path / "root.json")
