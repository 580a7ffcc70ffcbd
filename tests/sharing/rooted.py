"""Channels with a root, and attacks on them: `CASES` names each, and builds it in a store.

`tests/cases/trust/` has the same channels as files, for other implementations to be judged by; `write` makes them.
Everything is signed by keys that anybody can make, at a time that stands still.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from packyard.sharing.index.head import Head

from packyard.core.bundle import record
from packyard.core.digest import Digest
from packyard.sharing.entry import PROVENANCE, bundle_key
from packyard.sharing.index import head
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import envelope, provenance, root
from packyard.sharing.trust.keys import Role, SigningKey, Trust
from packyard.sharing.trust.provenance import Provenance
from packyard.sharing.trust.root import Revoked, Root
from sharing.examples import bundle

CHANNEL, OTHER_CHANNEL = "0" * 32, "1" * 32
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
TIME = "%Y-%m-%dT%H:%M:%SZ"
NAMES = ("alice", "bob", "carol", "dave", "erin", "ci", "ci-2", "oncall", "team-a", "thief")


def key(name: str) -> SigningKey:
    """Return the key of a name."""
    return SigningKey.of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


KEYS = {name: key(name) for name in NAMES}


def role(*names: str, threshold: int = 1, retired: Sequence[str] = ()) -> Role:
    """Return a role of these keys."""
    public = {name: KEYS[name].public for name in (*names, *retired)}
    keys, old = ({public[name].id: public[name] for name in each} for each in (names, retired))
    return Role(keys=keys, threshold=threshold, retired=old)


OWNERS = role("alice", "bob", "carol", threshold=2)
CI, ONCALL = role("ci"), role("oncall")


def made(
    version: int = 1,
    *signers: str,
    owners: Role = OWNERS,
    heads: Role = CI,
    revocation: Role | None = ONCALL,
    packages: Mapping[str, Role] | None = None,
    days: int = 0,
    expires: datetime = NOW + timedelta(days=365),
    channel: str = CHANNEL,
) -> Root:
    """Return a root that these have signed, by default alice and bob."""
    roles = {"root": owners, "heads": heads, **({"revocation": revocation} if revocation else {})}
    found = root.make(roles, channel=channel, packages=packages or {}, version=version, expires=expires, head_days=days)
    for name in signers or ("alice", "bob"):
        found.sign(KEYS[name])
    return found


def put(store: Store, *roots: Root) -> Root:
    """Publish roots, and return the first."""
    for each in roots:
        store.put(root.key(each.version), each.to_bytes())
    return roots[0]


def add(store: Store, *signers: str, **changes: Any) -> Head:
    """Create the next head, signed by these keys."""
    numbers = [int(Path(each).stem) for each in store.list(head.FOLDER)]
    before = head.read(store, max(numbers)) if numbers else Head()
    fields: dict[str, Any] = {
        "number": before.number + 1,
        "history": before.next_history(),
        "channel": CHANNEL,
        **changes,
    }
    return head.create(store, Head(**fields), [KEYS[name] for name in signers])


def add_bytes(store: Store, data: bytes) -> None:
    """Create the first head, whatever it is."""
    store.put(head.key(1), data)
    store.swap(head.POINTER, data, None)


def signed_twice() -> bytes:
    """Return a first head with two signatures by one key."""
    return envelope.sign(Head(number=1, channel=CHANNEL).payload(), head.TYPE, [KEYS["ci"], KEYS["ci"]])


def revoke(
    store: Store, *names: str, by: Sequence[str] = ("oncall",), version: int = 1, channel: str = CHANNEL
) -> None:
    """Write a record of what is revoked."""
    said = Revoked(channel=channel, version=version, revoked=tuple(sorted(KEYS[name].public.id for name in names)))
    document = {"apiVersion": record.API_VERSION, "kind": "Revoked", **record.document(said)}
    data = envelope.sign(
        record.to_bytes(document), "application/vnd.packyard.revoked+json", [KEYS[name] for name in by]
    )
    store.put(f"{root.REVOKED}{version}.json", data)


def attest(store: Store, name: str, *signers: str) -> None:
    """Put the provenance of a package into a channel."""
    made_of = Provenance.of(bundle(name), {}, None, libraries={"PyYAML": "6.0"})
    made_of = replace(made_of, packyard="1.0.0")
    store.put(bundle_key(name, "1.0", PROVENANCE), made_of.to_bytes([KEYS[each] for each in signers]))


def trusted(store: Store, pinned: Root, now: datetime = NOW) -> Trust:
    """Return whom a user with that root trusts then."""
    return root.resolve(root.follow(pinned, store), store, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a channel is judged to be: the head that counts, or the words of a refusal; for a package, too, if any."""

    pinned: Root
    says: str = ""
    head: int = 1
    now: datetime = NOW
    package: str = ""


