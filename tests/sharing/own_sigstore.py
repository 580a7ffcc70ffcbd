"""A Sigstore of our own, as far as sigstore-python asks one: it judges tokens, and signs certificates and entries.

Fulcio gives who has a token of our issuer a certificate, which a log of certificates has signed; Rekor takes an entry
into a log that has no other. Its keys are new for each service.
"""

import base64
import hashlib
import json
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

import real

ISSUER = "https://token.actions.githubusercontent.com"
WORKFLOW = "https://github.com/acme/zoo/.github/workflows/publish.yml@refs/tags/v1"
_SECRET = "a secret of the issuer, which is long enough"
_SCTS, _ISSUED_BY = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_USAGES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
           "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")  # fmt: skip
_VALID = {"start": "2020-01-01T00:00:00Z"}


def token(workflow: str = WORKFLOW, secret: str = _SECRET) -> str:
    """Return what an issuer says of a job that runs a workflow."""
    now = int(time.time())
    claims = {"aud": "sigstore", "iss": ISSUER, "sub": "repo:acme/zoo", "iat": now, "exp": now + 600, "ref": workflow}
    return jwt.encode(claims, secret, algorithm="HS256")


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _der(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _id(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(_der(key)).digest()


def _signed(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(SHA256()))


def _usage(*named: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in named for name in _USAGES})


class Sigstore:
    """The keys of all services, at an address."""

    def __init__(self) -> None:
        self.url = ""
        self._authority, self._certificates, self._entries = (ec.generate_private_key(ec.SECP256R1()) for _ in "abc")
        name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "zoo")]), datetime.now(UTC)
        public = self._authority.public_key()
        self._root = (
            x509.CertificateBuilder(name, name, public, x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage("key_cert_sign"), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._authority, SHA256())
        )

    def config(self) -> str:
        """Return the client trust configuration."""
        service = {"url": self.url, "majorApiVersion": 1, "validFor": _VALID, "operator": "zoo"}
        signing: dict[str, Any] = {
            "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
            "caUrls": [service],
        }
        one = {"selector": "ANY"}
        signing |= {"rekorTlogUrls": [service], "rekorTlogConfig": one, "tsaConfig": one}
        kind = "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json"
        return json.dumps({"mediaType": kind, "trustedRoot": json.loads(self.root()), "signingConfig": signing})

    def root(self) -> str:
        """Return the trusted root."""
        chain = {"certificates": [{"rawBytes": _b64(self._root.public_bytes(Encoding.DER))}]}
        authority = {"subject": {"organization": "zoo", "commonName": "zoo"}, "uri": self.url, "certChain": chain}
        kind = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
        logs = {"tlogs": [self._log(self._entries)], "ctlogs": [self._log(self._certificates)]}
        return json.dumps({"mediaType": kind, "certificateAuthorities": [{**authority, "validFor": _VALID}], **logs})

    def _log(self, key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
        details = {"rawBytes": _b64(_der(key)), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": _VALID}
        log = {"baseUrl": self.url, "hashAlgorithm": "SHA2_256", "publicKey": details}
        return {**log, "logId": {"keyId": _b64(_id(key))}}

    def certificate(self, credentials: str, asked: dict[str, str]) -> dict[str, Any]:
        """Answer as Fulcio: a certificate for the key of a request, to who has a token of the issuer."""
        claims = jwt.decode(credentials.removeprefix("Bearer "), _SECRET, algorithms=["HS256"], audience="sigstore")
        request = x509.load_pem_x509_csr(base64.b64decode(asked["certificateSigningRequest"]))
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder(self._root.subject, x509.Name([]), request.public_key(), 1)
            .not_valid_before(now - timedelta(minutes=1))
            .not_valid_after(now + timedelta(minutes=10))
            .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(claims["ref"])]), critical=True)
            .add_extension(_usage("digital_signature"), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._authority.public_key()), critical=False
            )
            .add_extension(x509.UnrecognizedExtension(_ISSUED_BY, ISSUER.encode()), critical=False)
        )

        def issued(scts: bytes) -> x509.Certificate:
            listed = struct.pack(">HH", len(scts) + 2, len(scts)) + scts
            octets = bytes([0x04, len(listed)]) + listed
            return builder.add_extension(x509.UnrecognizedExtension(_SCTS, octets), critical=False).sign(
                self._authority, SHA256()
            )

        stamp, tbs = int(time.time() * 1000), issued(b"").tbs_precertificate_bytes
        entry = struct.pack(">H32s", 1, _id(self._authority)) + len(tbs).to_bytes(3, "big") + tbs + b"\0\0"
        signature = _signed(self._certificates, struct.pack(">BBQ", 0, 0, stamp) + entry)
        head = struct.pack(">B32sQHBBH", 0, _id(self._certificates), stamp, 0, 4, 3, len(signature))
        chain = [each.public_bytes(Encoding.PEM).decode() for each in (issued(head + signature), self._root)]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def entry(self, proposed: dict[str, Any]) -> dict[str, Any]:
        """Answer as Rekor: an entry of an envelope, in a log of one entry."""
        content = proposed["spec"]["proposedContent"]
        envelope = json.loads(content["envelope"])
        hashes = {
            "envelopeHash": hashlib.sha256(content["envelope"].encode()).hexdigest(),
            "payloadHash": hashlib.sha256(base64.b64decode(envelope["payload"])).hexdigest(),
        }
        spec: dict[str, Any] = {name: {"algorithm": "sha256", "value": value} for name, value in hashes.items()}
        spec["signatures"] = [{"signature": envelope["signatures"][0]["sig"], "verifier": content["verifiers"][0]}]
        body = json.dumps({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec}, sort_keys=True).encode()
        root, log = hashlib.sha256(b"\0" + body).digest(), _id(self._entries)
        note = f"zoo - 1\n1\n{_b64(root)}\n"
        checkpoint = f"{note}\n\u2014 zoo {_b64(log[:4] + _signed(self._entries, note.encode()))}\n"
        made = {"body": _b64(body), "integratedTime": int(time.time()), "logID": log.hex(), "logIndex": 0}
        promise = _signed(self._entries, json.dumps(made, sort_keys=True, separators=(",", ":")).encode())
        proof = {"checkpoint": checkpoint, "hashes": [], "logIndex": 0, "rootHash": root.hex(), "treeSize": 1}
        return {root.hex(): {**made, "verification": {"signedEntryTimestamp": _b64(promise), "inclusionProof": proof}}}


@contextmanager
def running() -> Iterator[Sigstore]:
    """Start one."""
    sigstore = Sigstore()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:  # as http.server calls it
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                is_entry = self.path.endswith("/log/entries")
                said = sigstore.entry(asked) if is_entry else sigstore.certificate(self.headers["Authorization"], asked)
            except jwt.InvalidTokenError:
                self.send_error(401)
                return
            self.send_response(201)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sigstore.url = f"http://127.0.0.1:{server.server_port}"
    with real.answering(server):
        yield sigstore
