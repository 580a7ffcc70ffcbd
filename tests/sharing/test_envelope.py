"""Envelopes: what they sign, verified by openssl too, and every attack by its name."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from packyard.core.bundle import record
from packyard.core.errors import IntegrityError
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust

TYPE = "application/vnd.in-toto+json"
PAYLOAD = b'{"_type": "https://in-toto.io/Statement/v1"}'
KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(32)))
OTHER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(b"\1" * 32))
TRUST = Trust.of(KEY.public)
SIGNED = envelope.sign(PAYLOAD, TYPE, [KEY])


def _open(data: bytes, trusted: Trust = TRUST, payload_type: str = TYPE) -> envelope.Opened:
    return envelope.open(data, payload_type, trusted, file="head.json")


def _changed(**fields: Any) -> bytes:
    return record.to_bytes({**json.loads(SIGNED), **fields})


def test_signs_what_the_specification_of_dsse_says() -> None:
    example = envelope.signed_bytes(b"hello world", "http://example.com/HelloWorld")
    assert example == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_lengths_count_bytes_not_characters() -> None:
    assert envelope.signed_bytes("é".encode(), "ü") == "DSSEv1 2 ü 2 é".encode()


def test_opens_what_it_signed_and_says_who_signed() -> None:
    both = envelope.sign(PAYLOAD, TYPE, [KEY, OTHER])
    opened = _open(both)
    assert opened.payload == PAYLOAD
    assert (opened.signers, opened.others) == ((KEY.public.id,), (OTHER.public.id,))
    assert _open(both, Trust.of(OTHER.public, KEY.public)).signers == (KEY.public.id, OTHER.public.id)


def test_the_same_payload_and_key_give_the_same_bytes() -> None:
    assert envelope.sign(PAYLOAD, TYPE, [KEY]) == SIGNED


def test_an_envelope_without_signatures_is_read_where_none_is_required() -> None:
    opened = _open(envelope.sign(PAYLOAD, TYPE, []), NOBODY)
    assert (opened.payload, opened.signers, opened.others) == (PAYLOAD, (), ())


def _signature_of(data: bytes, payload_type: str = TYPE, key: SigningKey = KEY) -> list[Any]:
    return list(json.loads(envelope.sign(data, payload_type, [key]))["signatures"])


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


_FORGED = [{"keyid": KEY.public.id, "sig": _signature_of(PAYLOAD, key=OTHER)[0]["sig"]}]

ATTACKS: dict[str, tuple[bytes, str]] = {
    "another payload under the signature": (_changed(payload=_encoded(b"{}")), "is wrong: it was altered"),
    "a payload type that was swapped": (_changed(payloadType="application/json"), f"must hold {TYPE}, found appl"),
    "a payload signed as another type": (
        _changed(signatures=_signature_of(PAYLOAD, "application/json")),
        "is wrong: it was altered",
    ),
    "bytes moved from the payload to the type": (
        envelope.sign(PAYLOAD[1:], TYPE + PAYLOAD[:1].decode(), [KEY]),
        "must hold",
    ),
    "no signatures where one is required": (envelope.sign(PAYLOAD, TYPE, []), "head.json: is not signed"),
    "a signature by an untrusted key": (envelope.sign(PAYLOAD, TYPE, [OTHER]), "which you do not trust"),
    "an untrusted key's signature in the name of a trusted key": (_changed(signatures=_FORGED), "is wrong"),
    "a signature that is too long": (
        _changed(signatures=[{"keyid": KEY.public.id, "sig": _encoded(bytes(65))}]),
        "is wrong",
    ),
    "the same signature twice": (_changed(signatures=_signature_of(PAYLOAD) * 2), "each by another key"),
    "many signatures": (
        _changed(signatures=[{"keyid": f"sha256:{n:064x}", "sig": ""} for n in range(1000)]),
        "at most 16 signatures",
    ),
    "a key id that is none": (_changed(signatures=[{"keyid": "release", "sig": ""}]), "is not a digest"),
    "base64 with bits behind its end": (_changed(payload="e31="), "is not spelled as"),
    "a field more": (_changed(extra=1), "is not spelled as"),
    "a field twice": (SIGNED.replace(b'"payload":', b'"payload": "e30=",\n  "payload":'), "a key appears twice"),
    "another spelling of the same JSON": (json.dumps(json.loads(SIGNED)).encode(), "is not spelled as"),
    "bytes behind the end": (SIGNED + b"\n", "is not spelled as"),
    "too long": (SIGNED + b" " * record.LIMIT, "it is larger than"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_refuses(attack: str) -> None:
    data, reason = ATTACKS[attack]
    with pytest.raises(IntegrityError, match=r"\Ahead\.json: ") as refused:
        _open(data)
    assert reason in str(refused.value)


def test_a_refusal_names_the_commands_that_trust_and_let_go_of_the_channel() -> None:
    trusted = Trust.of(KEY.public, channel="/srv/our models")
    for keys, says in (([], "is not signed"), ([OTHER], f"is signed by {OTHER.public.id}, which you do not trust")):
        with pytest.raises(IntegrityError, match=says) as refused:
            _open(envelope.sign(PAYLOAD, TYPE, keys), trusted)
        assert refused.value.problems[0].hint.endswith(": packyard keys untrust '/srv/our models'")
        assert ("packyard keys trust FILE '/srv/our models'" in refused.value.problems[0].hint) == bool(keys)


def test_every_changed_byte_is_found() -> None:
    for place in range(len(SIGNED)):
        for bit in (1, 32, 128):
            changed = bytearray(SIGNED)
            changed[place] ^= bit
            with pytest.raises(IntegrityError):
                _open(bytes(changed))
