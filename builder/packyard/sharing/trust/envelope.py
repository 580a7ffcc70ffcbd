"""Signed statements: an in-toto statement in a DSSE envelope, in a Sigstore bundle.

    {
      "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
      "verificationMaterial": {"publicKey": {"hint": "…"}, "tlogEntries": []},     which key it was
      "dsseEnvelope": {"payload": "eyJ…", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "…"}]}
    }

What is signed is not this JSON but `signed_bytes` of the statement (https://github.com/secure-systems-lab/dsse). The
hint is the id of the key, in base64; a wrong one leads to no key, or to one that does not fit: it can make a signature
worthless, never valid. One by an identity has a certificate in place of the hint; see `keyless`.

This is what cosign and Flux read (https://docs.sigstore.dev/about/bundle/); no log has the signatures of keys.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.trust.keyless import Signing, check
from packyard.sharing.trust.keys import IDENTITY, Identity, SigningKey, Trust

BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A statement; ``signers`` are those trusted who signed it, ``claimants`` the ids of keys that are said to have."""

    payload: bytes
    signers: tuple[str, ...] = ()
    claimants: tuple[str, ...] = ()

    @property
    def is_signed(self) -> bool:
        """Whether anybody signed it."""
        return bool(self.signers or self.claimants)


def signed_bytes(payload: bytes) -> bytes:
    """Return what a signature signs: DSSE's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(statement: bytes, by: Signing) -> bytes:
    """Return the Sigstore bundle of a statement; an Ed25519 key gives the same bytes for the same arguments."""
    if not isinstance(by, SigningKey):
        return by.sign(statement)
    signature = b64encode(by.sign(signed_bytes(statement))).decode()
    signed = {"payload": b64encode(statement).decode(), "payloadType": PAYLOAD_TYPE, "signatures": [{"sig": signature}]}
    hint = b64encode(bytes.fromhex(by.public.id.hex)).decode()
    material = {"publicKey": {"hint": hint}, "tlogEntries": list[object]()}
    return record.to_bytes({"mediaType": BUNDLE_TYPE, "verificationMaterial": material, "dsseEnvelope": signed})


def is_bundle(data: bytes) -> bool:
    """Return whether these bytes claim to be a Sigstore bundle."""
    return b'"dsseEnvelope"' in data or b'"messageSignature"' in data


def open(data: bytes, trusted: Trust, *, file: str) -> Opened:
    """Return what a Sigstore bundle signs, and who did; what nobody signed is returned as it is.

    Refused by an `IntegrityError`, which calls it ``file``, are a wrong signature in the name of somebody trusted, and
    what nobody who is trusted signed where a signature is required.
    """
    opened = _opened(data, trusted, file) if is_bundle(data) else Opened(payload=data)
    if trusted.is_required and not opened.signers:
        raise _refusal(opened.claimants, trusted, file)
    return opened


def _opened(data: bytes, trusted: Trust, file: str) -> Opened:
    key, payload, signature = record.parse_any(data, _read, file=file)
    if key is None:
        for identity in (signatory for signatory in trusted.signatories.values() if isinstance(signatory, Identity)):
            with suppress(IntegrityError):
                return Opened(payload=check(data, identity, file=file), signers=(identity.id,))
        return Opened(payload=payload, claimants=(IDENTITY,))
    public = trusted.key(key)
    if public is None:
        return Opened(payload=payload, claimants=(key,))
    if not public.has_signed(signed_bytes(payload), signature):
        raise IntegrityError(Problem(f"does not match the signature of {trusted.name(key)}: it was changed", file=file))
    return Opened(payload=payload, signers=(key,))


def _read(fields: Record) -> tuple[str | None, bytes, bytes]:
    """Return the id of the key, None for an identity, the statement and the signature."""
    material, signed = fields.take("verificationMaterial", Record), fields.take("dsseEnvelope", Record)
    if (kind := signed.take("payloadType", record.text)) != PAYLOAD_TYPE:
        raise FaultError(f"must hold {PAYLOAD_TYPE}, found {kind[:80]}", "dsseEnvelope.payloadType")
    signatures = signed.take("signatures", list_of(Record))
    if len(signatures) != 1:
        raise FaultError(f"must be one, found {len(signatures)}", "dsseEnvelope.signatures")
    has_key = "publicKey" in material
    key = f"sha256:{material.take('publicKey', Record).take('hint', _encoded).hex()}" if has_key else None
    return key, signed.take("payload", _encoded), signatures[0].take("sig", _encoded)


def _refusal(claimants: Sequence[str], trusted: Trust, file: str) -> IntegrityError:
    """Say why the signature does not count."""
    names, let_go = " or ".join(map(trusted.name, trusted.signatories)), f"to require no signature: {trusted.let_go}"
    if claimants:
        problem = f"names {trusted.name(claimants[0])} as its signer, and you trust {names}"
        hint = f"did its publisher change keys? {trusted.take(claimants[0])}; {let_go}"
        return IntegrityError(Problem(problem, file=file, hint=hint))
    problem = f"is not signed, and you require the signature of {names}"
    return IntegrityError(Problem(problem, file=file, hint=f"ask its publisher why; {let_go}"))


def _encoded(value: object) -> bytes:
    """Read bytes that a text has as base64."""
    text = record.text(value)
    try:
        return b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or a character beyond ASCII
        raise FaultError("must be base64") from error
