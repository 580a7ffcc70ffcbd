"""The key that a command line signs with, and its passphrase.

It is the one that ``--key`` names, or comes from PACKYARD_SIGNING_KEY (PEM), or is the only one of the user.
Its passphrase comes from PACKYARD_KEY_PASSPHRASE, or is asked on the terminal.
"""

import os
import sys
from getpass import getpass

from packyard.cli import declare, output, preferences
from packyard.core.errors import UsageError
from packyard.sharing.index.access import Publisher
from packyard.sharing.trust import keyless, signers
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import SigningKey

KEY = "PACKYARD_SIGNING_KEY"
PASSPHRASE = "PACKYARD_KEY_PASSPHRASE"


def add_argument(parser: declare.Parser) -> None:
    """Declare ``--key``."""
    parser.value("--key NAME|URI", "the key to sign with (default: your only one, if there is one)")


def key(name: str | None = None) -> Signing | None:
    """Return the key to sign with; None where the user has none. A variable that is empty is refused.

    Without a name it is the only one that there is.
    """
    text = name or os.environ.get(KEY)
    if text and signers.is_uri(text):
        return keyless.open(text) if text.startswith("sigstore:") else signers.open(text, passphrase)
    if not name and text is not None:
        data = text.encode()
        if not data.strip():
            hint = f"is the secret of the job missing? To publish without a signature: unset {KEY}"
            raise UsageError(f"{KEY} is set, and empty: nothing would be signed ({hint})")
        return SigningKey.parse(data, passphrase, file=KEY)
    ring = preferences.keyring()
    names = [name] if name else ring.signing_names()
    if len(names) > 1:
        raise UsageError(f"you have several keys; choose one by --key: {', '.join(names)}")
    if names:
        output.note(f"signing with {names[0]}{', your only key' * (not name)}")
    return ring.signing(names[0], passphrase) if names else None


def publisher(address: str, name: str | None, *, is_trial: bool = False) -> Publisher:
    """Return who writes into a channel, with which key, whom the user trusts there, and what he remembers of it.

    Who only looks what would be done, ``is_trial``, needs no key but one of the user's own, which is named.
    """
    is_elsewhere = KEY in os.environ or signers.is_uri(name or "")
    chosen, memory = None if is_trial and is_elsewhere else key(name), preferences.memory(address)
    return Publisher(key=chosen, trusted=preferences.trust(address), memory=memory, tell=output.note)


def passphrase(file: str) -> bytes:
    """Return the passphrase of a private key."""
    return (os.environ.get(PASSPHRASE) or _ask(f"Passphrase of {file}: ", f"set {PASSPHRASE}")).encode()


def new_passphrase() -> bytes:
    """Return the passphrase for a new key, which is asked for twice."""
    if preset := os.environ.get(PASSPHRASE):
        return preset.encode()
    first = _ask("Passphrase for the new key: ", f"set {PASSPHRASE}, or give --no-passphrase")
    if not first or first != _ask("Once more: ", ""):
        raise UsageError(f"the passphrases {'differ' if first else 'must not be empty'}; run again")
    return first.encode()


def _ask(prompt: str, hint: str) -> str:
    if not sys.stdin.isatty():
        raise UsageError(f"a passphrase is needed and there is no terminal to ask for it; {hint}")
    return getpass(prompt, sys.stderr)
