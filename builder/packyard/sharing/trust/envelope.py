"""Signed bytes: a DSSE envelope (https://github.com/secure-systems-lab/dsse), alone or in a Sigstore bundle.

    {
      "payload": "eyJ…",                           base64 of the bytes that are signed
      "payloadType": "application/vnd.in-toto+json",
      "signatures": [{"keyid": "sha256:…", "sig": "…"}]
    }

    {
      "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
      "verificationMaterial": {"publicKey": {"hint": "…"}, "tlogEntries": []},     which key it was
      "dsseEnvelope": {"payload": "…", "payloadType": "…", "signatures": [{"sig": "…"}]}
    }

What is signed is not this JSON but `signed_bytes` of its payload and its type, so that neither can be given another
meaning. A signature is looked up by its key id. A wrong id leads to no key, or to one that does not fit: it can make a
signature worthless, never valid. An envelope has one spelling, and no other is accepted.

A Sigstore bundle (https://docs.sigstore.dev/about/bundle/) is what cosign and Flux read. Its hint is the id of the key,
which its envelope does not have: cosign takes a ``keyid`` for one of its own kind. No log has these signatures. One by
an identity has a certificate in place of the hint; see `keyless`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust

BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
#: What is said in place of the id of a key where an identity signed that is not trusted.
IDENTITY = "a Sigstore identity"
_MOST = 16  # signatures


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A payload; ``signers`` are those trusted who signed it, ``others`` the ids of keys that are said to have."""

    payload: bytes
    signers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Signature:
    key: str
    value: bytes


def signed_bytes(payload: bytes, payload_type: str) -> bytes:
    """Return what a signature signs: DSSE's pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, payload_type: str, keys: Sequence[SigningKey]) -> bytes:
    """Return the envelope of a payload, signed by each key; the same arguments give the same bytes."""
    signed = signed_bytes(payload, payload_type)
    return _to_bytes(payload, payload_type, [_Signature(key.public.id, key.sign(signed)) for key in keys])


def sign_bundle(payload: bytes, payload_type: str, key: SigningKey) -> bytes:
    """Return the Sigstore bundle of a payload; an Ed25519 key gives the same bytes for the same arguments."""
    signed = json.loads(sign(payload, payload_type, [key]))
    signed["signatures"][0].pop("keyid")
    hint = b64encode(bytes.fromhex(key.public.id.hex)).decode()
    material = {"publicKey": {"hint": hint}, "tlogEntries": list[object]()}
    return record.to_bytes({"mediaType": BUNDLE_TYPE, "verificationMaterial": material, "dsseEnvelope": signed})


def is_bundle(data: bytes) -> bool:
    """Return whether these bytes claim to be a Sigstore bundle."""
    return b'"dsseEnvelope"' in data or b'"messageSignature"' in data


def open(data: bytes, payload_type: str, trusted: Trust, *, file: str) -> Opened:
    """Return the payload of an envelope, or of a Sigstore bundle, and who signed it; messages call it ``file``.

    Refused by an `IntegrityError` are another payload type, a wrong signature in the name of somebody trusted, and what
    nobody who is trusted signed where a signature is required.
    """
    key = ""
    if is_bundle(data):
        key, data, whole = *record.parse_any(data, _read_bundle, file=file), data
        if not key:
            return _open_identity(whole, data, payload_type, trusted, file)
    payload, found_type, signatures = record.parse_any(data, _read, file=file)
    if data != _to_bytes(payload, found_type, signatures):
        raise IntegrityError(Problem("is not spelled as packyard writes envelopes", file=file))
    if found_type != payload_type:
        raise IntegrityError(Problem(f"must hold {payload_type}, found {found_type[:80]}", file=file))
    signed = signed_bytes(payload, payload_type)
    signers = []
    for signature in signatures:
        public = trusted.key(signature.key)
        if public is not None and not public.has_signed(signed, signature.value):
            raise IntegrityError(Problem(f"the signature of {signature.key} is wrong: it was altered", file=file))
        if public is not None:
            signers.append(signature.key)
    others = tuple(signature.key for signature in signatures if signature.key not in signers)
    if trusted.is_required and not signers:
        raise refusal(others, trusted, file)
    return Opened(payload=payload, signers=tuple(signers), others=others)


def _open_identity(data: bytes, signed: bytes, payload_type: str, trusted: Trust, file: str) -> Opened:
    """Return what an identity signed; nothing is proved of one that is not trusted."""
    payload = open(signed, payload_type, NOBODY, file=file).payload
    for identity in trusted.identities:
        from packyard.sharing.trust import keyless  # takes long to import

        with suppress(IntegrityError):
            return Opened(payload=keyless.check(data, identity, file=file), signers=(identity.id,))
    if trusted.is_required:
        raise refusal([IDENTITY], trusted, file)
    return Opened(payload=payload, others=(IDENTITY,))


def refusal(others: Sequence[str], trusted: Trust, file: str) -> IntegrityError:
    """Say why the signatures do not count."""
    let_go = f"to require no signature there any more: {trusted.let_go}"
    if others:
        hint = f"if its publisher gave you that key by another way: {trusted.take}; {let_go}"
        return IntegrityError(Problem(f"is signed by {others[0]}, which you do not trust", file=file, hint=hint))
    hint = f"{', '.join(map(trusted.name, trusted.signatories))} must have signed it: ask its publisher; {let_go}"
    return IntegrityError(Problem("is not signed", file=file, hint=hint))


def _to_bytes(payload: bytes, payload_type: str, signatures: Sequence[_Signature]) -> bytes:
    listed = [{"keyid": each.key, "sig": b64encode(each.value).decode()} for each in signatures]
    payload_text = b64encode(payload).decode()
    return record.to_bytes({"payload": payload_text, "payloadType": payload_type, "signatures": listed})


def _read(fields: Record) -> tuple[bytes, str, tuple[_Signature, ...]]:
    payload, payload_type = fields.take("payload", _encoded), fields.take("payloadType", record.text)
    signatures = fields.take("signatures", list_of(_signature))
    if len({each.key for each in signatures}) != len(signatures) or len(signatures) > _MOST:
        raise FaultError(f"must have at most {_MOST} signatures, each by another key", "signatures")
    return payload, payload_type, signatures


def _read_bundle(fields: Record) -> tuple[str, bytes]:
    """Return the id of the key, empty for an identity, and the envelope with it."""
    material, signed = fields.take("verificationMaterial", Record), fields.take("dsseEnvelope", Record)
    signatures = signed.take("signatures", list_of(Record))
    if len(signatures) != 1:
        raise FaultError(f"must be one, found {len(signatures)}", "dsseEnvelope.signatures")
    if "publicKey" not in material:
        return "", record.to_bytes({**signed.rest(), "signatures": list[object]()})
    key = f"sha256:{material.take('publicKey', Record).take('hint', _encoded).hex()}"
    return key, record.to_bytes({**signed.rest(), "signatures": [{**signatures[0].rest(), "keyid": key}]})


def _signature(value: object) -> _Signature:
    fields = Record(value)
    return _Signature(fields.take("keyid", record.digest), fields.take("sig", _encoded))


def _encoded(value: object) -> bytes:
    """Read bytes that a text has as base64."""
    text = record.text(value)
    try:
        return b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or a character beyond ASCII
        raise FaultError("must be base64") from error
