"""Checking a channel: each version that is listed has its file, its digest, and provenance that is about it.

    missing     it is listed, and is not there
    altered     it is there, and is not what is listed
    unproved    its provenance, or what that names, is not about it, or is not signed as it has to be
    unlisted    nothing lists it: a publish that was interrupted, what was removed, or no file of a channel

`repair` lists again what is sound. Shards and records that the index does not name are left to `gc`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from packyard.core.bundle import record
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.entry import CHECKSUM, SBOM, SIGSTORE, IndexEntry
from packyard.sharing.fetching.fetch import opened
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.index import KEY, Index, record_key, shard_key
from packyard.sharing.index.package import Package
from packyard.sharing.index.repositories import RegistryIndex
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.store import FOLDER, NotFoundError, Store, TooLongError, digest_in
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust

_PUBLISH_AGAIN = "publish the package again, which writes it"
_LIST_AGAIN = "list again what is sound: packyard fsck CHANNEL --repair"
_REMOVE = "packyard fsck CHANNEL --repair lists it, if it is whole; with --remove, what is not is removed"
_OF_BUNDLE = re.compile(r"[^/]+/[^/]+\.tar\.gz(\.[^/]+)?")
_LINE = 4096  # bytes of a checksum file


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a file of a channel, and what to do; see the module for the kinds."""

    kind: str
    key: str
    message: str
    hint: str


class _Survey:
    """What was read of a channel: its packages as far as they can be, all keys, and what is wrong."""

    def __init__(self, store: Store) -> None:
        self.store, self.keys = store, frozenset(store.list(""))
        self.packages: dict[str, Package] = {}
        self.findings: list[Finding] = []

    def read(self, index: Index) -> "_Survey":
        """Read all shards and records of an index."""
        for name in index.names() if isinstance(index, RegistryIndex) else ():
            with self.noting(name, _PUBLISH_AGAIN):
                self.packages[name] = index.known(name)
        rows = list(index.listed.values())
        for prefix, digest in index.shards.items():
            with self.noting(shard_key(digest), _LIST_AGAIN):
                rows += index.shard(prefix).values()
        for row in rows:
            with self.noting(record_key(row.name, row.record), _LIST_AGAIN):
                self.packages[row.name] = index.record(row)
        return self

    @contextmanager
    def noting(self, key: str, hint: str, kind: str = "altered") -> Iterator[None]:
        """Note what is raised about a file, and go on."""
        try:
            yield
        except (IntegrityError, TooLongError, NotFoundError) as error:
            kind = kind if key in self.keys else "missing"
            message = "; ".join(problem.message for problem in error.problems)
            message = "it is listed, and not there" if kind == "missing" and key != KEY else message
            self.findings.append(Finding(kind=kind, key=key, message=message, hint=hint))

    def unlisted(self) -> Iterator[str]:
        """Yield the keys that nothing lists; a channel may have other files, such as its page."""
        every = [entry for package in self.packages.values() for entry in package.every]
        listed = {entry.key for entry in every if not entry.removed}
        releases = {entry.version for entry in every}
        for key in sorted(self.keys):
            bundle = key.partition(".tar.gz")[0] + ".tar.gz"
            is_in_release = key.partition("/")[0] in releases or key.endswith(".tar.gz")
            is_of_index = key == KEY or digest_in(key)
            if not is_of_index if key.startswith(FOLDER) else is_in_release and bundle not in listed:
                yield key


def check(store: Store, trusted: Trust = NOBODY) -> Iterator[Finding]:
    """Yield what is wrong with a channel; nothing is changed."""
    survey = _Survey(store)
    with survey.noting(KEY, _LIST_AGAIN):
        index = access.read(store, trusted)
        survey.read(index)
        trusted = trusted.optional() if index.signers else trusted
    for package in survey.packages.values():
        for entry in package.entries:
            _check_bundle(survey, entry, trusted)
    yield from survey.findings
    if not any(finding.key.startswith(FOLDER) for finding in survey.findings):
        for key in survey.unlisted():
            yield Finding(kind="unlisted", key=key, message="nothing lists it", hint=_REMOVE)


