"""Keys that sign what is published, and the public keys that a user trusts: Ed25519, in the PEM files of openssl.

A key's id is the SHA-256 of its public key's DER form (SubjectPublicKeyInfo): ``openssl pkey -pubin -in FILE -outform
DER | sha256sum``. Where keys are kept is for ``keyring``; what they sign for ``envelope``.

`cryptography` is imported by what signs or verifies, not with this module.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: The size of the largest PEM file, in bytes.
LIMIT = 64 * 1024

_DER = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: a SubjectPublicKeyInfo of Ed25519, up to its 32 bytes
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END \1-----")
_PUBLIC = b"PUBLIC KEY"
_HOW = "packyard keys new NAME makes a pair"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key, by its 32 bytes."""

    raw: bytes

    @property
    def id(self) -> Digest:
        """The key's id."""
        return Digest.of(_DER + self.raw)

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> PublicKey:
        """Read the PEM of one public key, and refuse what is anything else; text before and after it is ignored."""
        found = _PEM.findall(data) if len(data) <= LIMIT else []
        if any(b"PRIVATE" in kind for kind, _ in found):
            hint = "keep it to yourself; the public key is in the file that ends in .pub.pem"
            raise InputError(Problem("holds a private key", file=file, hint=hint))
        if [kind for kind, _ in found] != [_PUBLIC]:
            raise InputError(Problem("must hold one public key as PEM", file=file, hint=_HOW))
        try:
            der = b64decode(b"".join(found[0][1].split()), validate=True)
        except binascii.Error as error:
            raise InputError(Problem("is not valid PEM", file=file)) from error
        if not der.startswith(_DER) or len(der) != len(_DER) + 32:
            raise InputError(Problem("holds a public key that is not an Ed25519 key", file=file, hint=_HOW))
        return cls(der[len(_DER) :])

    def to_pem(self) -> bytes:
        """Return what `parse` and openssl read."""
        return b"-----BEGIN PUBLIC KEY-----\n" + b64encode(_DER + self.raw) + b"\n-----END PUBLIC KEY-----\n"

    def has_signed(self, data: bytes, signature: bytes) -> bool:
        """Return whether a signature of these bytes is by this key."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, data)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key in memory."""

    public: PublicKey
    _private: Ed25519PrivateKey = field(repr=False, compare=False)

    @classmethod
    def of(cls, private: Ed25519PrivateKey) -> SigningKey:
        """Return the key with its public part."""
        return cls(PublicKey(private.public_key().public_bytes_raw()), private)

    @classmethod
    def new(cls) -> SigningKey:
        """Make a key from the system's random numbers."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls.of(Ed25519PrivateKey.generate())

    @classmethod
    def parse(cls, data: bytes, passphrase: bytes | None, *, file: str) -> SigningKey:
        """Read the PEM of a private key, encrypted (`is_encrypted`) or not, as PKCS#8."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        secret = passphrase if is_encrypted(data) else None
        try:
            found = load_pem_private_key(data, secret)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            wrong = "the passphrase is wrong, or the file is damaged"
            reason = wrong if secret is not None else "must hold a private key as PEM (PKCS#8)"
            hint = "give the passphrase that it was made with" if secret else _HOW
            raise InputError(Problem(reason, file=file, hint=hint)) from error
        if not isinstance(found, Ed25519PrivateKey):
            raise InputError(Problem("holds a private key that is not an Ed25519 key", file=file, hint=_HOW))
        return cls.of(found)

    def to_pem(self, passphrase: bytes | None) -> bytes:
        """Return the private key as PKCS#8, encrypted unless the passphrase is None."""
        from cryptography.hazmat.primitives import serialization as form

        encryption = form.NoEncryption() if passphrase is None else form.BestAvailableEncryption(passphrase)
        return self._private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, encryption)

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these bytes; the same bytes give the same one."""
        return self._private.sign(data)


def is_encrypted(data: bytes) -> bool:
    """Return whether reading a private key's PEM needs a passphrase."""
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in data


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The public keys that a user trusts for a channel, by their ids; those that are ``revoked`` sign nothing any more.

    Where there is any key, a signature by one of them is required, also when all of them are revoked: an envelope
    without signatures never passes for a signed one. ``is_own`` are the keys of a publisher who trusts no others.
    """

    keys: Mapping[Digest, PublicKey] = field(default_factory=dict)
    revoked: frozenset[str] = frozenset()
    is_optional: bool = False
    is_own: bool = False

    @classmethod
    def of(cls, *keys: PublicKey, revoked: Iterable[str] = ()) -> Trust:
        """Trust these keys."""
        return cls(keys={key.id: key for key in keys}, revoked=frozenset(revoked))

    @property
    def is_required(self) -> bool:
        """Whether a signature is required."""
        return bool(self.keys) and not self.is_optional

    def get(self, key_id: str) -> PublicKey | None:
        """Return the trusted key of an id."""
        return None if key_id in self.revoked else self.keys.get(Digest(key_id))

    def optional(self) -> Trust:
        """Return the same for what a signature elsewhere vouches for already, so that none is required."""
        return replace(self, is_optional=True)

    def without(self, revoked: Iterable[str]) -> Trust:
        """Return the same with more keys revoked, such as those that a channel's head lists."""
        return replace(self, revoked=self.revoked.union(revoked))


#: Trusts no key: nothing can be proved about who signed, and nothing is required.
NOBODY = Trust()
