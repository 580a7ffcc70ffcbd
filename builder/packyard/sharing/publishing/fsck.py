"""Checking a channel: each version that is listed has its file, its digest, and provenance that is about it.

    missing     it is listed, and is not there
    altered     it is there, and is not what is listed
    unproved    its provenance, or what that names, is not about it, or is not signed as it has to be
    unlisted    nothing lists it: a publish that was interrupted, what was removed, or no file of a channel

`repair` lists again what is sound. Shards and records that the index does not name are left to `gc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from packyard.core.bundle import record, reference
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.entry import CHECKSUM, SBOM, SIGSTORE, IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.index import KEY, Index, record_key, shard_key
from packyard.sharing.index.package import Package
from packyard.sharing.index.repositories import RegistryIndex
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.store import (
    FOLDER,
    NotFoundError,
    Store,
    TooLongError,
    digest_in,
    get_or_none,
)
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust

_BRING_BACK = "bring it back from a mirror or a backup, or yank the version"
_PUBLISH_AGAIN = "publish the package again, which writes it"
_LIST_AGAIN = "list again what is sound: packyard fsck CHANNEL --repair"
_REMOVE = "packyard fsck CHANNEL --repair lists it, if it is whole; with --remove, what is not is removed"
_FAULTS = (IntegrityError, InputError, TooLongError, NotFoundError)
_LINE = 4096  # bytes of a checksum file
_BUNDLE = re.compile(r"(?P<version>[^/]+)/(?P<name>[^/]+)\.tar\.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a file of a channel, and what to do; see the module for the kinds."""

    kind: str
    key: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class _Survey:
    """What was read of a channel: its packages as far as they can be, all keys, and what is wrong."""

    store: Store
    packages: dict[str, Package] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def of(cls, store: Store, index: Index) -> _Survey:
        """Read all shards and records of an index."""
        survey = cls(store, keys=frozenset(store.list("")))
        for name in index.names() if isinstance(index, RegistryIndex) else ():
            with survey.noting(name, _PUBLISH_AGAIN):
                survey.packages[name] = index.known(name)
        rows = list(index.listed.values())
        for prefix, digest in index.shards.items():
            with survey.noting(shard_key(digest), _LIST_AGAIN):
                rows += index.shard(prefix).values()
        for row in rows:
            with survey.noting(record_key(row.name, row.record), _LIST_AGAIN):
                survey.packages[row.name] = index.record(row)
        return survey

    @contextmanager
    def noting(self, key: str, hint: str, kind: str = "altered") -> Iterator[None]:
        """Note what is raised about a file, and go on."""
        try:
            yield
        except _FAULTS as error:
            kind = kind if key in self.keys else "missing"
            message = "; ".join(problem.message for problem in error.problems) if kind != "missing" else "it is listed"
            self.findings.append(Finding(kind=kind, key=key, message=message, hint=hint))

    def unlisted(self) -> Iterator[tuple[str, str]]:
        """Yield the keys that nothing lists, and what they are; a channel may have other files, such as its page."""
        listed = {entry.key: entry for package in self.packages.values() for entry in package.every}
        releases = {key.partition("/")[0] for key in listed}
        for key in sorted(self.keys):
            base = key.partition(".tar.gz")[0] + ".tar.gz"
            if key.startswith(FOLDER):
                if key != KEY and not digest_in(key):
                    yield key, "it is no file of an index"
            elif base in listed:
                if listed[base].removed:
                    yield key, "the version was removed"
            elif key.partition("/")[0] in releases or key.endswith(".tar.gz"):
                yield key, "nothing lists it"


def check(store: Store, trusted: Trust = NOBODY) -> Iterator[Finding]:
    """Yield what is wrong with a channel; nothing is changed."""
    try:
        index = access.find(store, trusted)
    except IntegrityError as error:
        yield Finding(kind="altered", key=KEY, message=str(error), hint=_LIST_AGAIN)
        return
    if index is None:
        yield Finding(kind="missing", key=KEY, message="the channel has no index", hint=_LIST_AGAIN)
        return
    survey = _Survey.of(store, index)
    vouched = trusted.optional() if index.signers else trusted
    for package in survey.packages.values():
        for entry in package.entries:
            _check_bundle(survey, entry, vouched)
    yield from survey.findings
    is_whole = all(digest_in(finding.key) is None for finding in survey.findings)
    for key, message in survey.unlisted() if is_whole else ():
        yield Finding(kind="unlisted", key=key, message=message, hint=_REMOVE)


