"""The keys that a command line signs with, and their passphrases.

A private key comes from PACKYARD_SIGNING_KEY (its PEM), or is the one that ``--key`` names, or the only one there is.
Its passphrase comes from PACKYARD_KEY_PASSPHRASE, or is asked on the terminal.
"""

from __future__ import annotations

import argparse
import os

from packyard.cli import output, preferences
from packyard.core.errors import UsageError
from packyard.sharing.trust.keys import SigningKey, is_encrypted

KEY = "PACKYARD_SIGNING_KEY"
PASSPHRASE = "PACKYARD_KEY_PASSPHRASE"


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--key``."""
    help = f"the key to sign with (default: {KEY}, or the only one that you have)"
    parser.add_argument("--key", metavar="NAME", help=help)


def keys(name: str | None = None) -> list[SigningKey]:
    """Return the key to sign with, in a list; an empty one where the user has none."""
    given = os.environ.get(KEY, "").encode()
    if given and name is None:
        secret = passphrase(KEY) if is_encrypted(given) else None
        return [SigningKey.parse(given, secret, file=KEY)]
    ring = preferences.keyring()
    known = ring.signing_names() if ring else []
    if name is None and len(known) > 1:
        raise UsageError(f"you have several keys; choose one by --key: {', '.join(known)}")
    if name is None and not known:
        return []
    return [preferences.own_keyring().signing(name or known[0], passphrase)]


def passphrase(file: str) -> bytes:
    """Return the passphrase of a private key."""
    return (os.environ.get(PASSPHRASE) or _ask(f"Passphrase of {file}: ", f"set {PASSPHRASE}")).encode()


def new_passphrase() -> bytes:
    """Return the passphrase for a new key, which is asked for twice."""
    if given := os.environ.get(PASSPHRASE):
        return given.encode()
    first = _ask("Passphrase for the new key: ", f"set {PASSPHRASE}, or give --no-passphrase")
    if not first or first != _ask("Once more: ", ""):
        raise UsageError(f"the passphrases {'differ' if first else 'must not be empty'}; run again")
    return first.encode()


def _ask(prompt: str, hint: str) -> str:
    found = output.secret(prompt)
    if found is None:
        raise UsageError(f"a passphrase is needed and there is no terminal to ask for it; {hint}")
    return found
