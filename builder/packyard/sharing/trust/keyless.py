"""Identities: who signed a file without a key of their own, as Sigstore's certificates and log say.

sigstore-python verifies, by the keys of Sigstore's public service or those of a file; it is the extra ``keyless``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from packyard.core import extras
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.trust import provenance

LIMIT = provenance.LIMIT


def verify(digest: Digest, bundle: bytes, *, identity: str, issuer: str, root: Path | None, file: str) -> None:
    """Raise `IntegrityError` unless a Sigstore bundle says that an identity of an issuer signed a file.

    What it signed is the file itself, or an in-toto statement with the file as a subject. ``root`` is a file with a
    trusted root; without it that of the public service is asked for.
    """
    try:
        from sigstore.errors import Error
        from sigstore.hashes import Hashed
        from sigstore.models import Bundle, TrustedRoot
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity
        from sigstore_models.common.v1 import HashAlgorithm
    except ImportError as error:
        absent = Problem("sigstore is not installed, which verifies identities", hint=extras.install("keyless"))
        raise InputError(absent) from error
    policy = Identity(identity=identity, issuer=issuer)
    try:
        verifier = Verifier(trusted_root=TrustedRoot.from_file(str(root))) if root else Verifier.production()
        read = Bundle.from_json(bundle)
        if b'"dsseEnvelope"' not in bundle:
            hashed = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=bytes.fromhex(digest.hex))
            verifier.verify_artifact(hashed, read, policy)
            return
        payload = verifier.verify_dsse(read, policy)[1]
    except (Error, ValueError, OSError) as error:
        problem = f"does not prove that {identity} signed it: {error}"
        raise IntegrityError(Problem(" ".join(problem.split()), file=file)) from error
    if digest.hex not in _subjects(payload):
        raise IntegrityError(Problem(f"is about another file than {digest}", file=file))


def _subjects(payload: bytes) -> list[str]:
    """Return the digests of a statement's subjects."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return [each["digest"].get("sha256") for each in json.loads(payload)["subject"]]
    return []
