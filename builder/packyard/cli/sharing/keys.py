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

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import Any

from packyard.cli import declare, output, preferences, signing
from packyard.cli.bundles import open_channel
from packyard.cli.output import masked
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, UsageError, suggest
from packyard.core.files import regular
from packyard.sharing.configuration import normal
from packyard.sharing.index import access
from packyard.sharing.index.index import Index
from packyard.sharing.index.repositories import RegistryIndex
from packyard.sharing.trust import provenance
from packyard.sharing.trust.envelope import Opened
from packyard.sharing.trust.keyring import Keyring
from packyard.sharing.trust.keys import Identity, Signatory, Trust

ROWS = Rows("key", "id, name, use, channel", line="{id}")
EXAMPLE = "packyard keys new NAME, packyard keys trust KEY CHANNEL, packyard keys list"
LISTED = Rows("key", ROWS.fields, columns="NAME, USE, CHANNEL, ID")
_USAGE = {"new": "new NAME", "trust": "trust KEY CHANNEL", "list": "list", "untrust": "untrust CHANNEL"}
#: What the verb does, by its first word.
ACTIONS = tuple(_USAGE)

_Row = tuple[object, ...]


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.usage = f"%(prog)s {{{'|'.join(_USAGE.values())}}} [flags]"
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}")
    parser.add_argument("what", metavar="NAME|KEY|CHANNEL", nargs="*", help="the name or file of a key, and a channel")
    parser.switch("--no-passphrase", "do not encrypt the new private key")
    parser.value("--issuer URL", "trust IDENTITY, as this says who it is")
    parser.value("--trusted-root FILE", "keys of its Sigstore (default: the public ones)")


def run(arguments: declare.Arguments) -> None:
    """Do what is asked with the user's keys."""
    action = arguments.action
    if arguments.no_passphrase and action != "new":
        raise UsageError(f"packyard keys {action}: --no-passphrase is for `packyard keys new NAME --no-passphrase`")
    if (arguments.issuer and action != "trust") or (arguments.trusted_root and not arguments.issuer):
        flag = "--issuer" if arguments.issuer else "--trusted-root"
        raise UsageError(f"packyard keys {action}: {flag} is for `packyard keys trust IDENTITY CHANNEL --issuer URL`")
    ring, form = preferences.keyring(), ROWS
    words = sorted(arguments.what, key=lambda word: not (word in ring.signing_names() or Path(word).is_file()))
    match action, words:
        case "new", [name]:
            rows = _new(ring, name, is_encrypted=not arguments.no_passphrase)
        case "trust", [*names, channel] if names:
            rows = _trust(ring, [_signatory(ring, name, arguments) for name in names], channel)
        case "list", []:
            rows, form = _list(ring), LISTED
        case "untrust", [channel]:
            rows = _untrust(ring, channel)
        case _:
            usage, typed = _USAGE[action], join(words) or "none"
            wanted = usage.partition(" ")[2] or "no other word"
            raise UsageError(f"packyard keys {action}: expected {wanted}, found {typed}; type packyard keys {usage}")
    form.show(rows, arguments.output, cells={"ID": _short_id})


def _new(ring: Keyring, name: str, *, is_encrypted: bool) -> list[_Row]:
    key, file = ring.new(name, signing.new_passphrase if is_encrypted else None)
    output.note(f"give {file} to users, who run: packyard keys trust {quote(file.name)} CHANNEL")
    return [(key.public.id, name, "signs", "")]


def _signatory(ring: Keyring, name: str, arguments: declare.Arguments) -> Signatory:
    if arguments.issuer:
        root = regular.read(arguments.trusted_root).decode("utf-8", "replace") if arguments.trusted_root else ""
        return Identity(name, arguments.issuer, root)
    if "://" in name:
        problem = f"an identity needs who says that it is this one: packyard keys trust {quote(name)} CHANNEL"
        raise UsageError(f"packyard keys trust: {problem} --issuer URL")
    return ring.named(name)


def _trust(ring: Keyring, signatories: Sequence[Signatory], channel: str) -> list[_Row]:
    trusted, before = Trust.of(*signatories, channel=masked(channel)), ring.trusted(channel)
    keys = " or ".join(map(trusted.name, trusted.signatories))
    _check_signed(channel, trusted, keys)
    ring.trust(channel, signatories)
    output.note(f"{trusted.channel} must be signed by {keys} from now on; to undo: {trusted.let_go}")
    for signatory in before:
        if signatory.id not in trusted.signatories:
            output.note(f"{Trust.of(signatory).name(signatory.id)} is not trusted there any more")
    if not {key.id for key in ring.own()} >= {*trusted.signatories}:
        output.note("ask its publisher, by phone or in person, whether this is right:")
    return _rows(signatories, normal(channel))


def _check_signed(channel: str, trusted: Trust, keys: str) -> None:
    """Refuse a channel that none of these keys has signed; in a registry, one of the versions speaks for the others."""
    store, wanted = open_channel(channel), trusted.optional()
    signed: Index | Opened = access.read(store, wanted, preferences.memory(channel))
    latest = (package.latest for package in signed.packages()) if isinstance(signed, RegistryIndex) else ()
    if entry := next(filter(None, latest), None):
        signed = provenance.check(provenance.get(store, entry), entry, wanted, what=str(entry))[1]
    if not signed.signers:
        signer, hint = "nobody signed it", "its publisher signs it by publishing with --key NAME"
        if claimants := signed.claimants:
            signer, hint = f"it names {trusted.name(claimants[0])} as its signer", trusted.take(claimants[0])
        raise InputError(Problem(f"is not signed by {keys}: {signer}", file=trusted.channel, hint=hint))


def _untrust(ring: Keyring, channel: str) -> list[_Row]:
    memory = preferences.memory(channel)
    was_trusted = ring.untrust(channel)
    if not was_trusted and not memory.file.exists():
        hint = suggest(normal(channel), [trusted.address for trusted in ring.channels()])
        hint = hint or "packyard keys list shows the channels for which you trust keys"
        raise InputError(Problem("nobody is trusted for it, and nothing is remembered", file=channel, hint=hint))
    memory.file.unlink(missing_ok=True)
    changed = "no signature is required any more, and " if was_trusted else "no signature was required; "
    output.note(f"{channel}: {changed}what it had before is forgotten")
    return []


def _list(ring: Keyring) -> list[_Row]:
    rows = _rows(ring.own())
    for channel in ring.channels():
        rows += _rows(channel.signatories, channel.address)
    if not rows:
        output.note("you have no key, and trust none; packyard keys new NAME makes one")
    return rows


def _short_id(row: Mapping[str, Any]) -> str:
    """Return the beginning of a digest, as messages have it; JSON has all of it."""
    return f"{row['id'][:19]}…" if row["id"].startswith("sha256:") else str(row["id"])


def _rows(signatories: Sequence[Signatory], channel: str = "") -> list[_Row]:
    """Return the rows of keys that are trusted for a channel, or sign."""
    return [(signatory.id, signatory.name, "trusted" if channel else "signs", channel) for signatory in signatories]
