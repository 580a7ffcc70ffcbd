"""The root of a channel: which keys sign what there. It is TUF's metadata of the root role, read by python-tuf.

    index/root/1.root.json       signed by a threshold of its own root keys
    index/root/2.root.json       signed by a threshold of root keys of version 1, and of its own
    index/revoked/1.json         an envelope: the keys that sign nothing any more, signed by the role for that

A user gets one root by another way (`Keyring.trust`), and follows those after it, whatever he has missed. TUF's role
``timestamp`` is who signs heads, and what is said beside them. ``x-packyard`` has what TUF has not:

    {"channel": the id of the channel, "headsExpireDays": 30, "revocation": a role,
     "packages": [a delegated role, whose paths are patterns of names: the first that fits signs the provenance]}

A role's ``x-retired`` are keys whose old signatures of provenance and records count, but not of heads. The id of a key
is that of `PublicKey`, so that no key has two.

https://theupdateframework.github.io/specification/latest/#update-root. `tuf` is imported where it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from packyard.core.bundle import record
from packyard.core.bundle.record import checked, in_json, list_of
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.stores.store import MissingStoreError, Store, get_or_none
from packyard.sharing.trust import envelope
from packyard.sharing.trust.keys import PublicKey, Role, Rules, SigningKey, Trust

if TYPE_CHECKING:
    from tuf.api.metadata import Key, Metadata
    from tuf.api.metadata import Role as TufRole
    from tuf.api.metadata import Root as TufRoot

FOLDER, REVOKED = "index/root/", "index/revoked/"
LIMIT = 512 * 1024  # bytes
_FIELD, _RETIRED = "x-packyard", "x-retired"
_HEADS = ("timestamp", "snapshot", "targets")  # TUF demands the last two; nobody asks them
_MOST, _MOST_REVOKED = 1024, 100  # files
_NONE: tuple[Any, ...] = ()
_REVOKED_TYPE = "application/vnd.packyard.revoked+json"


_ID = re.compile(r"[0-9a-f]{32}")


def check_id(channel: str) -> None:
    """Refuse what is neither the id of a channel nor empty."""
    if channel and not _ID.fullmatch(channel):
        raise InputError(f"{channel[:80]!r} is not the id of a channel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """The ids of all keys that are revoked, in version after version."""

    channel: str = field(metadata=in_json(checked(check_id)))
    version: int = field(metadata=in_json(record.size))
    revoked: tuple[str, ...] = field(metadata=in_json(list_of(record.digest)))
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A version of a channel's root: who signs heads, and its other ``rules``; ``metadata`` is what python-tuf read."""

    heads: Role
    rules: Rules
    metadata: Metadata[TufRoot]

    @property
    def channel(self) -> str:
        """The id of its channel."""
        return self.rules.channel

    @property
    def version(self) -> int:
        """Its number."""
        return self.rules.version

    @property
    def expires(self) -> datetime:
        """When it has to be renewed."""
        return self.metadata.signed.expires

    @property
    def offline(self) -> frozenset[str]:
        """The ids of the root keys that have no other role."""
        roles = (self.heads, *self.rules.packages, *filter(None, [self.rules.revocation]))
        return frozenset(self.metadata.signed.roles["root"].keyids).difference(*(each.keys for each in roles))

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> Root:
        """Read a root, and verify nothing yet; raise `IntegrityError` for what is none."""
        from tuf.api.metadata import DelegatedRole, Metadata
        from tuf.api.metadata import Role as TufRole
        from tuf.api.metadata import Root as TufRoot

        def read(fields: record.Record) -> Root:
            metadata: Metadata[Any] = Metadata.from_dict(dict(fields.rest()))
            if not isinstance(metadata.signed, TufRoot):
                raise record.FaultError("must be the metadata of a root", "signed")
            keys = {id: _key(id, key) for id, key in metadata.signed.keys.items()}
            own = record.Record(metadata.signed.unrecognized_fields.get(_FIELD, {}))
            revocation = own.take("revocation", lambda value: TufRole.from_dict(_plain(value)), None)
            packages = own.take("packages", list_of(lambda value: DelegatedRole.from_dict(_plain(value))), _NONE)
            rules = Rules(
                version=metadata.signed.version,
                channel=own.take("channel", checked(check_id)),
                keys=frozenset(keys),
                packages=tuple(_role(each, keys) for each in packages),
                revocation=_role(revocation, keys) if revocation else None,
                head_days=own.take("headsExpireDays", record.size, 0),
            )
            return cls(heads=_role(metadata.signed.roles["timestamp"], keys), rules=rules, metadata=metadata)

        try:
            return record.parse_any(data, read, file=file)
        except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:  # what tuf raises
            raise IntegrityError(Problem(f"is not the root of a channel: {error}", file=file)) from error

    def check(self, previous: Root | None, *, file: str) -> None:
        """Raise `IntegrityError` unless thresholds of its own root keys, and of those of the one before, signed it."""
        if previous and (self.version != previous.version + 1 or self.channel != previous.channel):
            expected = f"version {previous.version + 1} of the root of channel {previous.channel}"
            problem = f"must be {expected}, found version {self.version} of {self.channel}"
            raise IntegrityError(Problem(problem, file=file))
        for whose, result in self.results(previous):
            if not result.verified:
                problem = f"is signed by {len(result.signed)} of {result.threshold} root keys {whose}"
                hint = "do not use it; ask whoever publishes there what happened"
                raise IntegrityError(Problem(problem, file=file, hint=hint))

    def results(self, previous: Root | None) -> list[tuple[str, Any]]:
        """Return what python-tuf's verification finds, for the version before and for its own."""
        signed, before = self.metadata.signed, previous.metadata.signed if previous else None
        result = signed.get_root_verification_result(before, self.metadata.signed_bytes, self.metadata.signatures)
        own = (f"of version {self.version}", result.second)
        return [(f"of version {previous.version}", result.first), own] if previous else [own]

    def sign(self, key: SigningKey) -> None:
        """Add a signature, which must be by a key of its own or of the version before."""
        self.metadata.sign(key.signer, append=True)

    def to_bytes(self) -> bytes:
        """Return the file."""
        return record.to_bytes(self.metadata.to_dict())

    def trust(self, revoked: Iterable[str], recorded: frozenset[str], now: datetime | None) -> Trust:
        """Return whom to trust in the channel; see `resolve`."""
        rules = replace(self.rules, revoked=recorded, now=now)
        return Trust(rules=rules, revoked=recorded.union(revoked)).in_role(self.heads)


