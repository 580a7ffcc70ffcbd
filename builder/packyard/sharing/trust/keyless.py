"""Identities: who signed without a key of their own, as Sigstore's certificates and log say.

sigstore-python signs and verifies, by Sigstore's public service or by another one; it is the extra ``keyless``.

    sigstore:                   sign by the public service, as the identity that the job has (GitHub, GitLab, …)
    sigstore:FILE               by the one that a client trust configuration describes

Whoever starts the job says who it is: SIGSTORE_ID_TOKEN has a token where the service of the job is not known.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeAlias

from packyard.core import extras
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files import regular
from packyard.sharing.trust.keys import Identity, SigningKey

LIMIT = 8 * 1024 * 1024  # bytes of a Sigstore bundle
TOKEN = "SIGSTORE_ID_TOKEN"  # the name of a variable
_ISSUER = "1.3.6.1.4.1.57264.1.1"  # the extension of a certificate that names it


@cache
def _sigstore() -> Any:
    """Return the library, which takes long to import."""
    try:
        import sigstore.dsse
        import sigstore.models
        import sigstore.oidc
        import sigstore.sign
        import sigstore.verify
    except ImportError as error:
        absent = Problem("sigstore is not installed, which knows identities", hint=extras.install("keyless"))
        raise InputError(absent) from error
    return sigstore


def check(bundle: bytes, identity: Identity, *, file: str) -> bytes:
    """Return the statement that an identity signed, or raise `IntegrityError` if the bundle does not prove that.

    Where the keys of its Sigstore cannot be had, it is an `UnavailableError`, or an `InputError` about its root.
    """
    sigstore, verifier = _sigstore(), _verifier(identity.root)
    try:
        wanted = sigstore.verify.policy.Identity(identity=identity.name, issuer=identity.issuer)
        payload: bytes = verifier.verify_dsse(sigstore.models.Bundle.from_json(bundle), wanted)[1]
        return payload
    except (sigstore.errors.Error, ValueError, OSError) as error:
        problem = f"does not prove that {identity.name} signed it: {error}"
        raise IntegrityError(Problem(" ".join(problem.split()), file=file)) from error


@dataclass(slots=True)
class JobIdentity:
    """The identity of whoever runs this: it signs by a certificate for some minutes, and gets another one after."""

    config: str
    _signer: Any = None

    @property
    def public(self) -> Identity:
        """Who it is, as its certificate says."""
        from cryptography.x509 import SubjectAlternativeName
        from cryptography.x509.oid import ObjectIdentifier

        extensions = self._certificate().extensions
        name = next(iter(extensions.get_extension_for_class(SubjectAlternativeName).value)).value
        issuer = extensions.get_extension_for_oid(ObjectIdentifier(_ISSUER)).value.value.decode()
        root = json.dumps(json.loads(self.config)["trustedRoot"]) if self.config else ""
        return Identity(name, issuer, root)

    def sign(self, statement: bytes) -> bytes:
        """Return the Sigstore bundle of an in-toto statement."""
        self._certificate()
        with _asked("cannot sign"):
            bundle: str = self._signer.sign_dsse(_sigstore().dsse.Statement(statement)).to_json()
            return bundle.encode()

    def _certificate(self) -> Any:
        """Return the certificate, which is asked for where there is none for the next minute."""
        if self._signer:
            certificate = self._signer._signing_cert()
            if certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(minutes=1):
                return certificate
        sigstore = _sigstore()
        with _asked("gives no certificate"):
            token = os.environ.get(TOKEN) or sigstore.oidc.detect_credential()
            if token is None:
                hint = f"run it in a job that has an identity, or set {TOKEN}"
                raise InputError(Problem("nobody says who this is", hint=hint))
            settings = sigstore.models.ClientTrustConfig
            config = settings.from_json(self.config) if self.config else settings.production()
            context = sigstore.sign.SigningContext.from_trust_config(config)
            self._signer = sigstore.sign.Signer(sigstore.oidc.IdentityToken(token), context)
            return self._signer._signing_cert()


#: What signs: a key, or an identity.
Signing: TypeAlias = SigningKey | JobIdentity


def open(uri: str) -> JobIdentity:
    """Return the identity that a URI names; see the module."""
    file = uri.removeprefix("sigstore:")
    return JobIdentity(regular.read(file, limit=LIMIT).decode() if file else "")


@contextmanager
def _asked(problem: str) -> Iterator[None]:
    """Say of whatever the library raises that Sigstore cannot be used."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # the library raises many kinds
        text = " ".join(f"Sigstore {problem}: {error or type(error).__name__}".split())
        raise UnavailableError(Problem(text, hint="try again, or sign by a key")) from error


@cache
def _verifier(root: str) -> Any:
    """Return what verifies by a trusted root, or by that of the public service, which is asked for it."""
    sigstore = _sigstore()
    verifier, error_kind = sigstore.verify.Verifier, sigstore.errors.Error
    if root:
        try:
            from sigstore_models.trustroot.v1 import TrustedRoot

            return verifier(trusted_root=sigstore.models.TrustedRoot(TrustedRoot.from_json(root)))
        except (error_kind, ValueError) as error:
            hint = "cosign trusted-root create writes one"
            raise InputError(Problem("this is no trusted root of Sigstore", hint=hint)) from error
    try:
        with suppress(error_kind, OSError):
            return verifier.production()
        return verifier.production(offline=True)
    except (error_kind, OSError) as error:
        problem = f"Sigstore's public service does not say which keys it has: {error}"
        hint = "try again, or name a file that has them: --trusted-root FILE"
        raise UnavailableError(Problem(" ".join(problem.split()), hint=hint)) from error
