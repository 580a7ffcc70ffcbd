"""What Sigstore's tools verify of a signed bundle: cosign, and what is built on it, as Flux and policy-controller are.

    NAME.tar.gz.sigstore.json    the signed provenance as a Sigstore bundle: beside the file, a referrer in registries
    NAME.tar.gz.cosign.json      the manifest's digest as cosign signs it; registries have it as ``sha256-….sig``

https://docs.sigstore.dev/about/bundle/, https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md. No log
has these signatures: who verifies says so (``--insecure-ignore-tlog``). A Sigstore bundle has one signature, so it has
that of the first key, whose id is its hint: cosign takes a ``keyid`` in the envelope for one of its own kind.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import COSIGN, SIGSTORE, IndexEntry, bundle_key
from packyard.sharing.stores.oci.manifest import SIGSTORE_TYPE, bundle_digest
from packyard.sharing.stores.store import Store, get_or_none
from packyard.sharing.trust import envelope, provenance
from packyard.sharing.trust.envelope import SIMPLE_SIGNING
from packyard.sharing.trust.keys import SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance

#: How the keys of both end.
ENDS = (SIGSTORE, COSIGN)
_LIMIT = 2 * provenance.LIMIT


def described(statement: Provenance, keys: Sequence[SigningKey]) -> Mapping[str, bytes]:
    """Return both objects by their keys, none without a key; the same arguments give the same bytes."""
    if not keys or statement.manifest is None:
        return {}
    signed = envelope.sign(_payload(statement.name, statement.manifest), SIMPLE_SIGNING, keys)
    objects = {SIGSTORE: _bundle(statement, keys[0]), COSIGN: signed}
    return {bundle_key(statement.name, statement.version, end): data for end, data in objects.items()}


def _bundle(statement: Provenance, first: SigningKey) -> bytes:
    hint = b64encode(bytes.fromhex(first.public.id.hex)).decode()
    material = {"publicKey": {"hint": hint}, "tlogEntries": list[object]()}
    signed = json.loads(statement.to_bytes([first]))
    signed["signatures"][0].pop("keyid")
    return record.to_bytes({"mediaType": SIGSTORE_TYPE, "verificationMaterial": material, "dsseEnvelope": signed})


def _envelope(fields: Record) -> bytes:
    """Return the envelope of a Sigstore bundle with the id of its key."""
    hint = fields.take("verificationMaterial", Record).take("publicKey", Record).take("hint", envelope.encoded)
    signed = fields.take("dsseEnvelope", Record)
    signatures = [
        {**each.rest(), "keyid": f"sha256:{hint.hex()}"} for each in signed.take("signatures", list_of(Record))
    ]
    if len(signatures) != 1:
        raise FaultError(f"must be one, found {len(signatures)}", "dsseEnvelope.signatures")
    return record.to_bytes({**signed.rest(), "signatures": signatures})


def _payload(name: str, manifest: Digest) -> bytes:
    image = {"docker-manifest-digest": manifest}
    critical = {"identity": {"docker-reference": name}, "image": image, "type": "cosign container image signature"}
    return json.dumps({"critical": critical, "optional": {}}, sort_keys=True, separators=(",", ":")).encode()


def check_beside(store: Store, entry: IndexEntry, trusted: Trust, ends: Sequence[str] = ENDS) -> Mapping[str, bytes]:
    """Return what lies beside a bundle in a channel, by its keys that end so, as far as it is there.

    It must be about this bundle; signatures are treated as `envelope.open` does.
    """
    objects = {}
    for end in ends:
        place = entry.beside(end)
        data = get_or_none(store, place, limit=_LIMIT)
        if data is not None:
            (_check_bundle if end == SIGSTORE else _check_signature)(data, entry, trusted, place)
            objects[place] = data
    return objects


def _check_bundle(data: bytes, entry: IndexEntry, trusted: Trust, file: str) -> None:
    provenance.open(record.parse_any(data, _envelope, file=file), trusted, file=file)[0].check(entry, file=file)


def _check_signature(data: bytes, entry: IndexEntry, trusted: Trust, file: str) -> None:
    signed = envelope.open(data, SIMPLE_SIGNING, trusted, file=file).payload
    expected = bundle_digest(entry)
    if signed != _payload(entry.name, expected):
        raise IntegrityError(Problem(f"is not about the manifest {expected}, which {entry} has", file=file))
