"""Signed statements: what is signed, and every attack by its name."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from packyard.core.bundle import record
from packyard.core.errors import IntegrityError
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import SigningKey, Trust

PAYLOAD = b'{"_type": "https://in-toto.io/Statement/v1"}'
KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
TRUST = Trust.of(KEY.public)
SIGNED = envelope.sign(PAYLOAD, KEY)


def _open(data: bytes, trusted: Trust = TRUST) -> envelope.Opened:
    return envelope.open(data, trusted, file="x.json")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _changed(**fields: Any) -> bytes:
    """Return what is signed with other fields in its envelope, or other material."""
    document = json.loads(SIGNED)
    material = {"publicKey": {"hint": fields.pop("hint")}} if "hint" in fields else document["verificationMaterial"]
    signed = {**document["dsseEnvelope"], **fields}
    return record.to_bytes({**document, "verificationMaterial": material, "dsseEnvelope": signed})


def _signature(key: SigningKey, signed: bytes) -> list[Any]:
    return [{"sig": _encoded(key.sign(signed))}]


def test_says_who_signed_and_signs_what_the_specification_of_dsse_says_by_the_same_bytes() -> None:
    opened = _open(SIGNED, Trust.of(KEY.public, OTHER.public))
    assert (opened.payload, opened.signers, opened.claimants) == (PAYLOAD, (KEY.public.id,), ())
    assert envelope.signed_bytes("é".encode()) == "DSSEv1 28 application/vnd.in-toto+json 2 é".encode()
    assert envelope.sign(PAYLOAD, KEY) == SIGNED
    assert _open(SIGNED, Trust.of(OTHER.public).optional()).claimants == (KEY.public.id,)


_SIGNED = envelope.signed_bytes(PAYLOAD)
ATTACKS: dict[str, tuple[bytes, str]] = {
    "another payload under the signature": (_changed(payload=_encoded(b"{}")), "it was changed"),
    "a payload signed as another type": (
        _changed(signatures=_signature(KEY, _SIGNED.replace(b"in-toto", b"in-tata"))),
        "it was changed",
    ),
    "an untrusted key's signature in the name of a trusted key": (
        _changed(signatures=_signature(OTHER, _SIGNED)),
        "it was changed",
    ),
    "two signatures": (_changed(signatures=_signature(KEY, _SIGNED) * 2), "must be one, found 2"),
    "a key id that is none": (_changed(hint=_encoded(b"release")), ", and you trust "),
    "no base64": (_changed(payload="é"), "must be base64"),
    "a field twice": (SIGNED.replace(b'"payload":', b'"payload": "e30=",\n  "payload":'), "a key appears twice"),
    "too long": (SIGNED + b" " * record.LIMIT, "it is larger than"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_refuses(attack: str) -> None:
    data, reason = ATTACKS[attack]
    with pytest.raises(IntegrityError, match=r"\Ax\.json: ") as refused:
        _open(data)
    assert reason in str(refused.value)


def test_a_refusal_names_the_commands_that_trust_and_let_go_of_the_channel() -> None:
    trusted = Trust.of(KEY.public, channel="/srv/our models")
    signed = f"names {OTHER.public.id[:19]}… as its signer, and you trust {KEY.public.id[:19]}…"
    for data, says in ((PAYLOAD, "is not signed"), (envelope.sign(PAYLOAD, OTHER), signed)):
        with pytest.raises(IntegrityError, match=says) as refused:
            _open(data, trusted)
        assert refused.value.problems[0].hint.endswith(": packyard keys untrust '/srv/our models'")
        assert ("packyard keys trust FILE '/srv/our models'" in refused.value.problems[0].hint) == (data != PAYLOAD)
