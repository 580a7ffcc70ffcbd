"""Make keys that sign what you publish, and say who has to have signed what a channel has.

packyard keys new NAME            a private key, and NAME.pub.pem for users
packyard keys trust KEY CHANNEL   require that a channel is signed by its
                                  publisher's key: a file, or a key of yours
packyard keys list                your keys, and those that you trust
packyard keys untrust CHANNEL     require no signature of it any more, and
                                  forget what it had

packyard keys trust IDENTITY CHANNEL --issuer URL
                                  the same of a job of CI, which has no key

Several keys are given as KEY KEY CHANNEL: one of them has to have signed. They take the place of those before.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from shlex import quote

from packyard.cli import declare, output, preferences
from packyard.cli.channels import open_channel
from packyard.cli.output import masked
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.core.errors import InputError, Problem, UsageError, suggest
from packyard.core.files import regular
from packyard.sharing.configuration import identity
from packyard.sharing.index import access
from packyard.sharing.index.index import Index
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keyring import Keyring
from packyard.sharing.trust.keys import Identity, Signatory, Trust

ROWS = Rows("key", "id, name, use, channel", line="{id}")
EXAMPLE = "packyard keys new NAME, packyard keys trust KEY CHANNEL, packyard keys list"
LISTED = Rows("key", ROWS.fields, columns="NAME, USE, CHANNEL, ID")
#: What the verb does, by its first word.
ACTIONS = ("new", "trust", "list", "untrust")

_Row = dict[str, object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.usage = "%(prog)s {new NAME|trust KEY CHANNEL|list|untrust CHANNEL} [flags]"
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}")
    parser.add_argument("what", metavar="NAME|KEY|CHANNEL", nargs="*", help="the name or file of a key, and a channel")
    declare.switch(parser, "--no-passphrase", "do not encrypt the new private key")
    declare.value(parser, "--issuer URL", "trust IDENTITY, as this says who it is")
    declare.value(parser, "--trusted-root FILE", "keys of its Sigstore (default: the public ones)")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked with the user's keys."""
    action, what = arguments.action, arguments.what
    if arguments.no_passphrase and action != "new":
        raise UsageError(f"packyard keys {action}: --no-passphrase is for `packyard keys new NAME --no-passphrase`")
    if (arguments.issuer and action != "trust") or (arguments.trusted_root and not arguments.issuer):
        flag = "--issuer" if arguments.issuer else "--trusted-root"
        raise UsageError(f"packyard keys {action}: {flag} is for `packyard keys trust IDENTITY CHANNEL --issuer URL`")
    act, least, most, usage = _ACTIONS[action]
    if not least <= len(what) <= most:
        raise UsageError(f"packyard keys {action}: {usage}")
    rows = act(preferences.own_keyring(), arguments)
    (LISTED if action == "list" else ROWS).show(rows, arguments.output)
    return 0


def _new(ring: Keyring, arguments: argparse.Namespace) -> list[_Row]:
    (name,) = arguments.what
    secret = None if arguments.no_passphrase else signing.new_passphrase()
    key, file = ring.new(name, secret)
    output.note(f"give {file} to users, who run: packyard keys trust {quote(file.name)} CHANNEL")
    return [{"id": key.public.id, "name": name, "use": "signs", "channel": ""}]


def _trust(ring: Keyring, arguments: argparse.Namespace) -> list[_Row]:
    *names, channel = arguments.what
    trusted = Trust.of(*(_signatory(ring, name, arguments) for name in names), channel=masked(channel))
    _check_signed(channel, trusted)
    before = {each.id for each in ring.trusted(channel)}
    signatories = list(trusted.signatories.values())
    ring.trust(channel, signatories)
    said = ", ".join(map(_said, signatories))
    output.note(f"{trusted.channel}: signed: required, by {said}; compare the id with the publisher's by another way")
    for each in sorted(before - trusted.signatories.keys()):
        output.note(f"{each} is not trusted there any more")
    output.note(f"to let go: {trusted.let_go}")
    return _rows(signatories, identity(channel))


