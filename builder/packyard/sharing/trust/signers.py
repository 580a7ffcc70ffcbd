"""Keys that sign and are named by a URI, as securesystemslib names them: in files, HSMs and key services.

    file:/path/key.pem             a private key as PEM
    hsm:2?label=TOKEN              PKCS#11: the key with the id 2; PYKCS11LIB names the library, and a PIN is asked for
    awskms:alias/release           also gcpkms:projects/…, azurekms://VAULT/KEY, hv:KEY of HashiCorp Vault

Their libraries come with the extras ``hsm`` and ``kms``. Tests use files, SoftHSM and moto; the others are not tried.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from packyard.core import extras
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.files import regular
from packyard.sharing.trust.keys import LIMIT, PublicKey, SigningKey

_SCHEMES = ("ed25519", "ecdsa-sha2-nistp256", "rsassa-pss-sha256", "rsa-pkcs1v15-sha256")
_URI = re.compile(r"(file|hsm|awskms|gcpkms|azurekms|hv):.+|sigstore:.*")


def is_uri(text: str) -> bool:
    """Return whether a text names a key so."""
    return _URI.fullmatch(text) is not None


def open(uri: str, secret: Callable[[str], bytes]) -> SigningKey:
    """Return the key of a URI; ``secret`` is asked for a passphrase or PIN. Its public key is read from where it is."""
    if uri.startswith("file:"):
        file = urlsplit(uri).path
        return SigningKey.parse(regular.read(file, limit=LIMIT), secret, file=file)
    from securesystemslib.exceptions import UnsupportedLibraryError
    from securesystemslib.signer import SIGNER_FOR_URI_SCHEME, Signer

    def handler(_: str) -> str:
        return secret(uri).decode()

    try:
        scheme, _, rest = uri.partition(":")
        words: tuple[object, ...] = (rest,)
        if scheme == "hsm":
            number, _, query = rest.partition("?")
            words = int(number or 2), dict(parse_qsl(query)).get("label"), handler
        elif scheme == "azurekms":
            words = tuple(rest.strip("/").split("/", 1))
        importing: Any = SIGNER_FOR_URI_SCHEME[scheme]
        uri, key = importing.import_(*words)  # the public key, as the HSM or the service has it
        if key.scheme not in _SCHEMES:
            raise ValueError(f"the scheme {key.scheme!r} is not one of {', '.join(_SCHEMES)}")
        public = PublicKey.of(key._crypto_key(), file=uri)
        signer = Signer.from_priv_key_uri(uri, key, handler)
        return SigningKey(public, lambda data: bytes.fromhex(signer.sign(data).signature))
    except UnsupportedLibraryError as error:
        hint = extras.install("hsm" if uri.startswith("hsm") else "kms")
        raise InputError(Problem(str(error), file=uri, hint=hint)) from error
    except PackyardError:
        raise
    except Exception as error:  # the libraries raise many kinds
        raise UnavailableError(Problem(f"cannot be used: {error or type(error).__name__}", file=uri)) from error
