"""Publishing: which objects a bundle becomes, and the order in which they are written.

A new channel first gets an empty head. Then come the objects of all bundles, a pending record that names them, and at
last the nodes and the head that list them: whatever a head lists exists. What an interrupted publish left is not
listed; the next publisher lists it if it is complete, and publishing the same bundles again completes it.
Everything is checked before the first write; only a second publisher at the same time can cause a later refusal.

    <version>/<name>.tar.gz                the bundle
    <version>/<name>.tar.gz.sha256         its checksum, for ``sha256sum -c``
    <version>/<name>.tar.gz.….json         what is known of it: its provenance, its SBOM
    index/…                                see ``pending``, ``nodes`` and ``head``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from packyard.bundle import archive, reference
from packyard.bundle.bundle import Bundle
from packyard.channel import checksum, index, lease, pending
from packyard.channel.entry import IndexEntry
from packyard.channel.head import POINTER
from packyard.channel.index import Index
from packyard.channel.keys import NOBODY, SigningKey, Trust
from packyard.channel.stores import MissingStoreError, Store
from packyard.digest import Digest
from packyard.errors import ConflictError, IntegrityError, Problem, on_one_line
from packyard.files import regular

#: It was not there; an earlier publish had been interrupted; it was there already.
Status = Literal["published", "completed", "unchanged"]
#: Returns what is known of a bundle and the file that is published: the ends of keys, such as ``.intoto.json``, with
#: the objects, in the order in which they are written.
Attest = Callable[[Bundle, IndexEntry], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """One bundle and the objects that the channel has of it; ``entry`` describes the published file, now or later."""

    bundle: Bundle | Path
    entry: IndexEntry
    present: frozenset[str]

    @property
    def has_bundle(self) -> bool:
        return self.entry.key in self.present


def _nothing(_bundle: Bundle, _entry: IndexEntry) -> Mapping[str, bytes]:
    return {}


def publish(
    store: Store,
    bundles: Iterable[Bundle | Path],
    *,
    attest: Attest = _nothing,
    keys: Sequence[SigningKey] = (),
    trusted: Trust = NOBODY,
    at_once: int = 1,
) -> list[tuple[IndexEntry, Status]]:
    """Publish bundles, and return the entry of each, and what was done for it.

    A bundle is identified by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it is compressed differently. If another tar is published, raise `ConflictError` for all
    such bundles, with both digests, and write nothing. A damaged published file is an `IntegrityError`.

    ``at_once`` bundles are uploaded at a time; those in files are read one by one.
    """
    with lease.exclusive(store) as check:

        def commit(change: Callable[[Index], Index]) -> Index:
            return index.commit(store, change, keys=keys, trusted=trusted, check=check)

        plans, before = _plan_all(store, bundles, trusted)
        if not before.head.number:  # nothing yet, or an index of packyard 0.1.0
            before = commit(lambda found: found)
        with ThreadPoolExecutor(at_once) as pool:
            done = list(pool.map(lambda plan: _write(store, plan, attest), plans))
        new = [entry for entry, _ in done if not _is_listed(before, entry)]
        if new or store.list(pending.FOLDER):
            _list(store, new, keys, trusted, commit)
    listed = {str(entry) for entry in new}
    return [
        (entry, "published" if not plan.has_bundle else "completed" if wrote or str(entry) in listed else "unchanged")
        for plan, (entry, wrote) in zip(plans, done, strict=True)
    ]


def _list(
    store: Store,
    entries: Sequence[IndexEntry],
    keys: Sequence[SigningKey],
    trusted: Trust,
    commit: Callable[[Callable[[Index], Index]], Index],
) -> None:
    """Let a head list entries whose objects are in the store, with all that is pending."""
    own = pending.put(store, entries, keys)
    listed = list(own)

    def change(found: Index) -> Index:
        try:
            found = found.add(*entries)
        except ConflictError:
            _forget(store, own)
            raise
        others = [each for each in pending.find(store, trusted) if each not in own and _is_complete(store, each)]
        found, listed[len(own) :] = _combined(found, others)
        return found

    commit(change)
    _forget(store, listed)


def _combined(found: Index, others: Sequence[pending.Pending]) -> tuple[Index, list[pending.Pending]]:
    """Add what others have pending, but for what contradicts the index."""
    with suppress(ConflictError):
        return found.add(*(entry for each in others for entry in each.entries)), list(others)
    added = []
    for each in others:
        with suppress(ConflictError):
            found = found.add(*each.entries)
            added.append(each)
    return found, added


def _is_complete(store: Store, found: pending.Pending) -> bool:
    """Return whether the objects of a pending record are there, as far as a look at their keys can tell."""
    there = {key for version in {entry.version for entry in found.entries} for key in store.list(f"{version}/")}
    return all({entry.key, checksum.key(entry.name, entry.version)} <= there for entry in found.entries)


def _forget(store: Store, records: Iterable[pending.Pending]) -> None:
    for each in records:
        store.remove(each.key)


def _is_listed(found: Index, entry: IndexEntry) -> bool:
    package = found.package(entry.name)
    return package is not None and any(entry.is_same_file(each) for each in package.entries)


def _check_place(store: Store, plans: Iterable[_Plan]) -> None:
    """Refuse to make a channel of a place that has other content.

    A channel that has lost its index is not empty; it is complete again when all that lies there is published again.
    """
    own = tuple(plan.entry.key for plan in plans)
    others = [key for key in _list_keys(store, "") if not key.startswith((*own, "index/"))]
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kind = "releases" if any(key.endswith(".tar.gz") for key in others) else "other files"
        problem = f"there are {kind} and no index: {', '.join(map(on_one_line, others[:3]))}{more}"
        hint = "bring the index back with packyard reindex, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=POINTER, hint=hint))


def _plan_all(store: Store, bundles: Iterable[Bundle | Path], trusted: Trust) -> tuple[list[_Plan], Index]:
    """Check each bundle; return the bundles with what the channel has of them, and its index."""
    before = index.current(store, trusted)
    plans: list[_Plan] = []
    problems: list[Problem] = []
    there: dict[str, frozenset[str]] = {}
    for item in bundles:
        bundle = _open(item)
        reference.check_name(bundle.manifest.name)
        reference.check_version(version := bundle.manifest.version)
        if version not in there:
            there[version] = frozenset(_list_keys(store, f"{version}/"))
        try:
            plans.append(replace(_plan(store, bundle, there[version]), bundle=item))
        except ConflictError as error:
            problems += error.problems
    if problems:
        raise ConflictError(*problems)
    before.add(*(plan.entry for plan in plans))
    if before == Index():
        _check_place(store, plans)
    return plans, before


def _list_keys(store: Store, prefix: str) -> Sequence[str]:
    with suppress(MissingStoreError):
        return store.list(prefix)
    return ()


def _open(bundle: Bundle | Path) -> Bundle:
    return Bundle.open(regular.read(bundle), what=bundle.name) if isinstance(bundle, Path) else bundle


def _plan(store: Store, bundle: Bundle, present: frozenset[str]) -> _Plan:
    entry = IndexEntry.of(bundle)
    if entry.key in present:
        entry = _published_entry(bundle, store.get(entry.key))
    if (key := checksum.key(entry.name, entry.version)) in present:
        _check_checksum(entry, store.get(key, limit=checksum.LIMIT))
    return _Plan(bundle=bundle, entry=entry, present=present)


def _write(store: Store, plan: _Plan, attest: Attest) -> tuple[IndexEntry, bool]:
    """Write what is missing of a bundle; return the entry of the file that is there then, and whether any was."""
    bundle, entry = _open(plan.bundle), plan.entry
    if not plan.has_bundle:
        try:
            store.put(entry.key, bundle.data)
        except ConflictError:  # another publisher was faster, maybe with the same tar
            entry = _published_entry(bundle, store.get(entry.key))
    line = (checksum.key(entry.name, entry.version), checksum.line(entry))
    known = ((entry.key + end, data) for end, data in attest(bundle, entry).items())
    missing = [(key, data) for key, data in (line, *known) if key not in plan.present]
    for key, data in missing:
        try:
            store.put(key, data)
        except ConflictError:
            if key == line[0]:
                raise
    return entry, bool(missing) or not plan.has_bundle


def _published_entry(bundle: Bundle, published: bytes) -> IndexEntry:
    """Describe the file that is published under the bundle's key; it must have the same tar."""
    entry = IndexEntry.of(bundle)
    try:
        tar = Digest.of(archive.decompress(published))
    except IntegrityError as error:
        raise IntegrityError(Problem(f"the published file is damaged: {error}", file=entry.key)) from error
    if tar != bundle.tar:
        problem = f"is published with other content: its tar is {tar}, the new one {bundle.tar}"
        hint = "a published version never changes: raise the version"
        raise ConflictError(Problem(problem, file=entry.key, hint=hint))
    return replace(entry, digest=Digest.of(published), size=len(published))


def _check_checksum(entry: IndexEntry, found: bytes) -> None:
    key = checksum.key(entry.name, entry.version)
    listed = checksum.parse(found, what=key)
    if listed != entry.digest:
        raise IntegrityError(Problem(f"belongs to another file: it has {listed}, the file is {entry.digest}", file=key))