def _signatory(ring: Keyring, name: str, arguments: argparse.Namespace) -> Signatory:
    if not arguments.issuer:
        if "://" in name:
            problem = f"an identity needs who says that it is this one: packyard keys trust {quote(name)} CHANNEL"
            raise UsageError(f"packyard keys trust: {problem} --issuer URL")
        return ring.named(name)
    root = regular.read(arguments.trusted_root).decode("utf-8", "replace") if arguments.trusted_root else ""
    return Identity(name, arguments.issuer, root)


def _said(signatory: Signatory) -> str:
    return signatory.id if isinstance(signatory, Identity) else f"{signatory.name} ({signatory.id})"


def _check_signed(channel: str, trusted: Trust) -> None:
    """Refuse a channel that none of these keys has signed."""
    store = open_channel(channel)
    index = access.read(store, trusted.optional(), preferences.memory(channel))
    signers, others = _signers(store, index, trusted) if as_registry(store) else (index.signers, index.others)
    if signers:
        return
    keys = " or ".join(map(_said, trusted.signatories.values()))
    if others:
        hint = "ask its publisher by another way which key it is: that with this id, and no other, is the one to trust"
        problem = f"is signed by {' and '.join(others)}, and not by {keys}"
    else:
        hint = f"ask its publisher to sign it: packyard publish --key NAME --to {quote(trusted.channel)}"
        problem = f"is not signed, by {keys} or any other key"
    raise InputError(Problem(problem, file=trusted.channel, hint=hint))


def _signers(store: Store, index: Index, trusted: Trust) -> tuple[Sequence[str], Sequence[str]]:
    """Return who signed a channel in a registry, which has no index: one of the versions speaks for the others."""
    entry = next((package.latest for package in index.packages() if package.latest), None)
    data = provenance.get(store, entry.name, entry.version) if entry else None
    if entry is None or data is None:
        return (), ()
    opened = provenance.open(data, trusted.optional(), file=entry.beside(provenance.end(data)))[1]
    return opened.signers, opened.others


def _untrust(ring: Keyring, arguments: argparse.Namespace) -> list[_Row]:
    (channel,) = arguments.what
    memory = preferences.memory(channel)
    is_remembered = memory is not None and memory.file.exists()
    if not ring.untrust(channel) and not is_remembered:
        hint = suggest(identity(channel), [each.identity for each in ring.channels()])
        hint = hint or "packyard keys list shows the channels for which you trust keys"
        raise InputError(Problem("nobody is trusted for it, and nothing is remembered", file=channel, hint=hint))
    if memory:
        memory.forget()
    output.note(f"{channel}: no signature is required; the next index that it shows is taken for the first")
    return []


def _list(ring: Keyring, _: argparse.Namespace) -> list[_Row]:
    own: list[_Row] = [
        {"id": ring.public(name).id, "name": name, "use": "signs", "channel": ""} for name in ring.signing_names()
    ]
    rows = own + [row for channel in ring.channels() for row in _rows(channel.signatories, channel.identity)]
    if not rows:
        output.note("you have no key, and trust none; packyard keys new NAME makes one")
    return rows


def _rows(signatories: Sequence[Signatory], channel: str) -> list[_Row]:
    return [{"id": each.id, "name": each.name, "use": "trusted", "channel": channel} for each in signatories]


#: What does an action, how many words it takes at least and at most, and what is said where these are others.
_ACTIONS: dict[str, tuple[Callable[[Keyring, argparse.Namespace], list[_Row]], int, int, str]] = {
    "new": (_new, 1, 1, "name the key, for example for your team: packyard keys new NAME"),
    "trust": (
        _trust,
        2,
        16,
        "name the file of a public key, and the channel that it signs: packyard keys trust KEY CHANNEL",
    ),
    "list": (_list, 0, 0, "lists all keys, and takes no names: packyard keys list"),
    "untrust": (_untrust, 1, 1, "name one channel: packyard keys untrust CHANNEL"),
}