def key(version: int) -> str:
    """Return the key of a root."""
    return f"{FOLDER}{version}.root.json"


def get(store: Store, version: int) -> bytes | None:
    """Return the file of a version, None where there is none."""
    return _get(store, key(version))


def follow(pinned: Root, store: Store) -> Root:
    """Return the last of the roots that follow the pinned one in a channel."""
    root = pinned
    for _ in range(_MOST):
        place = key(root.version + 1)
        data = _get(store, place)
        if data is None:
            return root
        try:
            following = Root.parse(data, file=place)
            following.check(root, file=place)
        except IntegrityError as error:
            hint = "whoever holds the channel's root puts the right file there, or removes this one"
            raise error.hinted(hint) from error
        root = following
    raise IntegrityError(Problem(f"has more than {_MOST} roots", file=store.address))


def resolve(root: Root, store: Store, revoked: Iterable[str] = (), now: datetime | None = None) -> Trust:
    """Return whom to trust in a channel whose last root this is, by the clock of the user; it must not have expired."""
    now = now or datetime.now(UTC)
    if root.expires <= now:
        hint = "ask whoever publishes there for a new root (packyard keys root rotate); is your clock right?"
        problem = f"has expired on {root.expires:%Y-%m-%d}"
        raise IntegrityError(Problem(problem, file=f"{store.address}: {key(root.version)}", hint=hint))
    recorded = frozenset(each for _, entry in records(root, store) if entry for each in entry.revoked)
    return root.trust(revoked, recorded, now)


def records(root: Root, store: Store) -> Iterator[tuple[int, Revoked | None]]:
    """Yield the versions of what is revoked, None for one that the role did not sign: it counts for nothing."""
    if root.rules.revocation is None:
        return
    trusted = Trust().in_role(root.rules.revocation)
    for version in count(1):
        place = f"{REVOKED}{version}.json"
        data = _get(store, place)
        if data is None:
            return
        if version > _MOST_REVOKED:
            raise IntegrityError(Problem(f"has more than {_MOST_REVOKED} files", file=REVOKED))
        revoked = None
        with suppress(IntegrityError):
            payload = envelope.open(data, _REVOKED_TYPE, trusted, file=place).payload
            revoked = record.parse(payload, lambda fields: fields.take_all(Revoked), kind="Revoked", file=place)
        is_own = revoked and (revoked.channel, revoked.version) == (root.channel, version)
        yield version, revoked if is_own else None


