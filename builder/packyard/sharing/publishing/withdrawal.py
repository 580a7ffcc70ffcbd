"""Withdrawing what is published: a yanked version stays where it is, and is never chosen; a removed one goes for ever.

Versions are yanked by name, each with the reason why nobody should use it any more, and removed by a policy (`gc`), but
nothing that anybody has to find again: the latest version of a package stays, and so does what is in a release that is
not closed. For each version that goes, the record of its package says so and why, and then the files of its bundle are
removed: so what is listed is always there, and what was interrupted goes with the next run, whatever its policy. Shards
and records that the index does not name any more go, too, once they are so old that no reader is on the way to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packyard.core.bundle import reference
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, Problem, on_one_line, shown
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher, check_there
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.stores import as_registry, files_of
from packyard.sharing.stores.store import FOLDER, PROBES, Store, digest_in

_DAY = 24 * 3600.0  # seconds
_LONGEST = 500  # characters of a reason


def yank(store: Store, text: str, reason: str, by: Publisher = UNSIGNED) -> tuple[IndexEntry, bool]:
    """Yank ``NAME@VERSION``, and return its entry, and whether it was not yanked before.

    A reason stays: another one for the same version is a `ConflictError`.
    """
    if not reason.strip() or not reason.isprintable() or len(reason) > _LONGEST:
        hint = f"write why nobody should use it, in one line of at most {_LONGEST} characters"
        raise InputError(Problem(f"{shown(reason, quoted=True)} is not a reason", hint=hint))
    wanted = Reference.parse(text)
    if wanted.version is None:
        raise InputError(Problem(f"{text[:80]!r} does not say which version", hint=f"write {wanted.name}@VERSION"))
    before = check_there(by.current(store))
    old = before.named(wanted.name).get(wanted.version)

    def change(index: Index) -> Index:
        entry = index.named(old.name).get(old.version)
        if entry.yanked and entry.yanked != reason:
            raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="a reason never changes"))
        return index.put(replace(entry, yanked=reason))

    by.commit(store, change, before=before)
    return replace(old, yanked=reason), not old.yanked


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may go: yanked versions, pre-releases, and what is older than the newest ``keep``.

    The newest are those that are neither yanked nor pre-releases, unless there are pre-releases only.
    """

    keep: int = 0
    yanked: bool = False
    pre_releases: bool = False

    def named(self, package: Package) -> Iterator[tuple[IndexEntry, str]]:
        """Yield the versions of a package that may go, and why; without a reason, yanked ones that ``keep`` skips."""
        newest = sorted((listed.version for listed in package.entries if not listed.yanked), key=reference.newest)
        newest = [version for version in newest if _is_release(version)] or newest
        floor = newest[-self.keep] if 0 < self.keep <= len(newest) else ""
        for entry in package.entries:
            if (why := self._why(entry, floor)) or (self.keep and entry.yanked):
                yield entry, why

    def _why(self, entry: IndexEntry, floor: str) -> str:
        if self.yanked and entry.yanked:
            return f"it was yanked: {on_one_line(entry.yanked)}"
        if self.pre_releases and not _is_release(entry.version):
            return "it is a pre-release"
        if floor and reference.identity(entry.version) < reference.identity(floor):
            return f"it is older than the newest {self.keep}"
        return ""


def _is_release(version: str) -> bool:
    return reference.newest(version)[0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A version that a policy names: it is ``removed``, is ``kept``, or ``goes`` where nothing is done; and why."""

    entry: IndexEntry
    status: str
    reason: str


def gc(
    store: Store,
    policy: Policy,
    names: Sequence[str] = (),
    *,
    is_trial: bool = False,
    by: Publisher = UNSIGNED,
) -> list[Outcome]:
    """Remove what a policy names of some packages, or of all, and return what became of each version."""
    outcomes, removed = list[Outcome](), set[str]()

    def change(index: Index) -> Index:
        outcomes.clear()
        removed.clear()
        for package in map(index.named, names) if names else index.packages():
            removed.update(entry.key for entry in package.removed)
            for entry, why in policy.named(package):
                reason = _protected(index, package, entry) if why else "it is yanked, which --keep skips: add --yanked"
                state = "goes" if is_trial else "removed"
                outcomes.append(Outcome(entry, "kept" if reason else state, reason or why))
        outcomes.sort(key=lambda outcome: (outcome.entry.name, reference.order(outcome.entry.version)))
        going = [replace(outcome.entry, removed=outcome.reason) for outcome in outcomes if outcome.status != "kept"]
        removed.update(entry.key for entry in going)
        return index.put(*going)

    if is_trial:
        change(access.read(store, by.trusted, by.memory))
        return outcomes
    by.commit(store, change, before=check_there(by.current(store)))
    if not as_registry(store):  # which has removed them, and has no files of an index
        clear(store, removed)
        _sweep(store, by)
    return outcomes


def _protected(index: Index, package: Package, entry: IndexEntry) -> str:
    """Say why a version stays, or nothing."""
    if package.latest == entry:
        return "it is the latest version"
    return "" if index.release(entry.version).closed else "its release is open: publish --close closes one"


def clear(store: Store, bundles: set[str]) -> None:
    """Remove the files of bundles, each bundle first."""
    for key in sorted(files_of(store, bundles)):
        store.remove(key)


def _sweep(store: Store, by: Publisher) -> None:
    """Remove the shards and records that the index does not name, and that were written a day ago or before."""
    old = [key for key in store.list(FOLDER, age=_DAY) if digest_in(key) or key.startswith(PROBES)]
    named = set(by.current(store).files_below()) if old else set()
    for key in old:
        if key not in named:
            store.remove(key)
