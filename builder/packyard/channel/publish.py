"""Publishing: which objects a bundle becomes, and in which order they are written.

In a new channel an empty index; bundle, then checksum, then index: whatever the index lists is there, and what an
interrupted publish left behind is not listed; to publish the same bundles again completes it. All refusals come before
the first write, but for those that a publisher who is at work at the same moment provokes.

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
from packyard.channel.entry import IndexEntry, bundle_key
from packyard.channel.index import Index
from packyard.channel.stores import NotFoundError, Store
from packyard.digest import Digest
from packyard.errors import ConflictError, IntegrityError, Problem, on_one_line
from packyard.files import regular

Status = Literal["published", "completed", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What was done for one bundle; ``entry`` describes the file that the channel holds now.

    ``published``: it was not there; ``completed``: an earlier publish had been interrupted; ``unchanged``: a no-op.
    """

    entry: IndexEntry
    key: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """One bundle beside what the channel has of it; ``entry`` describes the file that will be, or is, published."""

    bundle: Bundle | Path
    entry: IndexEntry
    has_bundle: bool
    has_checksum: bool

    @property
    def key(self) -> str:
        return bundle_key(self.entry.name, self.entry.version)


def publish(store: Store, bundles: Iterable[Bundle | Path]) -> list[Publication]:
    """Publish ``bundles``, or those in files, of which one is in memory at a time; return what was done for each.

    A bundle is judged by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it was compressed otherwise. Another tar is a `ConflictError`, which names both digests,
    for all bundles concerned; then nothing is written. A published file that is damaged is an `IntegrityError`.
    """
    plans, listed = _plan_all(store, bundles)
    entries = [_write(store, plan) for plan in plans]
    index.record(store, entries)
    return [
        Publication(entry=entry, key=plan.key, status=_status(plan, str(entry) in listed))
        for plan, entry in zip(plans, entries, strict=True)
    ]


def _status(plan: _Plan, listed: bool) -> Status:
    if not plan.has_bundle:
        return "published"
    return "unchanged" if plan.has_checksum and listed else "completed"


def _read_index(store: Store) -> Index | None:
    try:
        return index.read(store)
    except NotFoundError:
        return None


def _begin(store: Store, plans: Iterable[_Plan]) -> None:
    """Make an empty place a channel, by an index before anything else; refuse a place that holds something already.

    A channel that has lost its index is not an empty one; it is complete again when all that lies there is published.
    """
    own = {key for plan in plans for key in (plan.key, checksum.key(plan.entry.name, plan.entry.version))}
    others = [key for key in store.list("") if key not in {*own, index.KEY}]
    if others and _read_index(store) is None:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kind = "releases" if any(key.endswith(".tar.gz") for key in others) else "other files"
        problem = f"there are {kind} and no index: {', '.join(map(on_one_line, others[:3]))}{more}"
        hint = "bring the index back, publish all that lies there again in one go, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=index.KEY, hint=hint))
    with suppress(ConflictError):  # another publisher has just done so
        store.swap(index.KEY, Index().to_bytes(), None)


def _plan_all(store: Store, bundles: Iterable[Bundle | Path]) -> tuple[list[_Plan], set[str]]:
    """Return what to do for each bundle, and what is listed before; refuse what cannot be done, and begin a channel."""
    before = _read_index(store)
    plans: list[_Plan] = []
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


def _plan(store: Store, bundle: Bundle) -> _Plan:
    entry = IndexEntry.of(bundle)
    published = _get(store, bundle_key(entry.name, entry.version))
    if published is not None:
        entry = _published_entry(bundle, published)
    found = _get(store, checksum.key(entry.name, entry.version), checksum.LIMIT)
    if found is not None:
        _check_checksum(entry, found)
    return _Plan(bundle=bundle, entry=entry, has_bundle=published is not None, has_checksum=found is not None)


def _write(store: Store, plan: _Plan) -> IndexEntry:
    """Write what is missing of a bundle, and return the entry of the file that the channel holds then."""
    entry = plan.entry
    if not plan.has_bundle:
        bundle = _open(plan.bundle)
        try:
            store.put(plan.key, bundle.data)
        except ConflictError:  # another publisher was faster; it may be the same tar, compressed otherwise
            entry = _published_entry(bundle, store.get(plan.key))
    if not plan.has_checksum:
        store.put(checksum.key(entry.name, entry.version), checksum.line(entry))
    return entry


def _published_entry(bundle: Bundle, published: bytes) -> IndexEntry:
    """Describe the file that the channel has in the place of ``bundle``, if its tar is the same."""
    key = bundle_key(bundle.manifest.name, bundle.manifest.version)
    try:
        tar = Digest.of(archive.decompress(published))
    except IntegrityError as error:
        raise IntegrityError(Problem(f"the published file is damaged: {error}", file=key)) from error
    if tar != bundle.tar:
        problem = f"is published with other content: its tar is {tar}, the new one {bundle.tar}"
        raise ConflictError(Problem(problem, file=key, hint="a published version never changes: raise the version"))
    return replace(IndexEntry.of(bundle), digest=Digest.of(published), size=len(published))


def _check_checksum(entry: IndexEntry, found: bytes) -> None:
    key = checksum.key(entry.name, entry.version)
    listed = checksum.parse(found, what=key)
    if listed != entry.digest:
        raise IntegrityError(Problem(f"is of another file: it says {listed}, the file is {entry.digest}", file=key))


def _get(store: Store, key: str, limit: int = regular.LIMIT) -> bytes | None:
    try:
        return store.get(key, limit=limit)
    except NotFoundError:
        return None
