"""The folder with a user's keys, one file each.

    <name>.key.pem          a private key, encrypted, readable only by the user
    <name>.pub.pem          its public key, to be given to users
    trusted/<hex>.pem       a public key that the user trusts, below lines that say its name and for which channels
    revoked/<hex>           the id of a key that is no longer trusted, here or in any channel

Passphrases come from the caller.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError, suggest
from packyard.core.files import atomic, regular
from packyard.sharing.configuration import identity
from packyard.sharing.trust.keys import LIMIT, PublicKey, SigningKey, Trust, is_encrypted

_PRIVATE, _PUBLIC = ".key.pem", ".pub.pem"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_HEX = re.compile(r"[0-9a-f]{64}")
_SHORTEST = 8  # digits of an id that is abbreviated


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey:
    """A public key that the user trusts, for the channels at these addresses, or for all if there are none."""

    key: PublicKey
    name: str
    channels: tuple[str, ...] = ()

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> TrustedKey:
        """Read what `to_bytes` wrote."""
        key = PublicKey.parse(data, file=file)
        lines = data.partition(b"-----BEGIN")[0].decode("utf-8", "replace").splitlines()
        pairs = [line.partition(": ")[::2] for line in lines]
        names = [text for word, text in pairs if word == "Name"]
        channels = tuple(text for word, text in pairs if word == "Channel")
        return cls(key=key, name=names[0] if names else "", channels=channels)

    def to_bytes(self) -> bytes:
        """Return the key as PEM below what is known about it."""
        lines = [f"Name: {self.name}", *(f"Channel: {each}" for each in self.channels)]
        return "".join(f"{line}\n" for line in lines).encode() + self.key.to_pem()

    def is_for(self, address: str) -> bool:
        """Return whether it is trusted for a channel."""
        return not self.channels or identity(address) in self.channels


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys in a folder, which is made with the first."""

    folder: Path

    def new(self, name: str, passphrase: bytes | None) -> tuple[SigningKey, Path]:
        """Make a pair of keys, and return it with the file of the public one; no file is overwritten."""
        if not _NAME.fullmatch(name):
            hint = "use letters, digits, '-', '_' and '.'"
            raise InputError(Problem(f"{name[:80]!r} is not a name for a key", hint=hint))
        key = SigningKey.new()
        public_file, private_file = self.folder / f"{name}{_PUBLIC}", self.folder / f"{name}{_PRIVATE}"
        for file in filter(os.path.lexists, (public_file, private_file)):
            raise _taken(file)
        self._write(private_file, key.to_pem(passphrase), mode=0o600, replace=False)
        self._write(public_file, key.public.to_pem(), mode=0o644, replace=False)
        return key, public_file

    def signing_names(self) -> list[str]:
        """Return the names of the private keys, sorted."""
        return sorted(name.removesuffix(_PRIVATE) for name in self._names("") if name.endswith(_PRIVATE))

    def public(self, name: str) -> PublicKey:
        """Return the public key of a private key here."""
        file = self.folder / f"{name}{_PUBLIC}"
        return PublicKey.parse(regular.read(file, limit=LIMIT), file=str(file))

    def signing(self, name: str, passphrase: Callable[[str], bytes]) -> SigningKey:
        """Return a private key; ``passphrase`` is asked for that of a file if it is encrypted."""
        names = self.signing_names()
        if name not in names:
            hint = suggest(name, names) or "packyard keys list shows the keys here"
            raise InputError(Problem(f"no private key {name!r} in {self.folder}", hint=hint))
        file = self.folder / f"{name}{_PRIVATE}"
        key = _read_private(file, passphrase)
        if key.public.id in self.revoked():
            hint = f"sign with another key: packyard keys new {name}-2"
            raise InputError(Problem(f"is the key {key.public.id}, which is revoked", file=str(file), hint=hint))
        return key

    def trust(self, data: bytes, *, file: str, channel: str = "") -> TrustedKey:
        """Trust the public key in a PEM file, for one more channel, or for all."""
        if not channel.isprintable():
            raise InputError(Problem(f"{channel[:80]!r} is not the address of a channel"))
        by_id = {each.key.id: each for each in self.trusted()}
        key = PublicKey.parse(data, file=file)
        if key.id in self.revoked():
            hint = f"to trust it again, remove {self.folder / 'revoked' / key.id.hex}"
            raise ConflictError(Problem(f"the key {key.id} is revoked", file=file, hint=hint))
        before = by_id.get(key.id)
        name = before.name if before else _name_of(file)
        channels = {identity(channel), *(before.channels if before else ())} if channel else set()
        if before and not before.channels:
            channels = set()
        trusted_key = TrustedKey(key=key, name=name, channels=tuple(sorted(channels)))
        self._write(self.folder / "trusted" / f"{key.id.hex}.pem", trusted_key.to_bytes(), mode=0o644)
        return trusted_key

    def trusted(self) -> list[TrustedKey]:
        """Return the trusted keys, revoked ones included, sorted by name and id."""
        keys = []
        for name in self._names("trusted"):
            file = self.folder / "trusted" / name
            trusted_key = TrustedKey.parse(regular.read(file, limit=LIMIT), file=str(file))
            if name != f"{trusted_key.key.id.hex}.pem":
                problem = f"must be named for the key in it, {trusted_key.key.id.hex}.pem"
                hint = "put it elsewhere, then: packyard keys trust FILE"
                raise InputError(Problem(problem, file=str(file), hint=hint))
            keys.append(trusted_key)
        return sorted(keys, key=lambda each: (each.name, each.key.id))

    def revoke(self, key_id: Digest) -> None:
        """Revoke a key."""
        self._write(self.folder / "revoked" / key_id.hex, b"", mode=0o644)

    def revoked(self) -> frozenset[Digest]:
        """Return the ids of revoked keys."""
        return frozenset(Digest(f"sha256:{name}") for name in self._names("revoked") if _HEX.fullmatch(name))

    def trust_for(self, address: str | None, required: Sequence[Digest] = ()) -> Trust:
        """Return whom the user trusts for a channel: the keys that are required for it, or those trusted for it.

        Without an address, those that are trusted for any.
        """
        keys = {each.key.id: each for each in self.trusted()}
        missing = [key for key in required if key not in keys]
        if address is not None and missing:
            problem = f"the configuration requires the key {missing[0]} for {identity(address)}, which is not here"
            raise InputError(Problem(problem, hint="get its file from the publisher, then: packyard keys trust FILE"))
        chosen = [keys[key] for key in required] or [
            each for each in keys.values() if address is None or each.is_for(address)
        ]
        return Trust.of(*(each.key for each in chosen), revoked=self.revoked())

    def find(self, text: str) -> Digest:
        """Return the id of a key, given that, the beginning of that, or the name of a key here."""
        digits = text.removeprefix("sha256:")
        if _HEX.fullmatch(digits):
            return Digest(f"sha256:{digits}")
        names = {each.key.id: each.name for each in self.trusted()}
        names.update({self.public(name).id: name for name in self.signing_names()})
        short = len(digits) >= _SHORTEST
        ids = [key for key, name in names.items() if name == text or (short and key.hex.startswith(digits))]
        if len(ids) == 1:
            return ids[0]
        reason = "names several keys" if ids else "is not a key that is known here"
        raise InputError(Problem(f"{text[:80]!r} {reason}", hint="packyard keys list shows ids; give a whole one"))

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

    def _write(self, file: Path, data: bytes, *, mode: int, replace: bool = True) -> None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic.write(str(file), data, mode=mode, durable=True, replace=replace)
        except FileExistsError as error:
            raise _taken(file) from error
        except OSError as error:
            raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=str(file))) from error


def _taken(file: Path) -> ConflictError:
    return ConflictError(Problem("exists already", file=str(file), hint="choose another name"))


def _read_private(file: Path, passphrase: Callable[[str], bytes]) -> SigningKey:
    data = regular.read(file, limit=LIMIT)
    if (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
        problem = f"holds a private key and has mode {mode:04o}: others can read it"
        raise InputError(Problem(problem, file=str(file), hint=f"make a new key, or, if nobody did: chmod 600 {file}"))
    return SigningKey.parse(data, passphrase(str(file)) if is_encrypted(data) else None, file=str(file))


def _name_of(file: str) -> str:
    """Return the name of a key from that of its file."""
    name = file.rpartition("/")[2].removesuffix(".pem").removesuffix(".pub")
    return name if _NAME.fullmatch(name) else "key"
