"""Keys: PEM files that openssl reads and writes, and what is refused."""

import hashlib
import subprocess
from itertools import count
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import real
from packyard.core.errors import InputError
from packyard.sharing.trust.keys import LIMIT, PublicKey, SigningKey

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def _openssl(*words: object, data: bytes = b"") -> bytes:
    command = [real.program("openssl"), *map(str, words)]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def test_the_id_is_the_sha256_of_the_public_key_as_openssl_writes_it() -> None:
    der = _openssl("pkey", "-pubin", "-outform", "DER", data=KEY.public.to_pem())
    assert KEY.public.id == "sha256:" + hashlib.sha256(der).hexdigest()


@pytest.mark.parametrize("passphrase", [None, b"secret", "Schlüssel 鍵".encode()])
def test_a_private_key_is_read_back_with_its_passphrase(passphrase: bytes | None) -> None:
    pem = KEY.to_pem(passphrase)
    asked: list[str] = []
    read = SigningKey.parse(pem, lambda file: asked.append(file) or passphrase or b"", file="f")
    assert (read, read.sign(b"x")) == (KEY, KEY.sign(b"x"))
    assert asked == (["f"] if passphrase else [])


@pytest.mark.parametrize(
    ("make", "sign"),
    [
        (("EC", "ec_paramgen_curve:P-256"), ()),
        (("RSA", "rsa_keygen_bits:2048"), ()),
        (("RSA", "rsa_keygen_bits:2048"), ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32")),
        (("RSA", "rsa_keygen_bits:2048"), ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max")),
    ],
)
def test_openssl_and_we_verify_what_the_other_signs_with_ecdsa_and_rsa(
    tmp_path: Path, make: tuple[str, str], sign: tuple[str, ...]
) -> None:
    file, public, data, signature = (tmp_path / name for name in ("key", "pub", "data", "sig"))
    file.write_bytes(_openssl("genpkey", "-algorithm", make[0], "-pkeyopt", make[1]))
    key = SigningKey.parse(file.read_bytes(), bytes.fromhex, file="f")
    public.write_bytes(_openssl("pkey", "-in", file, "-pubout"))
    assert PublicKey.parse(public.read_bytes(), file="f") == key.public
    theirs = _openssl("dgst", "-sha256", "-sign", file, *sign, data=b"data")
    assert key.public.has_signed(b"data", theirs)
    assert not key.public.has_signed(b"Data", theirs)
    assert not key.public.has_signed(b"data", theirs[:-1])
    data.write_bytes(b"data")
    signature.write_bytes(key.sign(b"data"))
    _openssl("dgst", "-sha256", "-verify", public, "-signature", signature, data)


P384 = ec.generate_private_key(ec.SECP384R1()).public_key()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "must hold one public key as PEM"),
        (b"-----BEGIN PUBLIC KEY-----\n", "holds a key that is damaged"),
        (KEY.public.to_pem() * 2, "must hold one public key"),
        (KEY.to_pem(None) + KEY.public.to_pem(), "holds a private key"),
        (KEY.to_pem(b"secret"), "holds a private key"),
        (P384.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "holds a key that is not an Ed25519, "),
        (KEY.public.to_pem().replace(b"PUBLIC KEY", b"CERTIFICATE"), "must hold one public key"),
        (b"x" * LIMIT + KEY.public.to_pem(), "must hold one public key"),
    ],
    ids=count(),  # one is new in each process
)
def test_refuses_what_is_not_one_public_key(data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=rf"\Akey\.pem: {reason}"):
        PublicKey.parse(data, file="key.pem")


@pytest.mark.parametrize("data", [b"", KEY.public.to_pem(), KEY.to_pem(None)[:-40]])
def test_refuses_what_is_not_a_private_key(data: bytes) -> None:
    with pytest.raises(InputError, match="must hold a private key"):
        SigningKey.parse(data, bytes.fromhex, file="key.pem")