def judged(store: Store, case: Case) -> Head:
    """Read a channel as a new user does, who has the root of a case; or raise what is wrong."""
    trust = trusted(store, case.pinned, case.now)
    found = head.latest(store, trust)
    assert found
    if case.package:
        provenance.check_beside(store, bundle(case.package), trust.optional())
    return found


CASES: dict[str, Callable[[Store], Case]] = {}


def case(build: Callable[[Store], Case]) -> Callable[[Store], Case]:
    """Take a case by the name of what builds it."""
    CASES[build.__name__.strip("_").replace("_", "-")] = build
    return build


@case
def a_head_by_the_key_of_the_root(store: Store) -> Case:
    pinned = put(store, made())
    add(store, "ci")
    return Case(pinned=pinned)


@case
def one_stolen_key_of_two_signs_a_root_alone(store: Store) -> Case:
    pinned = put(store, made(), made(2, "alice", heads=role("thief")))
    add(store, "thief")
    return Case(pinned=pinned, says="is signed by 1 of 2 root keys")


@case
def one_stolen_key_of_two_signs_a_root_twice(store: Store) -> Case:
    forged = made(2, "alice", heads=role("thief"))
    document = json.loads(forged.to_bytes())
    document["signatures"] += document["signatures"]
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is not the root of a channel")


@case
def a_key_under_two_ids_counts_twice(store: Store) -> Case:
    document = json.loads(made(2, "alice").to_bytes())
    signed = document["signed"]
    other = "sha256:" + "0" * 64
    signed["keys"][other] = signed["keys"][KEYS["alice"].public.id]
    signed["roles"]["root"]["keyids"].append(other)
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is under another id")


