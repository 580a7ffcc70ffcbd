"""Keys that sign what is published, and the public keys that a user trusts, in the PEM files of openssl.

They are Ed25519, ECDSA P-256 (signatures as DER) or RSA of 2048 bits or more (PKCS#1 v1.5, or PSS, which some key
services make), the last two with SHA-256, as cosign has them. A key's id is the SHA-256 of its public key's DER form
(SubjectPublicKeyInfo): ``openssl pkey -pubin -in FILE -outform DER | sha256sum``. Where keys are kept is for
``keyring`` and ``signers``; what they sign for ``envelope``.

`cryptography` is imported by what signs or verifies, not with this module.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any, TypeAlias

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem, UnavailableError

#: What is said in place of the id of a key where an identity signed that is not trusted.
IDENTITY = "a Sigstore identity"
#: The size of the largest PEM file, in bytes.
LIMIT = 64 * 1024

_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_HOW = "packyard keys new NAME makes a pair"
_KINDS = "an Ed25519, ECDSA P-256 or RSA key (2048 to 8192 bits)"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, by its DER; ``name`` is what the user calls it."""

    der: bytes
    name: str = field(default="", compare=False)

    @property
    def id(self) -> Digest:
        """The key's id."""
        return Digest.of(self.der)

    @classmethod
    def of(cls, public: Any, *, file: str) -> "PublicKey":
        """Take a key of `cryptography`, if it is of a kind that counts."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        is_p256 = isinstance(public, ec.EllipticCurvePublicKey) and isinstance(public.curve, ec.SECP256R1)
        is_rsa = isinstance(public, rsa.RSAPublicKey) and 2048 <= public.key_size <= 8192
        if not (is_p256 or is_rsa or isinstance(public, ed25519.Ed25519PublicKey)):
            raise InputError(Problem(f"holds a key that is not {_KINDS}", file=file, hint=_HOW))
        return cls(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> "PublicKey":
        """Read the PEM of one public key, and refuse what is anything else; text before and after it is ignored."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        blocks = _BLOCK.findall(data) if len(data) <= LIMIT else []
        if any(b"PRIVATE" in kind for kind in blocks):
            hint = "keep it to yourself; the public key is in the file that ends in .pub.pem"
            raise InputError(Problem("holds a private key", file=file, hint=hint))
        if blocks != [b"PUBLIC KEY"]:
            raise InputError(Problem("must hold one public key as PEM", file=file, hint=_HOW))
        try:
            return cls.of(load_pem_public_key(data), file=file)
        except (ValueError, UnsupportedAlgorithm) as error:
            raise InputError(Problem(f"holds a key that is damaged, or not {_KINDS}", file=file, hint=_HOW)) from error

    def loaded(self) -> Any:
        """Return the key of `cryptography`."""
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        return load_der_public_key(self.der)

    def to_pem(self) -> bytes:
        """Return what `parse` and openssl read."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        data: bytes = self.loaded().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return data

    def has_signed(self, data: bytes, signature: bytes) -> bool:
        """Return whether a signature of these bytes is by this key."""
        from cryptography.exceptions import InvalidSignature

        key = self.loaded()
        for arguments in _schemes(key):
            try:
                key.verify(signature, data, *arguments)
            except InvalidSignature:
                continue
            return True
        return False


def _schemes(key: Any) -> list[tuple[Any, ...]]:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
    from cryptography.hazmat.primitives.hashes import SHA256

    if isinstance(key, ed25519.Ed25519PublicKey):
        return [()]
    if isinstance(key, ec.EllipticCurvePublicKey):
        return [(ec.ECDSA(SHA256()),)]
    pss = padding.PSS(padding.MGF1(SHA256()), padding.PSS.AUTO)
    return [(padding.PKCS1v15(), SHA256()), (pss, SHA256())]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs: a private key in memory or behind a passphrase, or what asks an HSM or a KMS.

    ``unlock`` asks for what signing needs, so that nobody is asked in the midst of a command.
    """

    public: PublicKey
    signature: Callable[[bytes], bytes] = field(repr=False, compare=False)
    _private: Any = field(default=None, repr=False, compare=False)
    unlock: Callable[[], object] = field(default=lambda: None, repr=False, compare=False)

    @classmethod
    def of(cls, private: Any, *, file: str = "") -> "SigningKey":
        """Return a private key of `cryptography` with its public part."""
        public = private.public_key()
        return cls(PublicKey.of(public, file=file), lambda data: private.sign(data, *_schemes(public)[0]), private)

    @classmethod
    def new(cls) -> "SigningKey":
        """Make a key from the system's random numbers."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls.of(Ed25519PrivateKey.generate())

    @classmethod
    def parse(cls, data: bytes, passphrase: Callable[[str], bytes], *, file: str) -> "SigningKey":
        """Read the PEM of a private key as PKCS#8; ``passphrase`` is asked for that of the file if it is encrypted."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        secret = passphrase(file) if b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in data else None
        try:
            return cls.of(load_pem_private_key(data, secret), file=file)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            wrong = "the passphrase is wrong, or the file is damaged"
            reason = wrong if secret is not None else "must hold a private key as PEM (PKCS#8)"
            hint = "give the passphrase that it was made with" if secret else _HOW
            raise InputError(Problem(reason, file=file, hint=hint)) from error

    def to_pem(self, passphrase: bytes | None) -> bytes:
        """Return the private key as PKCS#8, encrypted unless the passphrase is None."""
        from cryptography.hazmat.primitives import serialization as form

        encryption = form.NoEncryption() if passphrase is None else form.BestAvailableEncryption(passphrase)
        data: bytes = self._private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, encryption)
        return data

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these bytes; by an Ed25519 key, the same bytes give the same one."""
        self.unlock()
        try:
            return self.signature(data)
        except Exception as error:  # of whatever library asks an HSM or a KMS
            problem = f"the key {self.public.id} cannot sign: {error or type(error).__name__}"
            raise UnavailableError(problem) from error


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signs without a key: an address or a URL, as ``issuer`` says; ``root`` is the trusted root of their Sigstore.

    Without a root, as JSON, it is that of the public service.
    """

    name: str
    issuer: str
    root: str = field(default="", repr=False)

    @property
    def id(self) -> str:
        """What says in place of a key's id who it is."""
        return f"{self.name} ({self.issuer})"


