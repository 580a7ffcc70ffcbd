"""What is set for all commands, and where: by a flag, in the environment, in the user's configuration, or nowhere.

The user's configuration is in ``$XDG_CONFIG_HOME/packyard``: ``config.yaml``, and ``keys/`` beside it.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from packyard.cli.output import masked
from packyard.core.bundle.receipt import CARRIED
from packyard.core.digest import Digest
from packyard.core.files import home
from packyard.sharing import configuration
from packyard.sharing.index.access import Memory
from packyard.sharing.trust.keyring import Keyring
from packyard.sharing.trust.keys import Trust

#: The variable that names a channel.
CHANNEL = "PACKYARD_CHANNEL"
_INDEX, _USED = ".json", ".used"  # what is remembered of a channel: its index, and that it was used


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its origin: a flag, a variable of the environment, a file, or ``default``."""

    value: str
    origin: str

    @property
    def is_carried(self) -> bool:
        """Whether this is the packages that packyard carries, as the source of packages."""
        return self.value == CARRIED

    @property
    def whole(self) -> str:
        """The address of a channel as files keep it."""
        return self.value if self.is_carried else configuration.normal(self.value)

    def __str__(self) -> str:
        return "the packages that packyard carries" if self.is_carried else f"{masked(self.value)} ({self.origin})"


def source(flag: str | None = None) -> Setting:
    """Return where packages are looked for, by the one order that all verbs have.

    That is the channel which ``--from`` names, else PACKYARD_CHANNEL, else the configured one, and without any of them
    the packages that packyard carries. Print it, so that users see which it was: ``output.note(f"from {found}")``.
    """
    return channel(flag) or Setting(CARRIED, "default")


def as_flag(setting: Setting) -> str:
    """Return ``" --from CHANNEL"`` for commands to go on with, if the user named the channel so, otherwise nothing."""
    return flag_for(setting.value) if setting.origin == "--from" else ""


def flag_for(address: str) -> str:
    """Return ``" --from CHANNEL"`` for commands to go on with, whoever named the channel."""
    return f" --from {quote(masked(address))}"


def channel(flag: str | None = None) -> Setting | None:
    """Return the address of the channel to read from, or None where none is set."""
    if flag is not None:
        return Setting(flag, "--from")
    if os.environ.get(CHANNEL):
        return Setting(os.environ[CHANNEL], CHANNEL)
    address = configuration.read(home.config_dir())
    return Setting(address, f"{home.config_dir()}/{configuration.FILE}") if address else None


def is_used(address: str) -> bool:
    """Say whether the user named a channel before, on this computer.

    It is configured, keys are trusted for it, its index was read, or a package was fetched from it (`note_used`): what
    names it otherwise, such as a receipt, is not enough to be asked.
    """
    if address == CARRIED:
        return True
    named = filter(None, (os.environ.get(CHANNEL), configuration.read(home.config_dir())))
    if configuration.normal(address) in map(configuration.normal, named) or trust(address).is_required:
        return True
    return any(_noted(address).with_suffix(end).is_file() for end in (_INDEX, _USED))


def note_used(address: str) -> None:
    """Note that the user named a channel, which may have no index to remember."""
    file = _noted(address)
    if not is_used(address):
        with suppress(OSError):  # without it, the user is asked or told again
            file.parent.mkdir(parents=True, exist_ok=True)
            file.with_suffix(_USED).touch()


def _noted(address: str) -> Path:
    """Return the beginning of files that remember a channel."""
    return home.state_dir() / "channels" / Digest.of(configuration.normal(address).encode()).hex


def trust(address: str) -> Trust:
    """Return whom the user trusts for a channel; where that is nobody, the user's own keys, none of them required."""
    ring = keyring()
    if trusted := ring.trusted(address):
        return Trust.of(*trusted, channel=masked(address))
    own = Trust.of(*ring.own(), channel=masked(address))
    return replace(own.optional(), own=[*own.signatories])


def trusted_anywhere() -> Trust:
    """Return whom the user trusts for any channel, and own keys: of a file from anywhere, none of them is required."""
    trusted = Trust.of(*(signatory for channel in keyring().channels() for signatory in channel.signatories))
    own = trust("").signatories
    both = {**own, **trusted.signatories}
    return replace(trusted.optional(), signatories=both, own=[*own.keys() - trusted.signatories.keys()])


def memory(address: str) -> Memory:
    """Return what is remembered of the last index that a channel had."""
    return Memory(file=_noted(address).with_suffix(_INDEX))


def keyring() -> Keyring:
    """Return the user's keys."""
    return Keyring(home.config_dir() / "keys")
