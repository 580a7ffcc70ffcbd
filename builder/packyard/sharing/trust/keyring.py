"""The folder with a user's keys, one file each.

    <name>.key.pem          a private key, encrypted, readable only by the user
    <name>.pub.pem          its public key, to be given to users
    channels/<hex>.json     the keys and identities that the user trusts for a channel; <hex> is the SHA-256 of its
                            address

Where a channel has such a file, what is there has to be signed by one of these. Passphrases come from the caller.
"""

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, UnavailableError, suggest
from packyard.core.files import atomic, regular
from packyard.sharing.configuration import normal
from packyard.sharing.trust.keys import LIMIT, Identity, PublicKey, Signatory, SigningKey

_PRIVATE, _PUBLIC = ".key.pem", ".pub.pem"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_CHANNELS, _KIND, _REQUIRED = "channels", "Trust", "required"
_LIMIT = 1024 * 1024  # bytes of a file with keys


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedChannel:
    """Whom the user trusts for the channel at an address."""

    address: str
    signatories: Sequence[Signatory]

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> "TrustedChannel":
        """Read what `to_bytes` wrote."""

        def signatory(value: object) -> Signatory:
            fields = Record(value)
            name = fields.take("name", text)
            if "issuer" in fields:
                return Identity(name, fields.take("issuer", text), fields.take("root", text))
            return replace(PublicKey.parse(fields.take("key", text).encode(), file=file), name=name)

        def read(fields: Record) -> TrustedChannel:
            signatories = fields.take("keys", list_of(signatory))
            if not signatories or fields.take("signed", text) != _REQUIRED:
                raise FaultError("must be a list of keys, one of which is required to have signed", "keys")
            return cls(address=fields.take("channel", text), signatories=signatories)

        return record.parse(data, read, kind=_KIND, file=file)

    def to_bytes(self) -> bytes:
        """Return the file of the channel."""
        keys = [
            asdict(item) if isinstance(item, Identity) else {"name": item.name, "key": item.to_pem().decode()}
            for item in self.signatories
        ]
        fields = {"channel": self.address, "signed": _REQUIRED, "keys": keys}
        return record.to_bytes({"apiVersion": record.API_VERSION, "kind": _KIND, **fields})


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys in a folder, which is made with the first."""

    folder: Path

    def new(self, name: str, passphrase: Callable[[], bytes] | None) -> tuple[SigningKey, Path]:
        """Make a pair of keys, and return it with the file of the public one; no file is overwritten."""
        if not _NAME.fullmatch(name):
            hint = "use letters, digits, '-', '_' and '.'"
            raise InputError(Problem(f"{name[:80]!r} is not a name for a key", hint=hint))
        key = SigningKey.new()
        public_file, private_file = self.folder / f"{name}{_PUBLIC}", self.folder / f"{name}{_PRIVATE}"
        for file in filter(os.path.lexists, (public_file, private_file)):
            raise ConflictError(Problem("exists already", file=str(file), hint="choose another name"))
        self._write(private_file, key.to_pem(passphrase and passphrase()), mode=0o600)
        self._write(public_file, key.public.to_pem(), mode=0o644)
        return key, public_file

    def signing_names(self) -> list[str]:
        """Return the names of the private keys, sorted."""
        return sorted(name.removesuffix(_PRIVATE) for name in self._names("") if name.endswith(_PRIVATE))

    def public(self, name: str) -> PublicKey:
        """Return the public key of a private key here."""
        file = self.folder / f"{name}{_PUBLIC}"
        return replace(PublicKey.parse(regular.read(file, limit=LIMIT), file=str(file)), name=name)

    def own(self) -> list[PublicKey]:
        """Return the public keys of the private keys here, sorted by name."""
        return list(map(self.public, self.signing_names()))

    def signing(self, name: str, passphrase: Callable[[str], bytes]) -> SigningKey:
        """Return a private key; ``passphrase`` is asked for that of a file if it is encrypted, once it is to sign."""
        names = self.signing_names()
        if name not in names:
            hint = suggest(name, names) or "packyard keys list shows the keys here"
            raise InputError(Problem(f"no private key {name!r} in {self.folder}", hint=hint))
        file = self.folder / f"{name}{_PRIVATE}"
        data = regular.read(file, limit=LIMIT)
        if (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
            problem = f"holds a private key and has mode {mode:04o}: others can read it"
            hint = f"make a new key, or, if nobody did: chmod 600 {file}"
            raise InputError(Problem(problem, file=str(file), hint=hint))
        private = cache(partial(SigningKey.parse, data, passphrase, file=str(file)))
        return SigningKey(self.public(name), lambda text: private().signature(text), unlock=private)

    def named(self, text: str) -> PublicKey:
        """Return the public key in a PEM file, or of a private key here, by its name."""
        if not os.path.lexists(text):
            if text in self.signing_names():
                return self.public(text)
            hint = "name the file of a public key, such as NAME.pub.pem, which its publisher hands out"
            raise InputError(Problem("no such file", file=text, hint=hint))
        name = text.rpartition("/")[2].removesuffix(".pem").removesuffix(".pub")
        key = PublicKey.parse(regular.read(text, limit=LIMIT), file=text)
        return replace(key, name=name if _NAME.fullmatch(name) else "key")

    def trust(self, channel: str, signatories: Sequence[Signatory]) -> None:
        """Trust these keys and identities for a channel, in place of those that were trusted for it."""
        trusted = TrustedChannel(address=normal(channel), signatories=signatories)
        self._write(self._file(channel), trusted.to_bytes(), mode=0o644)

    def untrust(self, channel: str) -> bool:
        """Trust nobody for a channel any more; return whether anybody was."""
        file = self._file(channel)
        is_there = file.name in self._names(_CHANNELS)
        if is_there:
            file.unlink()
        return is_there

    def trusted(self, channel: str) -> Sequence[Signatory]:
        """Return whom the user trusts for a channel."""
        file = self._file(channel)
        return self._read(file.name).signatories if file.name in self._names(_CHANNELS) else ()

    def channels(self) -> "list[TrustedChannel]":
        """Return the channels for which anybody is trusted, sorted."""
        read = (self._read(name) for name in self._names(_CHANNELS))
        return sorted(read, key=lambda channel: channel.address)

    def _file(self, channel: str) -> Path:
        return self.folder / _CHANNELS / f"{Digest.of(normal(channel).encode()).hex}.json"

    def _read(self, name: str) -> TrustedChannel:
        file = self.folder / _CHANNELS / name
        hint = "remove the file, and trust the key again: packyard keys trust FILE CHANNEL"
        try:
            return TrustedChannel.parse(regular.read(file, limit=_LIMIT), file=str(file))
        except IntegrityError as error:
            raise error.hinted(hint) from error

    def _names(self, folder: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.folder / folder) if not name.startswith("."))  # noqa: PTH208
        except FileNotFoundError:
            return []
        except OSError as error:
            # Nothing is below what is no folder, such as /dev/null; what cannot be read may be there.
            if isinstance(error, NotADirectoryError) and not os.path.lexists(self.folder / folder):
                return []
            raise UnavailableError(Problem(error.strerror or str(error), file=str(self.folder / folder))) from error

    def _write(self, file: Path, data: bytes, *, mode: int) -> None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic.write(str(file), data, mode=mode, durable=True)
        except OSError as error:
            problem, hint = f"cannot be written: {error.strerror}", "XDG_CONFIG_HOME names another folder"
            raise UnavailableError(Problem(problem, file=str(file), hint=hint)) from error
