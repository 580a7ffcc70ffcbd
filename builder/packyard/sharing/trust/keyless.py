"""Identities: who signed a file without a key of their own, as Sigstore's certificates and log say.

sigstore-python verifies, by the keys of Sigstore's public service or those of a file; it is the extra ``keyless``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.core import extras
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.sharing.trust import provenance

if TYPE_CHECKING:
    from sigstore.verify import Verifier

LIMIT = provenance.LIMIT


def verify(digest: Digest, bundle: bytes, *, identity: str, issuer: str, root: Path | None, file: str) -> None:
    """Raise `IntegrityError` unless a Sigstore bundle says that an identity of an issuer signed a file.

    What it signed is the file itself, or an in-toto statement with the file as a subject. ``root`` is a file with a
    trusted root; without it that of the public service is asked for. Where there is none, it raises `InputError` about
    the file, or `UnavailableError`.
    """
    try:
        from sigstore.errors import Error
        from sigstore.hashes import Hashed
        from sigstore.models import Bundle
        from sigstore.verify.policy import Identity
        from sigstore_models.common.v1 import HashAlgorithm
    except ImportError as error:
        absent = Problem("sigstore is not installed, which verifies identities", hint=extras.install("keyless"))
        raise InputError(absent) from error
    policy, verifier = Identity(identity=identity, issuer=issuer), _verifier(root)
    try:
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


def _verifier(root: Path | None) -> Verifier:
    """Return what verifies by the trusted root in a file, or by that of the public service, which is asked for it."""
    from sigstore.errors import Error
    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier

    try:
        if root is None:
            return Verifier.production()
        return Verifier(trusted_root=TrustedRoot.from_file(str(root)))
    except (Error, ValueError, OSError) as error:
        if root is None:
            problem = f"Sigstore's public service does not say which keys it has: {error}"
            hint = "try again, or name a file that has them: --trusted-root FILE"
            raise UnavailableError(Problem(" ".join(problem.split()), hint=hint)) from error
        reason = (error.strerror if isinstance(error, OSError) else "") or "is no trusted root of Sigstore"
        hint = "cosign trusted-root create writes one"
        raise InputError(Problem(reason, file=str(root), hint=hint)) from error


def _subjects(payload: bytes) -> list[str]:
    """Return the digests of a statement's subjects."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return [each["digest"].get("sha256") for each in json.loads(payload)["subject"]]
    return []
