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

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from packyard.bundle import archive, reference
from packyard.bundle.bundle import Bundle
from packyard.channel import checksum
from packyard.channel.entry import IndexEntry
from packyard.channel.index import head, index, lease, pending, trial
from packyard.channel.index.head import Memory
from packyard.channel.index.index import Index
from packyard.channel.stores import MissingStoreError, Store
from packyard.channel.trust import provenance
from packyard.channel.trust.keys import NOBODY, SigningKey, Trust
from packyard.digest import Digest
from packyard.errors import ConflictError, IntegrityError, Problem, on_one_line
from packyard.files import regular

#: It was not there; it was not there, and no head lists it yet; an earlier publish had been interrupted; it was there.
Status = Literal["published", "uploaded", "completed", "unchanged"]
#: What publishing would do: publish it, complete it, nothing, or refuse it.
Outlook = Literal["new", "incomplete", "unchanged", "conflict"]
#: Returns what is known of a published file: objects by their keys, in the order of their writing.
Attest = Callable[[IndexEntry], Mapping[str, bytes]]

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A bundle in a file, described by whoever packed it: it is not opened again, only its digest is checked."""

    entry: IndexEntry
    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """One bundle and the objects that the channel has of it; ``entry`` describes the published file, now or later."""

    packed: Packed | Bundle
    entry: IndexEntry
    present: frozenset[str]

    @property
    def has_bundle(self) -> bool:
        return self.entry.key in self.present

    def data(self) -> bytes:
        """Return the bytes of the bundle, which for a file are read only now."""
        if isinstance(self.packed, Bundle):
            return self.packed.data
        data = regular.read(self.packed.file, limit=archive.LIMITS.packed_size)
        self.packed.entry.verify(data)
        return data


def _nothing(_: object) -> Mapping[str, bytes]:
    return {}


def publish(
    store: Store,
    bundles: Iterable[Bundle | Path | Packed],
    *,
    attest: Attest = _nothing,
    keys: Sequence[SigningKey] = (),
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
    at_once: int = 1,
    is_listed: bool = True,
    done: Callable[[int], object] = _nothing,
) -> list[tuple[IndexEntry, Status]]:
    """Publish bundles, and return the entry of each, and what was done for it.

    A bundle is identified by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it is compressed differently. If another tar is published, raise `ConflictError` for all
    such bundles, with both digests, and write nothing. A damaged published file is an `IntegrityError`.

    ``at_once`` bundles are uploaded at a time; those in files are read one by one. ``done`` hears of each that is
    uploaded, by its place. Unless ``is_listed``, they are left pending, for `join` or the next publisher to list.
    """
    trusted = head.trust_to_write(keys, trusted)
    store = trial.tried(store)
    with lease.exclusive(store) as check:

        def commit(change: Callable[[Index], Index]) -> Index:
            return index.commit(store, change, keys=keys, trusted=trusted, check=check, memory=memory)

        before = index.current(store, trusted, memory)
        plans = _plan_all(store, bundles, before, at_once)
        if not before.head.number:  # nothing yet, or an index of packyard 0.1.0
            before = commit(lambda found: found)
        wrote = _each(lambda plan: _write(store, plan, attest), plans, at_once, done)
        new = [entry for entry, _ in wrote if not _lists(before, entry)]
        found = {plan.entry.key: plan.present for plan in plans}
        for entry in new:
            if provenance.key(entry.name, entry.version) in found[entry.key]:
                _check_provenance(store, entry, attest, trusted)
        if new and not is_listed:
            pending.put(store, new, keys)
        elif is_listed and (new or store.list(pending.FOLDER)):
            _list(store, new, keys, trusted, commit)
    later = {str(entry) for entry in new}

    def status(plan: _Plan, entry: IndexEntry, is_new: bool) -> Status:
        if str(entry) in later and not is_listed:
            return "uploaded"
        return "published" if not plan.has_bundle else "completed" if is_new or str(entry) in later else "unchanged"

    return [(entry, status(plan, entry, is_new)) for plan, (entry, is_new) in zip(plans, wrote, strict=True)]


def preview(
    store: Store, bundles: Iterable[Bundle | Path | Packed], *, trusted: Trust = NOBODY, at_once: int = 1
) -> list[tuple[IndexEntry, Outlook, tuple[Problem, ...]]]:
    """Return what `publish` would do for each bundle, and why it would refuse it; nothing is written."""
    before, items = index.current(store, trusted), [_packed(each) for each in bundles]
    there = _present(store, items)
    _check_place(store, before, items)

    def look(packed: Packed | Bundle) -> tuple[IndexEntry, Outlook, tuple[Problem, ...]]:
        entry = _described(packed)
        try:
            plan = _plan(store, packed, there[entry.version])
            before.add(plan.entry)
        except (ConflictError, IntegrityError) as error:
            return entry, "conflict", error.problems
        if not plan.has_bundle:
            return plan.entry, "new", ()
        is_whole = checksum.key(entry.name, entry.version) in plan.present and _lists(before, plan.entry)
        return plan.entry, "unchanged" if is_whole else "incomplete", ()

    return _each(look, items, at_once)


def join(
    store: Store, *, keys: Sequence[SigningKey] = (), trusted: Trust = NOBODY, memory: Memory | None = None
) -> list[IndexEntry]:
    """List all that is pending and complete, and return it; raise what cannot be listed, after the rest is."""
    trusted = head.trust_to_write(keys, trusted)
    joined: list[IndexEntry] = []
    store = trial.tried(store)
    with lease.exclusive(store) as check:
        while found := _complete(store, trusted):
            listed: list[pending.Pending] = []

            def change(before: Index, found: Sequence[pending.Pending] = found) -> Index:
                after, listed[:] = _combined(before, found)  # noqa: B023  # called before the next turn
                return after

            index.commit(store, change, keys=keys, trusted=trusted, check=check, memory=memory)
            _forget(store, listed)
            joined += (entry for each in listed for entry in each.entries)
            if len(listed) < len(found):
                rest = [entry for each in found if each not in listed for entry in each.entries]
                index.current(store, trusted).add(*rest)  # which refuses them
    return joined


def missing(store: Store, names: Iterable[str], version: str, *, trusted: Trust = NOBODY) -> list[str]:
    """Return the names of a version that the channel neither lists nor has pending and complete."""
    found = index.current(store, trusted)
    complete = _complete(store, trusted)
    waiting = {entry.name for each in complete for entry in each.entries if entry.version == version}
    return [name for name in names if name not in waiting and version not in found.versions(name)]


def _each(
    act: Callable[[_Item], _Made],
    items: Sequence[_Item],
    at_once: int,
    done: Callable[[int], object] = _nothing,
) -> list[_Made]:
    """Do something for each item, several at a time; after the first refusal no more are begun."""
    made: list[_Made] = []
    with ThreadPoolExecutor(at_once) as pool:
        futures = deque(pool.submit(act, item) for item in items)
        try:
            while futures:
                made.append(futures.popleft().result())
                done(len(made) - 1)
        finally:
            pool.shutdown(cancel_futures=True)
    return made


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
        listed[len(own) :] = []
        if entries and all(_lists(found, entry) for entry in entries):  # another publisher has listed them
            return found
        try:
            found = found.add(*entries)
        except ConflictError:
            _forget(store, own)
            raise
        others = [each for each in _complete(store, trusted) if each not in own]
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


def _complete(store: Store, trusted: Trust) -> list[pending.Pending]:
    """Return the pending records whose objects are there, as far as a look at their keys can tell."""
    there: dict[str, frozenset[str]] = {}

    def is_there(entry: IndexEntry) -> bool:
        if entry.version not in there:
            there[entry.version] = frozenset(store.list(f"{entry.version}/"))
        return {entry.key, checksum.key(entry.name, entry.version)} <= there[entry.version]

    return [each for each in pending.find(store, trusted) if all(map(is_there, each.entries))]


def _forget(store: Store, records: Iterable[pending.Pending]) -> None:
    for each in records:
        store.remove(each.key)


def _lists(found: Index, entry: IndexEntry) -> bool:
    package = found.package(entry.name)
    return package is not None and any(entry.is_same_file(each) for each in package.entries)


def _check_place(store: Store, before: Index, items: Sequence[Packed | Bundle]) -> None:
    """Refuse to make a channel of a place that has other content.

    A channel that has lost its index is not empty; it is complete again when all that lies there is published again.
    """
    if before != Index():
        return
    own = tuple(_described(each).key for each in items)
    others = [key for key in _list_keys(store, "") if not key.startswith((*own, "index/"))]
    if others and not store.list(head.FOLDER):  # another publisher may have begun the channel meanwhile
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kind = "releases" if any(key.endswith(".tar.gz") for key in others) else "other files"
        problem = f"there are {kind} and no index: {', '.join(map(on_one_line, others[:3]))}{more}"
        hint = "bring the index back with packyard reindex, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=head.POINTER, hint=hint))


def _plan_all(store: Store, bundles: Iterable[Bundle | Path | Packed], before: Index, at_once: int) -> list[_Plan]:
    """Check each bundle; return the bundles with what the channel, whose index this is, has of them."""
    items = [_packed(each) for each in bundles]
    there = _present(store, items)

    def look(packed: Packed | Bundle) -> _Plan | ConflictError:
        try:
            return _plan(store, packed, there[_described(packed).version])
        except ConflictError as error:
            return error

    found = _each(look, items, at_once)
    problems = [problem for each in found if isinstance(each, ConflictError) for problem in each.problems]
    if problems:
        raise ConflictError(*problems)
    plans = [each for each in found if isinstance(each, _Plan)]
    before.add(*(plan.entry for plan in plans))
    _check_place(store, before, items)
    return plans


def _packed(bundle: Bundle | Path | Packed) -> Packed | Bundle:
    if not isinstance(bundle, Path):
        return bundle
    opened = Bundle.open(regular.read(bundle, limit=archive.LIMITS.packed_size), what=bundle.name)
    return Packed(entry=IndexEntry.of(opened), file=bundle)


def _described(packed: Packed | Bundle) -> IndexEntry:
    return packed.entry if isinstance(packed, Packed) else IndexEntry.of(packed)


def _present(store: Store, items: Iterable[Packed | Bundle]) -> dict[str, frozenset[str]]:
    """Check names and versions; return the keys below each version."""
    versions = set()
    for entry in map(_described, items):
        reference.check_name(entry.name)
        reference.check_version(entry.version)
        versions.add(entry.version)
    return {version: frozenset(_list_keys(store, f"{version}/")) for version in sorted(versions)}


def _list_keys(store: Store, prefix: str) -> Sequence[str]:
    with suppress(MissingStoreError):
        return store.list(prefix)
    return ()


def _plan(store: Store, packed: Packed | Bundle, present: frozenset[str]) -> _Plan:
    entry = _described(packed)
    if entry.key in present:
        entry = _published_entry(entry, store.get(entry.key, limit=_limit(entry)))
    if (key := checksum.key(entry.name, entry.version)) in present:
        _check_checksum(entry, store.get(key, limit=checksum.LIMIT))
    return _Plan(packed=packed, entry=entry, present=present)


def _write(store: Store, plan: _Plan, attest: Attest) -> tuple[IndexEntry, bool]:
    """Write what is missing of a bundle; return the entry of the file that is there then, and whether any was."""
    entry = plan.entry
    if not plan.has_bundle:
        try:
            store.put(entry.key, plan.data())
        except ConflictError:  # another publisher was faster, maybe with the same tar
            entry = _published_entry(entry, store.get(entry.key, limit=_limit(entry)))
    line = (checksum.key(entry.name, entry.version), checksum.line(entry))
    missing = [(key, data) for key, data in (line, *attest(entry).items()) if key not in plan.present]
    for key, data in missing:
        try:
            store.put(key, data)
        except ConflictError:  # what another publisher says of it stays
            if key == line[0]:
                raise
    return entry, bool(missing) or not plan.has_bundle


def _limit(entry: IndexEntry) -> int:
    """Return the most bytes that the same tar has, compressed by others."""
    return max(regular.LIMIT, 2 * entry.size)


def _check_provenance(store: Store, entry: IndexEntry, attest: Attest, trusted: Trust) -> None:
    """Refuse to list a bundle beside which somebody put provenance that users would refuse."""
    key = provenance.key(entry.name, entry.version)
    found = store.get(key, limit=provenance.LIMIT)
    if found == attest(entry).get(key):
        return
    try:
        provenance.open(found, trusted, file=key)[0].check(entry, file=key)
    except IntegrityError as error:
        hint = "somebody else put it there: remove that file, and run again"
        problems = (Problem(each.message, file=each.file, hint=hint) for each in error.problems)
        raise IntegrityError(*problems) from error


def _published_entry(entry: IndexEntry, published: bytes) -> IndexEntry:
    """Describe the file that is published under a bundle's key; it must have the same tar."""
    try:
        tar = Digest.of(archive.decompress(published))
    except IntegrityError as error:
        raise IntegrityError(Problem(f"the published file is damaged: {error}", file=entry.key)) from error
    if tar != entry.tar:
        problem = f"is published with other content: its tar is {tar}, the new one {entry.tar}"
        hint = "a published version never changes: raise the version"
        raise ConflictError(Problem(problem, file=entry.key, hint=hint))
    return replace(entry, digest=Digest.of(published), size=len(published))


def _check_checksum(entry: IndexEntry, found: bytes) -> None:
    key = checksum.key(entry.name, entry.version)
    listed = checksum.parse(found, what=key)
    if listed != entry.digest:
        raise IntegrityError(Problem(f"belongs to another file: it has {listed}, the file is {entry.digest}", file=key))