def revoke(store: Store, trusted: Trust, key_ids: Iterable[Digest], keys: Iterable[SigningKey]) -> None:
    """Write what is revoked from now on, signed by the role for that."""
    rules = trusted.rules
    assert rules
    role = Trust().in_role(rules.revocation) if rules.revocation else None
    signing = [each for each in keys if role and role.get(each.public.id)]
    if role is None or not role.is_met(each.public.id for each in signing):
        needed = f"of the role for revocation, {role.threshold} must sign it" if role else "its root has no role"
        hint = "or take the key out of the root: packyard keys root rotate"
        raise InputError(Problem(f"this does not revoke: {needed}", file=store.address, hint=hint))
    version = next(number for number in count(1) if _get(store, f"{REVOKED}{number}.json") is None)
    everything = tuple(sorted(rules.revoked.union(key_ids)))
    revoked = Revoked(channel=rules.channel, version=version, revoked=everything)
    document = {"apiVersion": record.API_VERSION, "kind": "Revoked", **record.document(revoked)}
    store.put(f"{REVOKED}{version}.json", envelope.sign(record.to_bytes(document), _REVOKED_TYPE, signing))


def make(
    roles: Mapping[str, Role],
    *,
    channel: str,
    packages: Mapping[str, Role],
    version: int,
    expires: datetime,
    head_days: int,
) -> Root:
    """Return a root that nobody has signed yet; ``roles`` are root, heads, and maybe revocation."""
    from tuf.api.metadata import DelegatedRole, Metadata
    from tuf.api.metadata import Role as TufRole
    from tuf.api.metadata import Root as TufRoot

    everything = [*roles.values(), *packages.values()]
    keys = {str(id): each for role in everything for id, each in {**role.keys, **role.retired}.items()}

    def of(role: Role) -> TufRole:
        return TufRole(sorted(map(str, role.keys)), role.threshold, _retired(role))

    delegated = [
        DelegatedRole(name, sorted(map(str, role.keys)), role.threshold, True, [name], None, _retired(role))
        for name, role in packages.items()
    ]
    own = {
        "channel": channel,
        **({"headsExpireDays": head_days} if head_days else {}),
        **({"revocation": of(roles["revocation"]).to_dict()} if "revocation" in roles else {}),
        **({"packages": [each.to_dict() for each in delegated]} if delegated else {}),
    }
    signed = TufRoot(
        version=version,
        expires=expires.replace(microsecond=0),
        keys={id: each.of_tuf() for id, each in keys.items()},
        roles={
            "root": of(roles["root"]),
            **dict.fromkeys(_HEADS, of(roles["heads"])),
        },
        unrecognized_fields={_FIELD: own},
    )
    return Root.parse(record.to_bytes(Metadata(signed).to_dict()), file=key(version))


def _retired(role: Role) -> dict[str, Any]:
    return {_RETIRED: sorted(map(str, role.retired))} if role.retired else {}


def expiry(days: int) -> datetime:
    """Return the moment in so many days."""
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)


def _get(store: Store, place: str) -> bytes | None:
    with suppress(MissingStoreError):  # a channel that is made now
        return get_or_none(store, place, limit=LIMIT)
    return None


def _plain(value: object) -> dict[str, Any]:
    return dict(record.Record(value).rest())


def _key(id: str, tuf_key: Key) -> PublicKey:
    """Return a key of a root, which must be under its id."""
    public = PublicKey.of_tuf_key(tuf_key, file=id)
    if id != public.id:
        raise ValueError(f"the key {public.id} is under another id, {id[:80]!r}")
    return public


def _role(tuf_role: TufRole, keys: Mapping[str, PublicKey]) -> Role:
    retired = record.list_of(record.digest)(tuf_role.unrecognized_fields.get(_RETIRED, []))
    return Role(
        keys={Digest(each): keys[each] for each in tuf_role.keyids},
        threshold=tuf_role.threshold,
        retired={Digest(each): keys[each] for each in retired},
        patterns=tuple(getattr(tuf_role, "paths", None) or ()),
    )
