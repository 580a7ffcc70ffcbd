"""Keys by URI: a file, PKCS#11 as SoftHSM has it, AWS KMS as moto's server answers."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from packyard.core.errors import InputError, UnavailableError
from packyard.sharing.trust import envelope, signers
from packyard.sharing.trust.keys import SigningKey, Trust

PIN = b"123456"
LIBRARY = Path("/usr/lib/softhsm/libsofthsm2.so")


def signs(key: SigningKey) -> bool:
    """Return whether an envelope that a key signed is accepted from it."""
    return envelope.open(envelope.sign(b"{}", key), Trust.of(key.public), file="x").signers == (key.public.id,)


def test_a_file_with_a_passphrase(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    key = SigningKey.new()
    file.write_bytes(key.to_pem(b"secret"))
    assert signers.open(f"file:{file}", lambda _: b"secret") == key
    with pytest.raises(InputError, match=r"key\.pem: the passphrase is wrong"):
        signers.open(f"file:{file}", lambda _: b"other")


@pytest.mark.nightly
def test_a_key_of_an_hsm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    util = real.program("softhsm2-util")
    (tmp_path / "tokens").mkdir()
    (tmp_path / "softhsm.conf").write_text(f"directories.tokendir = {tmp_path}/tokens\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(tmp_path / "softhsm.conf"))
    monkeypatch.setenv("PYKCS11LIB", str(LIBRARY))
    words = ["--init-token", "--free", "--label", "release", "--so-pin", "654321", "--pin", PIN.decode()]
    subprocess.run([util, *words], check=True, capture_output=True, env=os.environ)
    import pkcs11
    from pkcs11.util.ec import encode_named_curve_parameters

    token = pkcs11.lib(str(LIBRARY)).get_token(token_label="release")
    curve = {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")}
    with token.open(rw=True, user_pin=PIN.decode()) as session:
        session.create_domain_parameters(pkcs11.KeyType.EC, curve, local=True).generate_keypair(id=b"\2", store=True)
    assert signs(signers.open("hsm:2?label=release", lambda _: PIN))
    with pytest.raises(UnavailableError, match=r"hsm:2\?label=none: cannot be used"):
        signers.open("hsm:2?label=none", lambda _: PIN)
    with pytest.raises(UnavailableError, match="cannot sign"):
        signers.open("hsm:2?label=release", lambda _: b"000000").sign(b"x")


@pytest.fixture
def kms(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    yield f"http://{host}:{port}"
    server.stop()


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["ECC_NIST_P256", "RSA_2048"])
def test_a_key_of_aws_kms(kms: str, spec: str) -> None:
    import boto3

    found = boto3.client("kms", endpoint_url=kms).create_key(KeyUsage="SIGN_VERIFY", KeySpec=spec)
    key = signers.open(f"awskms:{found['KeyMetadata']['KeyId']}", lambda _: b"")
    digest = hashlib.sha256(b"data").digest()  # moto has no MessageType=DIGEST: it signs the digest as a message
    assert key.public.has_signed(digest, key.sign(b"data"))
    with pytest.raises(UnavailableError, match="awskms:none: cannot be used"):
        signers.open("awskms:none", lambda _: b"")


def test_a_library_that_fails_is_said_with_the_key_that_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from securesystemslib.signer import SIGNER_FOR_URI_SCHEME

    monkeypatch.setitem(SIGNER_FOR_URI_SCHEME, "awskms", None)
    with pytest.raises(UnavailableError, match="awskms:release: cannot be used: 'NoneType' object"):
        signers.open("awskms:release", lambda _: b"")


def test_what_is_no_uri_is_the_name_of_a_key() -> None:
    assert not signers.is_uri("release")
    assert not signers.is_uri("https://example.com/key")