def _check_bundle(survey: "_Survey", entry: IndexEntry, trusted: Trust) -> None:
    """Compare what lies in a release with its entry."""
    store, publish = survey.store, f"packyard publish {entry.name} --version {entry.version} --to CHANNEL"
    again = f"remove what is there, and publish the same sources again: {publish}"
    yank = f"packyard yank {entry} --reason TEXT --from CHANNEL"
    with survey.noting(entry.key, f"bring it back from a backup, or by packyard copy once it is removed; or: {yank}"):
        data = store.get(entry.key, limit=LIMITS.packed_size)
        entry.digest.verify(data, what=entry.key)
        opened(entry, data)
    with survey.noting(entry.beside(CHECKSUM), again):
        if not as_registry(store):
            _check_checksum(store, entry)
    proof = next((key for end in provenance.ENDS if (key := entry.beside(end)) in survey.keys), entry.beside(SIGSTORE))
    with survey.noting(proof, again, "unproved"):
        stated = provenance.check_beside(store, entry, trusted)
        if stated is None and entry.beside(SBOM) in survey.keys and not as_registry(store):  # before it is listed
            raise IntegrityError("nothing says what it was built from")
        if stated and stated.sbom:
            with survey.noting(entry.beside(SBOM), again, "unproved"):
                stated.sbom.verify(store.get(entry.beside(SBOM), limit=provenance.LIMIT), what=entry.beside(SBOM))


def _check_checksum(store: Store, entry: IndexEntry) -> None:
    if store.get(entry.beside(CHECKSUM), limit=_LINE) != entry.checksum:
        raise IntegrityError(f"expected the line {entry.checksum.decode()!r}")


def repair(store: Store, by: Publisher = UNSIGNED, *, is_removing: bool = False) -> tuple[Index, list[str], list[str]]:
    """Let the index list all that is sound; return it, what is listed anew, and what was removed.

    What records say that can be read stays. Of those that are lost, what was yanked or removed is lost, too. Where the
    index itself is lost, the channel keeps its id if it is remembered here. ``is_removing``: what nothing lists
    then is removed. A registry has no index that could be lost.
    """
    if as_registry(store):
        hint = "publish again what is missing; packyard fsck CHANNEL says what that is"
        raise InputError(Problem("a registry has no index to repair", file=store.address, hint=hint))
    listed, by = list[IndexEntry](), replace(by, is_repairing=True)

    def change(index: Index) -> Index:
        survey = _Survey(store).read(index)
        for finding in survey.findings:
            if finding.kind == "altered":
                store.remove(finding.key)  # what has the name of a shard or a record must have its digest
        listed[:] = _sound(survey, by.own)
        packages = dict(survey.packages)
        for entry in listed:
            packages[entry.name] = packages.get(entry.name, Package(name=entry.name)).put(entry)
        for name in packages.keys() - survey.packages.keys():
            packages[name] = _as_recorded(survey, packages[name])
        if not packages:
            raise InputError(Problem("has no bundles and no index", file=store.address, hint="is this a channel?"))
        repaired = replace(index, listed={}, shards={}, files={}).with_packages(packages.values())
        return index if index.data and index == repaired and not survey.findings else repaired

    index = by.commit(store, change, before=_before(store, by))
    removed = []
    for key in _Survey(store).read(index).unlisted() if is_removing else ():
        if key.startswith(FOLDER) or _OF_BUNDLE.fullmatch(key):  # else it is somebody else's
            store.remove(key)
            removed.append(key)
    return index, [str(entry) for entry in listed], removed


def _as_recorded(survey: "_Survey", package: Package) -> Package:
    """Return a package that no index lists with what its records say: which versions are yanked, and which are gone."""
    for key in sorted(key for key in survey.keys if key.startswith(f"{FOLDER}p/{package.name}/")):
        digest = digest_in(key)
        if digest is None:
            continue
        with suppress(IntegrityError, TooLongError, NotFoundError):
            for entry in Package.parse(survey.store.get(key, limit=record.LIMIT), digest, file=key).every:
                recorded = package.versions.get(entry.version)
                if recorded is None and entry.removed:
                    package = package.put(entry)
                elif recorded and entry.yanked and recorded.is_same_file(entry):
                    package = package.put(replace(recorded, yanked=entry.yanked))
    return package


def _before(store: Store, by: Publisher) -> Index:
    """Return the index to go on from: what is there, or, where that cannot be read, what is remembered of it."""
    with suppress(IntegrityError):
        return by.current(store)
    store.remove(KEY)
    remembered = by.memory.read(store, by.whom) if by.memory else None
    return by.checked(store, replace(remembered, data=b"")) if remembered else Index(store=store)


def _sound(survey: "_Survey", trusted: Trust) -> Iterator[IndexEntry]:
    """Yield the bundles that no record lists, and that are whole, with checksum and provenance; note the others."""
    known = {entry.key for package in survey.packages.values() for entry in package.every}
    for key in sorted(survey.keys - known):
        if key.startswith(FOLDER) or not key.endswith(".tar.gz"):
            continue
        with survey.noting(key, _PUBLISH_AGAIN):
            entry = IndexEntry.of(Bundle.open(survey.store.get(key, limit=LIMITS.packed_size), what=key))
            if entry.key != key:
                raise IntegrityError(f"is the bundle {entry}")
            _check_checksum(survey.store, entry)
            provenance.check_beside(survey.store, entry, trusted)
            yield entry
