"""Make keys that sign what you publish, and say whose signatures you trust.

packyard keys new NAME        a private key, and NAME.pub.pem for users
packyard keys trust FILE      trust a publisher's public key
packyard keys list            your keys, and those that you trust
packyard keys revoke ID       no longer trust a key
packyard keys untrust CHANNEL forget which channel it was, and who signed it

If you trust a key for a channel, `get` refuses packages there that no trusted key signed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from shlex import quote

from packyard.cli import declare, output, preferences
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.core.errors import UsageError
from packyard.core.files import regular
from packyard.sharing.trust.keyring import Keyring, TrustedKey
from packyard.sharing.trust.keys import LIMIT

ROWS = Rows("key", "id, name, use, channels", line="{id}")
EXAMPLE = "packyard keys new NAME, packyard keys trust FILE, packyard keys list"
LISTED = Rows("key", ROWS.fields, columns="NAME, USE, CHANNELS, ID")
#: What the verb does, by its first word.
ACTIONS = ("new", "trust", "list", "revoke", "untrust")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.usage = "%(prog)s {new NAME|trust FILE|list|revoke ID|untrust CHANNEL} [flags]"
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}")
    parser.add_argument("what", metavar="NAME|FILE|ID|CHANNEL", nargs="?", help="the name, file or id of a key")
    declare.value(parser, "--channel ADDRESS", "trust the key for this channel only")
    declare.switch(parser, "--no-passphrase", "do not encrypt the new private key")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked with the user's keys."""
    action, what = arguments.action, arguments.what
    if arguments.channel and action != "trust":
        raise UsageError(f"packyard keys {action}: --channel is for `packyard keys trust FILE --channel ADDRESS`")
    if arguments.no_passphrase and action != "new":
        raise UsageError(f"packyard keys {action}: --no-passphrase is for `packyard keys new NAME --no-passphrase`")
    if (what is None) != (action == "list"):
        if action == "list":
            raise UsageError(f"packyard keys list: lists all keys, and takes no {what!r}: packyard keys list")
        raise UsageError(f"packyard keys {action}: {_ACTIONS[action][1]}")
    ring = preferences.own_keyring()
    rows = _list(ring) if action == "list" else [_ACTIONS[action][0](ring, arguments)]
    (LISTED if action == "list" else ROWS).show(rows, arguments.output, cells={"CHANNELS": _for})
    return 0


def _new(ring: Keyring, arguments: argparse.Namespace) -> dict[str, object]:
    secret = None if arguments.no_passphrase else signing.new_passphrase()
    key, file = ring.new(arguments.what, secret)
    output.note(f"give {file} to users, who run: packyard keys trust {quote(file.name)}")
    return {"id": key.public.id, "name": arguments.what, "use": "signs", "channels": []}


def _trust(ring: Keyring, arguments: argparse.Namespace) -> dict[str, object]:
    data = regular.read(arguments.what, limit=LIMIT)
    key = ring.trust(data, file=arguments.what, channel=arguments.channel or "")
    row = _row(key, "trusted")
    output.note(f"{key.name} is trusted for {_for(row)}; compare its id with the publisher's by another way")
    return row


def _revoke(ring: Keyring, arguments: argparse.Namespace) -> dict[str, object]:
    key_id = ring.find(arguments.what)
    ring.revoke(key_id)
    output.note("its signatures count no longer, whatever they sign")
    return {"id": key_id, "name": "", "use": "revoked", "channels": []}


def _untrust(_: Keyring, arguments: argparse.Namespace) -> dict[str, object]:
    if memory := preferences.memory(arguments.what):
        memory.forget()
    output.note("the next index that it shows is taken for the first")
    return {"id": "", "name": "", "use": "forgotten", "channels": [arguments.what]}


def _list(ring: Keyring) -> list[dict[str, object]]:
    revoked = ring.revoked()
    rows: list[dict[str, object]] = []
    for name in ring.signing_names():
        key_id = ring.public(name).id
        rows.append({"id": key_id, "name": name, "use": "revoked" if key_id in revoked else "signs", "channels": []})
    rows += [_row(each, "revoked" if each.key.id in revoked else "trusted") for each in ring.trusted()]
    unknown = revoked - {row["id"] for row in rows}
    return rows + [{"id": key, "name": "", "use": "revoked", "channels": []} for key in sorted(unknown)]


def _row(key: TrustedKey, use: str) -> dict[str, object]:
    return {"id": key.key.id, "name": key.name, "use": use, "channels": list(key.channels)}


def _for(row: Mapping[str, object]) -> str:
    channels = row["channels"]
    if row["use"] != "trusted":
        return ""
    return ", ".join(channels) if isinstance(channels, list) and channels else "all channels"


#: What does an action, and what is said where its argument is missing.
_ACTIONS: dict[str, tuple[Callable[[Keyring, argparse.Namespace], dict[str, object]], str]] = {
    "new": (_new, "name the key, for example for your team: packyard keys new NAME"),
    "trust": (_trust, "name the file with the publisher's public key: packyard keys trust FILE"),
    "revoke": (_revoke, "name a key that packyard keys list shows: packyard keys revoke ID"),
    "untrust": (_untrust, "name the channel: packyard keys untrust CHANNEL"),
}
