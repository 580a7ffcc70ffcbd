"""Signed bytes: DSSE envelopes (https://github.com/secure-systems-lab/dsse), with signatures or none.

    {
      "payload": "eyJ…",                           base64 of the bytes that are signed
      "payloadType": "application/vnd.in-toto+json",
      "signatures": [{"keyid": "sha256:…", "sig": "…"}]
    }

What is signed is not this JSON but `signed_bytes` of its payload and its type, so that neither can be given another
meaning.
A signature is looked up by its key id. A wrong id leads to no key, or to one that does not fit: it can make a signature
worthless, never valid. An envelope has one spelling, and no other is accepted.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.trust.keys import SigningKey, Trust

_MOST = 16  # signatures


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A payload; ``signers`` are the trusted keys that signed it, ``others`` the ids of keys that are said to have."""

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


def open(data: bytes, payload_type: str, trusted: Trust, *, file: str) -> Opened:
    """Return the payload of an envelope and who signed it, or raise `IntegrityError`; messages call it ``file``.

    Refused are another payload type, a wrong signature in the name of a trusted key, and an envelope that no trusted
    key signed where one is required.
    """
    payload, found_type, signatures = record.parse_any(data, _read, file=file)
    if data != _to_bytes(payload, found_type, signatures):
        raise IntegrityError(Problem("is not spelled as packyard writes envelopes", file=file))
    if found_type != payload_type:
        raise IntegrityError(Problem(f"must hold {payload_type}, found {found_type[:80]}", file=file))
    signed = signed_bytes(payload, payload_type)
    signers = []
    for signature in signatures:
        key = trusted.get(signature.key)
        if key is not None and not key.has_signed(signed, signature.value):
            raise IntegrityError(Problem(f"the signature of {signature.key} is wrong: it was altered", file=file))
        if key is not None:
            signers.append(signature.key)
    others = tuple(signature.key for signature in signatures if signature.key not in signers)
    if trusted.is_required and not signers:
        raise refusal(others, trusted, file)
    return Opened(payload=payload, signers=tuple(signers), others=others)


def refusal(others: Sequence[str], trusted: Trust, file: str) -> IntegrityError:
    """Say why the signatures do not count."""
    let_go = f"to require no signature there any more: {trusted.let_go}"
    if others:
        hint = f"if its publisher gave you that key by another way: {trusted.take}; {let_go}"
        return IntegrityError(Problem(f"is signed by {others[0]}, which you do not trust", file=file, hint=hint))
    hint = f"{', '.join(map(trusted.name, trusted.keys))} must have signed it: ask its publisher; {let_go}"
    return IntegrityError(Problem("is not signed", file=file, hint=hint))


def _to_bytes(payload: bytes, payload_type: str, signatures: Sequence[_Signature]) -> bytes:
    listed = [{"keyid": each.key, "sig": b64encode(each.value).decode()} for each in signatures]
    payload_text = b64encode(payload).decode()
    return record.to_bytes({"payload": payload_text, "payloadType": payload_type, "signatures": listed})


def _read(fields: Record) -> tuple[bytes, str, tuple[_Signature, ...]]:
    payload, payload_type = fields.take("payload", encoded), fields.take("payloadType", record.text)
    signatures = fields.take("signatures", record.list_of(_signature))
    if len({each.key for each in signatures}) != len(signatures) or len(signatures) > _MOST:
        raise FaultError(f"must have at most {_MOST} signatures, each by another key", "signatures")
    return payload, payload_type, signatures


def _signature(value: object) -> _Signature:
    fields = Record(value)
    return _Signature(fields.take("keyid", record.digest), fields.take("sig", encoded))


def encoded(value: object) -> bytes:
    """Read bytes that a text has as base64."""
    text = record.text(value)
    try:
        return b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or a character beyond ASCII
        raise FaultError("must be base64") from error
