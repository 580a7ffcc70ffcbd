"""`packyard keys root`: making the root of a channel, signing it, rotating it, showing it.

People write which keys sign what; the files of keys are beside it:

    # root.yaml
    apiVersion: packyard/v1
    kind: Root
    expires: 365                                  # days
    root: {keys: [alice.pub.pem, bob.pub.pem, carol.pub.pem], threshold: 2}
    heads: {keys: [ci.pub.pem], expires: 30}      # days; without it they never expire
    revocation: {keys: [oncall.pub.pem]}
    packages:
      team-a-*: {keys: [team-a.pub.pem]}
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote
from typing import Any

from packyard.cli import channels, output, preferences
from packyard.cli.rows import Rows
from packyard.cli.sharing import signing
from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError, UsageError
from packyard.core.files import atomic, regular
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.sources import Sources
from packyard.sharing.index import head
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import root as roots
from packyard.sharing.trust.keys import LIMIT, PublicKey, Role
from packyard.sharing.trust.root import Root

FILE = "root.yaml"
ACTIONS = ("init", "sign", "rotate", "show")
_PUBLIC = ".pub.pem"
_DAYS = 365
_MOST = 3650  # days


def run(arguments: argparse.Namespace, form: Rows) -> int:
    """Do what is asked for with a root, and print it in a form."""
    action, file = arguments.what, arguments.file
    if action not in ACTIONS:
        raise UsageError(f"packyard keys root: say {', '.join(ACTIONS)}, found {action!r}: packyard keys --help")
    if action in ("init", "rotate") and not arguments.within:
        raise UsageError(f"packyard keys root {action}: name the channel: --in CHANNEL")
    if action == "sign" and not file:
        raise UsageError("packyard keys root sign: name the root: packyard keys root sign 1.root.json --key NAME")
    root = {"init": _init, "rotate": _rotate, "sign": _sign, "show": _show}[action](arguments)
    previous = _previous(root, arguments)
    by = {key for _, result in root.results(previous) for key in result.signed}
    named = _names(Path(file or FILE).parent)

    def keys(row: Mapping[str, Any]) -> str:
        """Return the keys of a role by their names, as far as they are known here, and who has signed."""
        signed = by if row["role"] == "root" else ()
        return ", ".join(f"{named.get(key, key)}{' has signed' if key in signed else ''}" for key in row["keys"])

    if form.show(list(_rows(root, by, file or "")), arguments.output, cells={"KEYS": keys}):
        days = root.rules.head_days
        heads = f"heads expire after {days} days" if days else "heads never expire"
        output.note(f"version {root.version} of the root expires on {root.expires:%Y-%m-%d}; {heads}")
    return 0


def _names(folder: Path) -> dict[str, str]:
    """Return how people call keys, by their ids: those of the user, and those whose files are in a folder."""
    ring = preferences.own_keyring()
    by_id: dict[str, str] = {ring.public(name).id: name for name in ring.signing_names()}
    for file in sorted(folder.glob(f"*{_PUBLIC}")):
        try:
            key = PublicKey.parse(regular.read(file, limit=LIMIT), file=str(file))
        except PackyardError as error:
            output.detail(str(error))
        else:
            by_id.setdefault(key.id, file.name.removesuffix(_PUBLIC))
    return {key: f"{name} {key}" for key, name in (preferences.key_names() | by_id).items()}


def _init(arguments: argparse.Namespace) -> Root:
    store = channels.open_channel(arguments.within)
    if roots.get(store, 1) is not None:
        raise InputError(Problem("has a root already", file=store.address, hint="packyard keys root rotate"))
    latest = head.latest(store, preferences.trust(arguments.within)) if store.list("index/") else None
    if latest and not latest.channel:
        hint = "publish to it once: that makes an id"
        raise InputError(Problem("has no id: it is of an earlier packyard", file=store.address, hint=hint))
    return _written(_described(arguments, latest.channel if latest else head.new_id(), 1))


def _rotate(arguments: argparse.Namespace) -> Root:
    store = channels.open_channel(arguments.within)
    pinned = _pinned(arguments.within)
    last = roots.follow(pinned, store)
    root = _described(arguments, last.channel, last.version + 1)
    revoked = {each for _, record in roots.records(last, store) if record for each in record.revoked}
    if again := sorted(revoked.intersection(root.metadata.signed.keys)):
        hint = "make a new key: packyard keys new NAME"
        file = arguments.file or FILE
        name = _names(Path(file).parent).get(again[0], again[0])
        raise InputError(Problem(f"names {name}, which is revoked", file=file, hint=hint))
    return _written(root)


def _sign(arguments: argparse.Namespace) -> Root:
    file, channel = Path(arguments.file), arguments.within
    root = Root.parse(regular.read(file, limit=roots.LIMIT), file=str(file))
    previous = _previous(root, arguments)
    wanted = {each for version in (root, previous) if version for each in version.metadata.signed.roles["root"].keyids}
    for key in signing.keys(arguments.key, of=wanted) if arguments.key or not channel else ():
        if key.public.id not in wanted:
            hint = "packyard keys root show FILE lists them"
            name = _names(file.parent).get(key.public.id, key.public.id)
            raise InputError(Problem(f"{name} is not a root key of it", file=str(file), hint=hint))
        root.sign(key)
    _write(file, root)
    missing = [f"{result.missing} {whose}" for whose, result in root.results(previous) if result.missing]
    if missing:
        output.note(f"signatures are missing: {' and '.join(missing)}; hand {file} to a holder of another root key")
    elif channel:
        store = channels.open_channel(channel)
        root.check(previous, file=str(file))
        store.put(roots.key(root.version), root.to_bytes())
        output.note(f"{store.address} has version {root.version} of its root now")
        if previous and previous.heads.keys != root.heads.keys:
            refresh = f"packyard keys refresh --in {quote(channel)} --key NAME"
            output.note(f"sign its head with a key that it names: {refresh}")
        elif not previous:
            output.note(f"users run once: packyard keys trust {quote(file.name)} --channel {quote(channel)}")
    else:
        output.note(f"all signatures are there: packyard keys root sign {quote(str(file))} --in CHANNEL publishes it")
    return root


def _show(arguments: argparse.Namespace) -> Root:
    if arguments.file:
        return Root.parse(regular.read(arguments.file, limit=roots.LIMIT), file=arguments.file)
    if not arguments.within:
        raise UsageError("packyard keys root show: name a file, or --in CHANNEL")
    return roots.follow(_pinned(arguments.within), channels.open_to_read(arguments.within))


def _pinned(channel: str) -> Root:
    root = preferences.own_keyring().root(channel)
    if root is None:
        hint = (
            f"get 1.root.json from whoever holds it, then: packyard keys trust 1.root.json --channel {quote(channel)}"
        )
        raise InputError(Problem("you trust no root of this channel", file=channel, hint=hint))
    return root


def _previous(root: Root, arguments: argparse.Namespace) -> Root | None:
    """Return the root before, from the channel, or beside the file; None for the first."""
    number = root.version - 1
    if not number:
        return None
    beside = Path(arguments.file or "").parent / f"{number}.root.json"
    store: Store | None = channels.open_channel(arguments.within) if arguments.within else None
    data = roots.get(store, number) if store else None
    if data is None and beside.is_file():
        data = regular.read(beside, limit=roots.LIMIT)
    if data is None:
        hint = f"add --in CHANNEL, or put {number}.root.json beside it"
        raise InputError(
            Problem(f"version {number} of the root is needed, which signs version {root.version}", hint=hint)
        )
    return Root.parse(data, file=f"{number}.root.json")


def _written(root: Root) -> Root:
    file = Path(f"{root.version}.root.json")
    if file.exists():
        raise InputError(Problem("exists already", file=str(file), hint="sign that one, or remove it"))
    _write(file, root)
    needed = root.metadata.signed.roles["root"].threshold
    holders = "a holder of a root key" if needed == 1 else f"{needed} holders of root keys"
    output.note(f"hand {file} to {holders}, to sign it: packyard keys root sign {quote(str(file))} --key NAME")
    return root


def _write(file: Path, root: Root) -> None:
    try:
        atomic.write(str(file), root.to_bytes(), mode=0o644, durable=True)
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror}") from error


def _rows(root: Root, by: Collection[str], file: str) -> Iterator[dict[str, object]]:
    signed = root.metadata.signed
    common = {"version": root.version, "channel": root.channel, "expires": f"{root.expires:%Y-%m-%d}", "file": file}
    own = signed.roles["root"]
    yield {**common, "role": "root", "keys": own.keyids, "threshold": own.threshold, "signed": len(by)}
    roles = {"heads": root.heads, "revocation": root.rules.revocation}
    roles |= {each.patterns[0]: each for each in root.rules.packages}
    for name, role in roles.items():
        if role:
            yield {**common, "role": name, "keys": [*role.keys], "threshold": role.threshold, "signed": None}


# root.yaml


def _described(arguments: argparse.Namespace, channel: str, version: int) -> Root:
    file = Path(arguments.file or FILE)
    if not file.is_file():
        hint = "write which keys sign what, as docs/stolen-key.md does, at least: "
        hint += "root: {keys: [alice.pub.pem, bob.pub.pem], threshold: 2} and heads: {keys: [ci.pub.pem]}"
        raise InputError(Problem("no such file", file=str(file), hint=hint))
    fields = Fields.of_file(Sources(file.parent), file.name)
    for key, wanted in (("apiVersion", "packyard/v1"), ("kind", "Root")):
        if fields.text(key, wanted) != wanted:
            fields.fault(fields.node, key, f"must be {wanted}")
    roles = {name: _role(each, file) for name in ("root", "heads", "revocation") if (each := fields.child(name))}
    named = {name: _role(each, file) for name, each in fields.children("packages").items()}
    _check_order(fields, list(named))
    days = _days(fields, file) or _DAYS
    heads = fields.child("heads")
    head_days = _days(heads, file) if heads else 0
    for missing in {"root", "heads"} - roles.keys():
        fields.fault(fields.node, missing, "must say which keys sign it: {keys: [NAME.pub.pem]}")
    fields.done()
    expires = roots.expiry(days)
    return roots.make(roles, channel=channel, packages=named, version=version, expires=expires, head_days=head_days)


def _check_order(fields: Fields, patterns: Sequence[str]) -> None:
    """Refuse a pattern of packages whose names all fit one that stands before it, whose keys count then."""
    for number, pattern in enumerate(patterns):
        wider = next((each for each in patterns[:number] if not set("?[") & {*each} and fnmatchcase(pattern, each)), "")
        if wider:
            message = f"no package's keys are looked up in {pattern!r}, as all its names fit {wider!r} before it"
            fields.fault(fields.node, "packages", message, hint=f"write {pattern!r} first")


def _days(fields: Fields, file: Path) -> int:
    text = fields.text("expires", "")
    if text and not (text.isascii() and text.isdecimal() and 0 < int(text) <= _MOST):
        raise InputError(Problem(f"must be a number of days up to {_MOST}, found {text!r}", file=f"{file}: expires"))
    return int(text or 0)


def _role(fields: Fields, file: Path) -> Role:
    fields.text("expires", "")
    keys, retired = (_keys(fields.texts(key), file) for key in ("keys", "retired"))
    text = fields.text("threshold", "1")
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= len(keys)):
        problem = f"threshold: must be from 1 to the number of its keys, {len(keys)}, found {text!r}"
        raise InputError(Problem(problem, file=str(file)))
    fields.done()
    return Role(keys=keys, threshold=int(text), retired=retired)


def _keys(names: Sequence[str], file: Path) -> dict[Digest, PublicKey]:
    by_id: dict[Digest, PublicKey] = {}
    for name in names:
        beside = file.parent / name
        if not beside.is_file():
            hint = f"put the public key beside {file.name}; its owner has it from: packyard keys new NAME"
            raise InputError(Problem(f"names {name}, and there is no such file", file=str(file), hint=hint))
        key = PublicKey.parse(regular.read(beside, limit=LIMIT), file=str(beside))
        if key.id in by_id:
            raise InputError(Problem("is named twice in a role", file=str(beside)))
        by_id[key.id] = key
    return by_id