#: Whom others trust.
Signatory: TypeAlias = PublicKey | Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The keys and identities that a user trusts for a channel: one of them has to have signed what is there.

    Without any, nothing is required. ``channel`` is its address, for the commands that trust it and let go of it.
    ``own`` are the ids of the user's own keys, which are known though nobody trusts them for the channel.
    """

    signatories: Mapping[str, Signatory] = field(default_factory=dict)
    channel: str = "CHANNEL"
    is_optional: bool = False
    own: Sequence[str] = ()

    @classmethod
    def of(cls, *signatories: Signatory, channel: str = "CHANNEL") -> "Trust":
        """Trust these."""
        return cls(signatories={signatory.id: signatory for signatory in signatories}, channel=channel)

    @property
    def is_required(self) -> bool:
        """Whether a signature is required."""
        return bool(self.signatories) and not self.is_optional

    @property
    def let_go(self) -> str:
        """The command that requires no signature of the channel any more, and forgets what it had."""
        return f"packyard keys untrust {quote(self.channel)}"

    def take(self, key_id: str, beside: str = "") -> str:
        """Say how to trust who signed, for the channel, and a key ``beside`` it."""
        channel = quote(self.channel)
        if key_id == IDENTITY:
            return f"ask its publisher who signs it, then: packyard keys trust IDENTITY {channel} --issuer URL"
        if (key := self.key(key_id)) and key.name:  # the user has it
            return f"packyard keys trust {key.name}{beside} {channel}"
        return f"get the public key from its publisher, then: packyard keys trust FILE{beside} {channel}"

    def signed(self, signers: Sequence[str], claimants: Sequence[str]) -> Sequence[str]:
        """Return lines that say who signed, as far as the user can tell, and the command to go on with."""
        if signers and signers[0] in self.own:
            own = f"signed by your own key {self.name(signers[0])}"
            return [own, f"to refuse there what it did not sign: {self.take(signers[0])}"]
        if signers:
            return [f"signed by {', '.join(map(self.name, signers))}, which you trust"]
        if not claimants:
            return ["not signed: nobody can tell who published it"]
        return [
            f"not verified: it names {self.name(claimants[0])} as its signer, which you do not trust",
            self.take(claimants[0]),
        ]

    def key(self, key_id: str) -> PublicKey | None:
        """Return the trusted key of an id."""
        signatory = self.signatories.get(key_id)
        return signatory if isinstance(signatory, PublicKey) else None

    def name(self, key_id: str) -> str:
        """Return what messages call who signed: the name of a key that is trusted, and how its id begins."""
        key = self.key(key_id)
        short = f"{key_id[:19]}…" if key_id.startswith("sha256:") else key_id
        return f"{key.name} ({short})" if key and key.name else short

    def optional(self) -> "Trust":
        """Return the same for what a signature elsewhere vouches for already, so that none is required."""
        return replace(self, is_optional=True)


#: Trusts nobody: nothing can be proved about who signed, and nothing is required.
NOBODY = Trust()
