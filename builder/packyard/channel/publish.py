"""Publishing: which objects a bundle becomes, and the order in which they are written.

A new channel first gets an empty index. Then bundles, checksums, and at last the index are written: whatever the index
lists exists, and what an interrupted publish left is not listed. Publishing the same bundles again completes it.
Everything is checked before the first write; only a second publisher at the same time can cause a later refusal.

    <version>/<name>.tar.gz            the bundle
    <version>/<name>.tar.gz.sha256     its checksum, for ``sha256sum -c``
    index/index.json                   see ``index``
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from packyard.bundle import archive, reference
from packyard.bundle.bundle import Bundle
from packyard.channel import checksum, index
from packyard.channel.entry import IndexEntry
from packyard.channel.index import Index
from packyard.channel.stores import NotFoundError, Store
from packyard.digest import Digest
from packyard.errors import ConflictError, IntegrityError, Problem, on_one_line
from packyard.files import regular

#: It was not there; an earlier publish had been interrupted; it was there already.
Status = Literal["published", "completed", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """One bundle and what the channel has of it already; ``entry`` describes the published file, now or later."""

    bundle: Bundle | Path
    entry: IndexEntry
    has_bundle: bool
    has_checksum: bool


def publish(store: Store, bundles: Iterable[Bundle | Path]) -> list[tuple[IndexEntry, Status]]:
    """Publish bundles, those in files one after another; return the entry of each, and what was done for it.

    A bundle is identified by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it is compressed differently. If another tar is published, raise `ConflictError` for all
    such bundles, with both digests, and write nothing. A damaged published file is an `IntegrityError`.
    """
    plans, listed = _plan_all(store, bundles)
    entries = [_write(store, plan) for plan in plans]
    index.record(store, entries)
    return [(entry, _status(plan, str(entry) in listed)) for plan, entry in zip(plans, entries, strict=True)]


def _status(plan: _Pending, listed: bool) -> Status:
    if not plan.has_bundle:
        return "published"
    return "unchanged" if plan.has_checksum and listed else "completed"


def _read_index(store: Store) -> Index | None:
    try:
        return index.read(store)
    except NotFoundError:
        return None


def _begin(store: Store, plans: Iterable[_Pending]) -> None:
    """Make an empty place a channel, by writing an index first; refuse a place that has other content.

    A channel that has lost its index is not empty; it is complete again when all that lies there is published again.
    """
    own = {key for plan in plans for key in (plan.entry.key, checksum.key(plan.entry.name, plan.entry.version))}
    others = [key for key in store.list("") if key not in {*own, index.KEY}]
    if others and _read_index(store) is None:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kind = "releases" if any(key.endswith(".tar.gz") for key in others) else "other files"
        problem = f"there are {kind} and no index: {', '.join(map(on_one_line, others[:3]))}{more}"
        hint = "bring the index back, publish all that lies there again in one go, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=index.KEY, hint=hint))
    with suppress(ConflictError):  # another publisher has just done so
        store.swap(index.KEY, Index().to_bytes(), None)


def _plan_all(store: Store, bundles: Iterable[Bundle | Path]) -> tuple[list[_Pending], set[str]]:
    """Check each bundle, begin a new channel, and return the bundles with what the channel lists already."""
    before = _read_index(store)
    plans: list[_Pending] = []
    problems: list[Problem] = []
    for item in bundles:
        bundle = _open(item)
        reference.check_name(bundle.manifest.name)
        reference.check_version(bundle.manifest.version)
        try:
            plans.append(replace(_plan(store, bundle), bundle=item))
        except ConflictError as error:
            problems += error.problems
    if problems:
        raise ConflictError(*problems)
    listed = before or Index()
    listed.add(*(plan.entry for plan in plans))
    if before is None:
        _begin(store, plans)
    return plans, set(map(str, listed.entries))


def _open(bundle: Bundle | Path) -> Bundle:
    return Bundle.open(regular.read(bundle), what=bundle.name) if isinstance(bundle, Path) else bundle


def _plan(store: Store, bundle: Bundle) -> _Pending:
    entry = IndexEntry.of(bundle)
    published = _get(store, entry.key)
    if published is not None:
        entry = _published_entry(bundle, published)
    found = _get(store, checksum.key(entry.name, entry.version), checksum.LIMIT)
    if found is not None:
        _check_checksum(entry, found)
    return _Pending(bundle=bundle, entry=entry, has_bundle=published is not None, has_checksum=found is not None)


def _write(store: Store, plan: _Pending) -> IndexEntry:
    """Write what is missing of a bundle, and return the entry of the file that the channel has then."""
    entry = plan.entry
    if not plan.has_bundle:
        bundle = _open(plan.bundle)
        try:
            store.put(plan.entry.key, bundle.data)
        except ConflictError:  # another publisher was faster, maybe with the same tar
            entry = _published_entry(bundle, store.get(plan.entry.key))
    if not plan.has_checksum:
        store.put(checksum.key(entry.name, entry.version), checksum.line(entry))
    return entry


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


def _get(store: Store, key: str, limit: int = regular.LIMIT) -> bytes | None:
    try:
        return store.get(key, limit=limit)
    except NotFoundError:
        return None