def _check_bundle(survey: _Survey, entry: IndexEntry, trusted: Trust) -> None:
    """Compare what lies in a release with its entry."""
    store, line = survey.store, entry.beside(CHECKSUM)
    proof = next((key for end in provenance.ENDS if (key := entry.beside(end)) in survey.keys), entry.beside(SIGSTORE))
    with survey.noting(entry.key, _BRING_BACK):
        data = store.get(entry.key, limit=LIMITS.packed_size)
        entry.verify(data)
        made = IndexEntry.of(Bundle.open(data, what=entry.key))
        if not made.is_same_file(entry):
            raise IntegrityError(f"is the bundle {made}, its tar is {made.tar}, and the index lists {entry.tar}")
    with survey.noting(line, _PUBLISH_AGAIN):
        _check_checksum(store, entry)
    again = f"remove it, and publish the same sources again: packyard publish {entry.name} --version {entry.version}"
    again += " --to CHANNEL --key KEY"
    with survey.noting(proof, again, "unproved"):
        attested = provenance.check_beside(store, entry, trusted)
        expected = provenance.open(attested, trusted, file=proof)[0].sbom if attested else None
        if expected:
            with survey.noting(entry.beside(SBOM), again, "unproved"):
                expected.verify(store.get(entry.beside(SBOM), limit=provenance.LIMIT), what=entry.beside(SBOM))


def _check_checksum(store: Store, entry: IndexEntry) -> None:
    if store.get(entry.beside(CHECKSUM), limit=_LINE) != entry.checksum:
        raise IntegrityError(f"expected the line {entry.checksum.decode()!r}")


def repair(store: Store, by: Publisher = UNSIGNED, *, is_removing: bool = False) -> tuple[Index, list[str], list[str]]:
    """Let the index list all that is sound; return it, what is listed anew, and what was removed.

    Records that can be read stay as they are. Of those that are lost, what was yanked or removed is lost, too. Where
    the index itself is lost, the channel keeps its id if it is remembered here. ``is_removing``: what nothing lists
    then is removed. A registry has no index that could be lost.
    """
    if as_registry(store):
        hint = "publish again what is missing; packyard fsck CHANNEL says what that is"
        raise InputError(Problem("a registry has no index to repair", file=store.address, hint=hint))
    listed, by = list[IndexEntry](), replace(by, is_repairing=True)

    def change(index: Index) -> Index:
        survey = _Survey.of(store, index)
        for finding in survey.findings:
            if finding.kind == "altered":
                store.remove(finding.key)  # what has the name of a shard or a record must have its digest
        listed[:] = _sound(survey, by.own)
        packages = dict(survey.packages)
        for entry in listed:
            packages[entry.name] = packages.get(entry.name, Package(name=entry.name)).put(entry)
        if not packages:
            raise InputError(Problem("has no bundles and no index", file=store.address, hint="is this a channel?"))
        return replace(index, listed={}, shards={}, files={}).with_packages(packages.values())

    index = by.commit(store, change, before=_before(store, by))
    removed = []
    if is_removing:
        for key, _ in _Survey.of(store, index).unlisted():
            with suppress(InputError):  # a file of somebody else
                store.remove(key, is_published=not key.startswith(FOLDER))
                removed.append(key)
    return index, [str(entry) for entry in listed], removed


def _before(store: Store, by: Publisher) -> Index:
    """Return the index to go on from: what is there, or, where that cannot be read, what is remembered of it."""
    data = get_or_none(store, KEY, limit=record.LIMIT)
    with suppress(IntegrityError):
        if data is not None and Index.parse(data, store):
            return by.current(store)
    if data is not None:
        store.remove(KEY)
    remembered = by.memory.read(store, by.whom) if by.memory else None
    return by.checked(store, replace(remembered, data=b"")) if remembered else Index(store=store)


def _sound(survey: _Survey, trusted: Trust) -> Iterator[IndexEntry]:
    """Yield the bundles that no record lists, and that are whole, with checksum and provenance; note the others."""
    known = {entry.key for package in survey.packages.values() for entry in package.every}
    for key in sorted(survey.keys - known):
        match = _BUNDLE.fullmatch(key)
        if match is None or match["version"] == "index":
            continue
        with survey.noting(key, _PUBLISH_AGAIN):
            reference.check_name(match["name"])
            reference.check_version(match["version"])
            entry = IndexEntry.of(Bundle.open(survey.store.get(key, limit=LIMITS.packed_size), what=key))
            if entry.key != key:
                raise IntegrityError(f"is the bundle {entry}")
            _check_checksum(survey.store, entry)
            provenance.check_beside(survey.store, entry, trusted)
            yield entry