@case
def one_stolen_head_key_revokes_the_honest_one(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    add(store, "ci")
    add(store, "ci-2", revoked=(KEYS["ci"].public.id,))
    return Case(pinned=pinned, says="revokes .*, which the keys that the root has for that have not")


@case
def one_stolen_head_key_revokes_by_a_record(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    revoke(store, "ci", by=("ci-2",))
    add(store, "ci")
    return Case(pinned=pinned)


@case
def a_revocation_by_the_role_for_it(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    add(store, "ci")
    revoke(store, "ci")
    return Case(pinned=pinned, says="is revoked")


@case
def a_head_by_another_key_after_a_revocation(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    add(store, "ci")
    revoke(store, "ci")
    add(store, "ci-2", revoked=(KEYS["ci"].public.id,))
    return Case(pinned=pinned, head=2)


@case
def a_revocation_whose_record_was_removed(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    add(store, "ci-2", revoked=(KEYS["ci"].public.id,))
    return Case(pinned=pinned, says="which the keys that the root has for that have not")


@case
def a_revocation_taken_back_by_a_later_head(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", "dave")))
    revoke(store, "thief", "dave")
    add(store, "ci")
    add(store, "ci-2", revoked=(KEYS["dave"].public.id,))
    add(store, "ci", revoked=())
    return Case(pinned=pinned, says="revokes no longer what it revoked before")


@case
def a_revocation_of_another_channel(store: Store) -> Case:
    pinned = put(store, made())
    revoke(store, "ci", channel=OTHER_CHANNEL)
    add(store, "ci")
    return Case(pinned=pinned)


@case
def a_revocation_replayed_under_a_later_number(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    revoke(store, "thief")
    store.put(f"{root.REVOKED}2.json", store.get(f"{root.REVOKED}1.json"))
    revoke(store, "thief", "ci", version=3)
    add(store, "ci")
    return Case(pinned=pinned, says="is revoked")


@case
def fewer_signatures_of_heads_than_the_threshold(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", threshold=2)))
    add(store, "ci")
    return Case(pinned=pinned, says="is signed by 1 of the 2 keys that have to sign it")


@case
def as_many_signatures_of_heads_as_the_threshold(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", threshold=2)))
    add(store, "ci", "ci-2")
    return Case(pinned=pinned)


@case
def a_threshold_met_by_a_stranger(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", threshold=2)))
    add(store, "ci", "thief")
    return Case(pinned=pinned, says="is signed by 1 of the 2 keys that have to sign it")


@case
def a_threshold_met_by_a_revoked_key(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", "dave", threshold=2)))
    revoke(store, "dave")
    add(store, "ci", "dave")
    return Case(pinned=pinned, says="is signed by 1 of the 2 keys that have to sign it")


@case
def a_head_that_one_key_signed_twice(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", threshold=2)))
    add_bytes(store, signed_twice())
    return Case(pinned=pinned, says="signatures, each by another key")


@case
def a_signature_under_the_id_of_another_key(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2", threshold=2)))
    own, other = (KEYS[name].public.id.encode() for name in ("ci", "ci-2"))
    add_bytes(store, other.join(signed_twice().rpartition(own)[::2]))
    return Case(pinned=pinned, says="the signature of .* is wrong")


@case
def a_revocation_in_place_of_a_head(store: Store) -> Case:
    pinned = put(store, made(heads=ONCALL))
    revoke(store, "thief")
    add_bytes(store, store.get(f"{root.REVOKED}1.json"))
    return Case(pinned=pinned, says="must hold application/vnd.packyard.index-head")


@case
def a_head_far_ahead_of_the_others(store: Store) -> Case:
    pinned = put(store, made(heads=role("ci", "ci-2")))
    add(store, "ci")
    add(store, "ci-2", number=64, history={each: Digest.of(b"") for each in head.links(64)})
    return Case(pinned=pinned, says="63.json: is missing, and a later head links to it")


@case
def a_head_that_nobody_signed(store: Store) -> Case:
    pinned = put(store, made())
    add(store)
    return Case(pinned=pinned, says="is not signed")


@case
def a_head_by_a_root_key(store: Store) -> Case:
    pinned = put(store, made())
    add(store, "alice", "bob")
    return Case(pinned=pinned, says="does not have it|which you do not trust")


@case
def a_client_that_slept_from_root_1_to_5(store: Store) -> Case:
    owners = [OWNERS, role("bob", "carol", "dave", threshold=2), role("carol", "dave", "erin", threshold=2)]
    pinned = put(
        store,
        made(1, expires=NOW - timedelta(days=300)),
        made(2, "bob", "carol", owners=owners[1], expires=NOW - timedelta(days=200)),
        made(3, "carol", "dave", owners=owners[2], expires=NOW - timedelta(days=100)),
        made(4, "dave", "erin", owners=owners[2], expires=NOW - timedelta(days=1)),
        made(5, "carol", "erin", owners=owners[2], heads=role("ci-2", retired=("ci",))),
    )
    add(store, "ci-2")
    return Case(pinned=pinned)


@case
def a_root_is_skipped(store: Store) -> Case:
    pinned = made()
    store.put(root.key(2), made(3).to_bytes())
    add(store, "ci")
    return Case(pinned=pinned, says="must be version 2 of the root")


@case
def an_older_root_under_the_next_number(store: Store) -> Case:
    pinned = put(store, made())
    store.put(root.key(2), pinned.to_bytes())
    add(store, "ci")
    return Case(pinned=pinned, says="must be version 2 of the root")


@case
def a_root_that_the_old_keys_did_not_sign(store: Store) -> Case:
    pinned = put(store, made(), made(2, "dave", "erin", owners=role("dave", "erin", threshold=2)))
    add(store, "ci")
    return Case(pinned=pinned, says="is signed by 0 of 2 root keys of version 1")


@case
def a_root_that_its_own_keys_did_not_sign(store: Store) -> Case:
    pinned = put(store, made(), made(2, "alice", "bob", owners=role("dave", "erin", threshold=2)))
    add(store, "ci")
    return Case(pinned=pinned, says="is signed by 0 of 2 root keys of version 2")


@case
def a_root_that_was_altered(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"]["x-packyard"]["headsExpireDays"] = 3000
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is signed by 0 of 2 root keys")


@case
def a_root_of_another_channel_by_the_same_keys(store: Store) -> Case:
    pinned = put(store, made(), made(2, channel=OTHER_CHANNEL))
    add(store, "ci")
    return Case(pinned=pinned, says="must be version 2 of the root of channel 0000")


@case
def a_mix_of_channels_with_the_same_keys_at_first_sight(store: Store) -> Case:
    pinned = put(store, made())
    add(store, "ci", channel=OTHER_CHANNEL)
    return Case(pinned=pinned, says="is of the channel 1111.*, and the root is of 0000")


@case
def a_head_without_an_id(store: Store) -> Case:
    pinned = put(store, made())
    add(store, "ci", channel="")
    return Case(pinned=pinned, says="is of the channel without an id")


@case
def a_root_that_has_expired(store: Store) -> Case:
    pinned = put(store, made(expires=NOW))
    add(store, "ci")
    return Case(pinned=pinned, says="has expired on 2026-11-26")


@case
def a_freeze_with_expiry(store: Store) -> Case:
    pinned = put(store, made(days=30))
    add(store, "ci", expires=NOW.strftime(TIME))
    return Case(pinned=pinned, says="has expired at 2026-11-26T12:00:00Z")


@case
def a_head_that_has_not_expired(store: Store) -> Case:
    pinned = put(store, made(days=30))
    add(store, "ci", expires=(NOW + timedelta(days=30)).strftime(TIME))
    return Case(pinned=pinned)


@case
def a_head_that_does_not_say_when_it_expires(store: Store) -> Case:
    pinned = put(store, made(days=30))
    add(store, "ci")
    return Case(pinned=pinned, says="must say when it expires")


@case
def a_head_that_expires_in_a_hundred_years(store: Store) -> Case:
    pinned = put(store, made(days=30))
    add(store, "ci", expires="2126-11-26T12:00:00Z")
    return Case(pinned=pinned, says="expires too late")


@case
def an_old_head_where_heads_never_expire(store: Store) -> Case:
    pinned = put(store, made())
    add(store, "ci", expires="2001-01-01T00:00:00Z")
    return Case(pinned=pinned)


@case
def the_key_that_was_rotated_out_signs_a_head(store: Store) -> Case:
    pinned = put(store, made(), made(2, heads=role("ci-2", retired=("ci",))))
    add(store, "ci")
    return Case(pinned=pinned, says="which you do not trust")


@case
def a_package_of_a_team_by_its_key(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    attest(store, "team-a-bert", "team-a")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert")


@case
def a_package_of_a_team_by_the_key_of_heads(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    attest(store, "team-a-bert", "ci")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert", says="which you do not trust")


@case
def a_package_of_a_team_that_nobody_signed(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    attest(store, "team-a-bert")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert", says="is not signed")


@case
def a_package_of_a_team_without_provenance(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert", says="is missing: nothing proves where the bundle is from")


@case
def a_package_of_a_team_by_its_retired_key(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("dave", retired=("team-a",))}))
    attest(store, "team-a-bert", "team-a")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert")


@case
def a_package_of_a_team_by_the_key_of_another_team(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a"), "team-b-*": role("dave")}))
    attest(store, "team-a-bert", "dave")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert", says="which you do not trust")


@case
def a_package_of_a_team_behind_a_wider_pattern(store: Store) -> Case:
    pinned = put(store, made(packages={"*": role("dave"), "team-a-*": role("team-a")}))
    attest(store, "team-a-bert", "team-a")
    add(store, "ci")
    return Case(pinned=pinned, package="team-a-bert", says="which you do not trust")


@case
def a_team_signs_a_head(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    add(store, "team-a")
    return Case(pinned=pinned, says="which you do not trust")


@case
def a_package_of_nobody_where_a_team_has_others(store: Store) -> Case:
    pinned = put(store, made(packages={"team-a-*": role("team-a")}))
    attest(store, "bert")
    add(store, "ci")
    return Case(pinned=pinned, package="bert")


@case
def a_root_that_is_no_json(store: Store) -> Case:
    pinned = put(store, made())
    store.put(root.key(2), b"{" * 100_000)
    return Case(pinned=pinned, says="cannot be read as JSON")


@case
def a_root_that_is_a_timestamp(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"] = {
        "_type": "timestamp", "spec_version": "1.0.31", "version": 2, "expires": "2100-01-01T00:00:00Z",
        "meta": {"snapshot.json": {"version": 1}},
    }  # fmt: skip
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="must be the metadata of a root")


@case
def a_root_with_a_threshold_of_zero(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"]["roles"]["timestamp"]["threshold"] = 0
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="threshold")


@case
def a_root_with_a_key_of_another_scheme(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    for each in document["signed"]["keys"].values():
        each["scheme"] = "none"
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="Unsupported public key")


@case
def a_root_with_a_key_of_another_type(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    for each in document["signed"]["keys"].values():
        each["keytype"] = "rsa"
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is not the root of a channel")


@case
def a_role_that_names_a_key_twice(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"]["roles"]["root"]["keyids"] = [KEYS["alice"].public.id] * 2
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is not the root of a channel")


@case
def a_role_of_a_key_that_is_not_there(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"]["roles"]["timestamp"]["keyids"] = [KEYS["thief"].public.id]
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is not the root of a channel")


@case
def a_root_of_another_specification(store: Store) -> Case:
    document = json.loads(made(2).to_bytes())
    document["signed"]["spec_version"] = "2.0.0"
    pinned = put(store, made())
    store.put(root.key(2), record.to_bytes(document))
    return Case(pinned=pinned, says="is not the root of a channel")


def _package(name: str) -> dict[str, str]:
    return {"package": name, "version": "1.0", "digest": str(bundle(name).digest)}


def write(folder: Path) -> Iterator[Path]:
    """Write all cases as files, and yield their folders."""
    for name, build in CASES.items():
        store = DirectoryStore(folder / name / "channel")
        found = build(store)
        document = {
            "now": found.now.strftime(TIME),
            "accepts": not found.says,
            **({"why": found.says} if found.says else {"head": found.head}),
            **(_package(found.package) if found.package else {}),
        }
        if not found.says:
            document["signers"] = list(judged(store, found).signers)
        (folder / name / "pinned.root.json").write_bytes(found.pinned.to_bytes())
        (folder / name / "case.json").write_text(json.dumps(document, indent=2) + "\n")
        yield folder / name


if __name__ == "__main__":
    cases = Path(__file__).parents[1] / "cases" / "trust"
    shutil.rmtree(cases)
    for each in write(cases):
        print(each.name)
