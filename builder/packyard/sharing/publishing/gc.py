"""Retention: removing the versions that a policy names, for ever.

What a lock pins, what is in a release that is not closed, and the version that users get without naming one stay. First
a signed record says of each version who removes it, and why; then a head lists it no more, and says so; then its
objects go, the bundle first. A run that was interrupted is completed by the next one, whatever its policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.bundle import reference
from packyard.core.bundle.lock import Lock
from packyard.core.errors import IntegrityError, Problem, on_one_line
from packyard.sharing.entry import IndexEntry, bundle_key
from packyard.sharing.index import access, removed
from packyard.sharing.index.access import UNSIGNED, Publisher, Writer
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.index.removed import Removed
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import SigningKey, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may go: yanked versions, pre-releases, what is older than a version, or than the newest ``keep``.

    The newest are those that are neither yanked nor pre-releases, unless there are pre-releases only.
    """

    keep: int = 0
    older_than: str = ""
    yanked: bool = False
    pre_releases: bool = False

    def named(self, package: Package) -> Iterator[tuple[IndexEntry, str]]:
        """Yield the versions of a package that may go, and why."""
        newest = sorted((each.version for each in package.entries if not each.yanked), key=reference.newest)
        newest = [each for each in newest if _is_release(each)] or newest
        floor = newest[-self.keep] if 0 < self.keep <= len(newest) else ""
        for entry in package.entries:
            if why := self._why(entry, floor):
                yield entry, why

    def _why(self, entry: IndexEntry, floor: str) -> str:
        if self.yanked and entry.yanked:
            return f"it was yanked: {on_one_line(entry.yanked)}"
        if self.pre_releases and not _is_release(entry.version):
            return "it is a pre-release"
        if self.older_than and _is_older(entry.version, self.older_than):
            return f"it is older than {self.older_than}"
        if floor and _is_older(entry.version, floor):
            return f"it is older than the newest {self.keep}"
        return ""


def _is_release(version: str) -> bool:
    return reference.newest(version)[0]


def _is_older(version: str, than: str) -> bool:
    return reference.identity(version) < reference.identity(than)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A version that a policy names: it is ``removed``, is ``kept``, or ``goes`` where nothing is done; and why."""

    name: str
    version: str
    tar: str
    status: str
    reason: str


def gc(
    store: Store,
    policy: Policy,
    names: Sequence[str] = (),
    *,
    locks: Mapping[str, Lock] | None = None,
    is_trial: bool = False,
    by: Publisher = UNSIGNED,
) -> tuple[list[Outcome], bool]:
    """Remove what a policy names of some packages, or of all; ``locks`` are those whose pins stay, by their files.

    Return what became of each version, and whether the store keeps bytes of it: a registry may delete nothing.
    """
    locks = locks or {}
    if is_trial:
        index = access.read(store, by.trusted, by.memory)
        plan = _Plan.of(store, index, policy, names, locks, by.trusted)
        return _sorted([*plan.kept, *(_outcome(each, "goes") for each in plan.going(index, ()))]), False
    with access.writer(store, by, alone=True) as writer:
        before = writer.current()
        plan = _Plan.of(writer.store, before, policy, names, locks, writer.by.trusted)
        gone = list(plan.going(before, by.keys))
        for removal in (*gone, *plan.lost):
            if removal.key not in plan.there:
                writer.check()
                writer.store.put(removal.key, removed.KIND.to_bytes(removal, by.keys))
        writer.commit(lambda index: index.remove(gone))
        is_gone = _clear(writer, {bundle_key(each.name, each.version) for each in (*gone, *plan.before)})
    return _sorted([*plan.kept, *(_outcome(each, "removed") for each in gone)]), not is_gone


def _clear(writer: Writer, bundles: set[str]) -> bool:
    """Remove the objects of bundles, each bundle first; return whether all bytes are gone."""
    is_gone = True
    for key in sorted(writer.store.list("")):
        base, dot, _ = key.partition(".tar.gz")
        if dot and f"{base}{dot}" in bundles:
            writer.check()  # another writer may have taken the lease from us
            is_gone &= writer.store.remove(key, is_published=True)
    return is_gone


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What a policy names, and why: what goes, what is kept; what was removed ``before``, without record ``lost``.

    ``there`` are the keys of records, ``begun`` those that an interrupted run wrote of what the index lists still.
    """

    goes: Sequence[tuple[IndexEntry, str]]
    kept: Sequence[Outcome]
    before: Sequence[Removed]
    there: frozenset[str]
    begun: Mapping[str, Removed]

    @classmethod
    def of(
        cls, store: Store, index: Index, policy: Policy, names: Sequence[str], locks: Mapping[str, Lock], trusted: Trust
    ) -> _Plan:
        """Look at packages; what an interrupted run said to be removed goes, too."""
        there = frozenset(store.list(removed.FOLDER))
        unsaid = there and there.difference(each.key for package in index.packages() for each in package.removed)
        records = removed.find(store, index.head.channel, trusted, unsaid)
        goes, kept, before = list[tuple[IndexEntry, str]](), list[Outcome](), list[Removed]()
        for package in map(index.named, names) if names else index.packages():
            before += package.removed
            begun = {each.version: r.reason for each in package.entries if (r := _begun(records, each))}
            named = {each.version: why for each, why in policy.named(package)} | begun
            for entry in (each for each in package.entries if each.version in named):
                if why := _protected(index, package, entry, locks):
                    kept.append(Outcome(**_of(entry), status="kept", reason=why))
                else:
                    goes.append((entry, named[entry.version]))
        begun_by_key = {each.key: each for each in records.values()}
        return cls(goes=goes, kept=kept, before=before, there=there, begun=begun_by_key)

    @property
    def lost(self) -> Iterator[Removed]:
        """What the index says was removed, and has no record any more."""
        return (each for each in self.before if each.key not in self.there)

    def going(self, index: Index, keys: Sequence[SigningKey]) -> Iterator[Removed]:
        """Yield what is said of each version that goes; what was said before stays."""
        for entry, why in self.goes:
            removal = Removed.of(entry, why, keys, index.head.channel)
            yield self.begun.get(removal.key, removal)


def _begun(records: Mapping[tuple[str, str], Removed], entry: IndexEntry) -> Removed | None:
    removal = records.get((entry.name, entry.version))
    if removal and removal.tar != entry.tar:
        raise IntegrityError(Problem(f"is about another tar than {entry}, which is {entry.tar}", file=removal.key))
    return removal


def _protected(index: Index, package: Package, entry: IndexEntry, locks: Mapping[str, Lock]) -> str:
    """Return why a version stays, or nothing."""
    for file, lock in locks.items():
        pin = lock.packages.get(entry.name)
        if pin and (reference.same(pin.version, entry.version) or pin.tar == entry.tar):
            return f"{file} pins it"
    if package.latest == entry:
        return "it is the latest version"
    release = index.released(entry.version)
    return "" if release.closed else f"the release {release.spelling} is open"


def _of(item: IndexEntry | Removed) -> dict[str, str]:
    return {"name": item.name, "version": item.version, "tar": item.tar}


def _outcome(gone: Removed, status: str) -> Outcome:
    return Outcome(**_of(gone), status=status, reason=gone.reason)


def _sorted(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return sorted(outcomes, key=lambda each: (each.name, reference.order(each.version)))
