"""Sigstore bundles: a signed statement in the one form that cosign, Flux and packyard read.

    {
      "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
      "verificationMaterial": {"publicKey": {"hint": "…"}, "tlogEntries": []},     which key it was
      "dsseEnvelope": {"payload": "…", "payloadType": "…", "signatures": [{"sig": "…"}]}
    }

https://docs.sigstore.dev/about/bundle/. The hint is the id of the key, which its envelope does not have: cosign takes a
``keyid`` for one of its own kind. No log has these signatures: who verifies by cosign says so
(``--insecure-ignore-tlog``). A bundle by an identity has a certificate in place of the hint; see `keyless`.
"""

from __future__ import annotations

import json
from base64 import b64encode

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of
from packyard.sharing.trust import envelope
from packyard.sharing.trust.envelope import Opened, encoded
from packyard.sharing.trust.keys import SigningKey, Trust

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
#: What is said in place of the id of a key where an identity signed.
IDENTITY = "a Sigstore identity"


def sign(payload: bytes, payload_type: str, key: SigningKey) -> bytes:
    """Return the Sigstore bundle of a payload; an Ed25519 key gives the same bytes for the same arguments."""
    signed = json.loads(envelope.sign(payload, payload_type, [key]))
    signed["signatures"][0].pop("keyid")
    hint = b64encode(bytes.fromhex(key.public.id.hex)).decode()
    material = {"publicKey": {"hint": hint}, "tlogEntries": list[object]()}
    return record.to_bytes({"mediaType": MEDIA_TYPE, "verificationMaterial": material, "dsseEnvelope": signed})


def is_bundle(data: bytes) -> bool:
    """Return whether these bytes claim to be a Sigstore bundle."""
    return b'"dsseEnvelope"' in data or b'"messageSignature"' in data


def open(data: bytes, payload_type: str, trusted: Trust, *, file: str) -> Opened:
    """Return what is signed, and by whom; signatures are treated as `envelope.open` does."""
    key, signed = record.parse_any(data, _read, file=file)
    if key:
        return envelope.open(signed, payload_type, trusted, file=file)
    if trusted.is_required:
        raise envelope.refusal([IDENTITY], trusted, file)
    payload = envelope.open(signed, payload_type, trusted, file=file).payload
    return Opened(payload=payload, others=(IDENTITY,))


def _read(fields: Record) -> tuple[str, bytes]:
    """Return the id of the key, empty for an identity, and the envelope with it."""
    material, signed = fields.take("verificationMaterial", Record), fields.take("dsseEnvelope", Record)
    signatures = signed.take("signatures", list_of(Record))
    if len(signatures) != 1:
        raise FaultError(f"must be one, found {len(signatures)}", "dsseEnvelope.signatures")
    if "publicKey" not in material:
        return "", record.to_bytes({**signed.rest(), "signatures": list[object]()})
    key = f"sha256:{material.take('publicKey', Record).take('hint', encoded).hex()}"
    return key, record.to_bytes({**signed.rest(), "signatures": [{**signatures[0].rest(), "keyid": key}]})
