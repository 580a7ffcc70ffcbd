"""Making an index again, from the bundles of a channel, their checksums, and records of what happened to them.

The same channel gives the same nodes as publishing did. The head is new: it has the next number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any

from packyard.core.bundle import reference
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, PackyardError, Problem, refuse
from packyard.core.work import parallel
from packyard.sharing import checksum
from packyard.sharing.entry import CHECKSUM, IndexEntry, bundle_key
from packyard.sharing.index import flat, head, lease, removed, tree, trial
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.head import Head, Memory, Remembered
from packyard.sharing.index.index import Index, Release
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.index.records import Kind
from packyard.sharing.index.removed import Removed
from packyard.sharing.index.tree import Node
from packyard.sharing.publishing import close, yank
from packyard.sharing.stores.store import NotFoundError, Store, get_or_none, pointing_to_fsck
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust

_AT_ONCE = 4  # bundles that are read
_BUNDLE = re.compile(r"(?P<version>[^/]+)/(?P<name>[^/]+)\.tar\.gz")
_ANY = re.compile(rf"[^/]+/[^/]+\.tar\.gz$|{head.FOLDER}[1-9][0-9]*\.json$|{removed.FOLDER}")
_HEAD = re.compile(rf"{head.FOLDER}([1-9][0-9]*)\.json")
_RECORDS: Mapping[str, Kind[Any]] = {
    yank.FOLDER: yank.KIND,
    close.FOLDER: close.KIND,
    removed.FOLDER: removed.KIND,
}


def reindex(
    store: Store, by: Publisher = UNSIGNED, *, done: Callable[[str], object] = lambda _: None
) -> tuple[Index, list[str]]:
    """Make a channel's index again; return it, and the keys of bundles without checksum, which it does not list.

    A bundle that is damaged, or is not the one that its key and its checksum say, is an `IntegrityError`, and nothing
    changes: an index without it would hide that. So is one that the index lists and that is gone, unless a record says
    that it was removed. What the index says is yanked, closed or removed stays so, also where the
    record of it is gone; that of a closed release is written again, for nothing is published there that would do so.
    Nobody reads the record of what the index says is removed: it may be unsigned, and `gc` makes it again.
    The channel's id stays, too; where nothing says it, it is new. ``done`` is told of each bundle.
    """
    trusted, own = by.trusted, by.in_channel().trusted
    if not any(map(_ANY.match, store.list(""))):
        raise InputError(Problem("has no bundles and no index", file=store.address, hint="is this a channel?"))
    store = trial.tried(store)
    with pointing_to_fsck(store), lease.hold(store, by.waits) as held:
        there = store.list("")
        listed, skipped = bundles(there)
        nodes = Nodes(store, writes_at_once=True)
        number, history = following(store, there)
        _check_memory(store, number, by.memory)
        before = _before(store, number, own, trusted)
        head.check_signed(store, before.head, by.keys)
        former = _Known.of(before)
        channel = before.head.channel if before.head.number else _channel(store, there, own, by.new_id)
        said = {each.key for each in former.removed.values()}
        gone = {**former.removed, **removed.find(store, channel, own, (key for key in there if key not in said))}
        listed = [each for each in listed if each not in gone]
        former.check([*listed, *gone])
        packages = map(former.keep, _with(gone, _packages(store, listed, channel, trusted, done)))
        releases = _releases(store, [*listed, *gone], channel, trusted, former.closed)
        index = Index.build(packages, releases, nodes)
        held.check()
        for release in releases.values():
            if release.closed and close.key(release.spelling) not in there:
                close.record(store, release.spelling, channel, by.keys)
        made_head = replace(index.head, channel=channel, number=number, history=history)
        return replace(index, head=head.create(store, made_head, by.keys)), skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the last index said, as far as it can be read: its bundles with why they are yanked, closed releases, and
    what was removed.
    """

    bundles: Mapping[tuple[str, str], str]
    closed: frozenset[str] = frozenset()
    removed: Mapping[tuple[str, str], Removed] = field(default_factory=dict)

    @classmethod
    def of(cls, index: Index) -> _Known:
        """Read an index."""
        bundles, gone = dict[tuple[str, str], str](), dict[tuple[str, str], Removed]()
        for package in _records(index, index.head.packages):
            bundles |= {(each.name, each.version): each.yanked for each in package.entries}
            gone |= {(each.name, each.version): each for each in package.removed}
        releases = dict(_entries(index, index.head.releases))
        closed = frozenset(version for version, value in releases.items() if Release.parse(value).closed)
        return cls(bundles=bundles, closed=closed, removed=gone)

    def check(self, listed: Sequence[tuple[str, str]]) -> None:
        """Raise `IntegrityError` where a bundle that is listed is not there, or has lost its checksum."""
        hint = "bring it back from a mirror or a backup, or publish the package again: a channel only grows"
        problem = "is listed, and it or its checksum is missing"
        gone = sorted(self.bundles.keys() - set(listed))
        refuse((Problem(problem, file=bundle_key(*each), hint=hint) for each in gone), IntegrityError)

    def keep(self, package: Package) -> Package:
        """Return a package in which all is yanked that was."""
        entries = (
            replace(each, yanked=each.yanked or self.bundles.get((each.name, each.version), ""))
            for each in package.entries
        )
        return replace(package, entries=tuple(entries))


def _entries(index: Index, root: Node) -> Iterator[tuple[str, object]]:
    """Yield the entries of a map that can be read; what is damaged may be the reason for a new index."""
    for leaf in tree.sound_leaves(root, index.nodes.node, lambda *_: None):
        yield from leaf.entries()


def _records(index: Index, packages: Node) -> Iterator[Package]:
    for name, digest in _entries(index, packages):
        with suppress(IntegrityError):
            yield index.record(name, digest)


def _with(gone: Mapping[tuple[str, str], Removed], packages: Iterable[Package]) -> Iterator[Package]:
    """Add what was removed to packages, and those of which nothing else is left; all are sorted by name."""
    own = (Package(name=name, removed=(each,)) for (name, _), each in sorted(gone.items(), key=lambda pair: pair[0]))
    for _, same in groupby(merge(packages, own, key=attrgetter("name")), key=attrgetter("name")):
        first, *rest = same
        yield reduce(lambda package, each: package.remove(each.removed[0]), rest, first)


def bundles(there: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the names and versions of the bundles among keys, sorted by name, and the keys that have no checksum."""
    present, listed, skipped = frozenset(there), list[tuple[str, str]](), list[str]()
    for key in there:
        match = _BUNDLE.fullmatch(key)
        with suppress(PackyardError):
            if match is None or match["version"] == "index":
                continue
            reference.check_name(match["name"])
            reference.check_version(match["version"])
            if bundle_key(match["name"], match["version"], CHECKSUM) in present:
                listed.append((match["name"], match["version"]))
            else:
                skipped.append(key)
    return sorted(listed, key=lambda each: (each[0], reference.order(each[1]))), skipped


def read(store: Store, name: str, version: str, channel: str, trusted: Trust) -> IndexEntry:
    """Read a bundle with all that lies beside it, and return its entry, or raise `IntegrityError`."""
    place, line = bundle_key(name, version), bundle_key(name, version, CHECKSUM)
    data = store.get(place, limit=LIMITS.packed_size)
    checksum.parse(store.get(line, limit=checksum.LIMIT), what=line).verify(data, what=place)
    bundle = Bundle.open(data, what=place)
    check_name(bundle, name, version)
    provenance.check_beside(store, bundle, trusted)
    entry = IndexEntry.of(bundle)
    yanked = yank.read(store, entry, channel, trusted)
    return replace(entry, yanked=yanked.reason) if yanked else entry


def check_name(bundle: Bundle, name: str, version: str) -> None:
    """Raise `IntegrityError` unless a bundle has the name and version that its key says."""
    if (bundle.manifest.name, bundle.manifest.version) != (name, version):
        problem = f"is the bundle {bundle.manifest.name}@{bundle.manifest.version}"
        raise IntegrityError(Problem(problem, file=bundle_key(name, version)))


def _packages(
    store: Store, listed: Sequence[tuple[str, str]], channel: str, trusted: Trust, done: Callable[[str], object]
) -> Iterator[Package]:
    """Read the bundles, some at a time, package after package; say of all that are damaged what is wrong."""
    problems: list[Problem] = []

    def look(bundle: tuple[str, str]) -> IndexEntry | IntegrityError:
        try:
            return read(store, *bundle, channel, trusted)
        except IntegrityError as error:
            return error

    read_of_each = zip(listed, parallel.stream(look, listed, _AT_ONCE), strict=True)
    for name, own in groupby(read_of_each, key=lambda pair: pair[0][0]):
        entries = []
        for (_, version), entry in own:
            if isinstance(entry, IntegrityError):
                problems += entry.problems
            else:
                entries.append(entry)
            done(f"{name}@{version}")
        if entries:
            yield Package(name=name, entries=tuple(entries))
    refuse(problems, IntegrityError)


def _releases(
    store: Store, listed: Sequence[tuple[str, str]], channel: str, trusted: Trust, closed_before: frozenset[str]
) -> Mapping[str, Release]:
    """Return the releases; where a version has two spellings, which packyard 0.1.0 let pass, the first is its name."""
    releases: dict[str, Release] = {}
    for version in sorted({version for _, version in listed}):
        canonical = reference.canonical(version)
        if canonical not in releases:
            closed = canonical in closed_before or close.is_closed(store, version, channel, trusted)
            releases[canonical] = Release(spelling=version, closed=closed)
    return releases


def head_number(key: str) -> int:
    """Return the number of a head by its key, 0 for what is the key of none."""
    match = _HEAD.fullmatch(key)
    return int(match[1]) if match else 0


def following(store: Store, there: Sequence[str]) -> tuple[int, dict[int, Digest]]:
    """Return the next head's number, and its history."""
    last = max(map(head_number, there), default=0)
    if head.POINTER in there:
        with suppress(IntegrityError, NotFoundError):
            last = max(last, Head.parse(store.get(head.POINTER), NOBODY, file=head.POINTER).number)
    return last + 1, {number: Digest.of(stored_head(store, number)) for number in head.links(last + 1)}


def _channel(store: Store, there: Sequence[str], trusted: Trust, new_id: Callable[[], str]) -> str:
    """Return the id of a channel that has lost all heads: that of the records beside them, or a new one."""
    for key in there:
        kind = next((kind for folder, kind in _RECORDS.items() if key.startswith(folder)), None)
        if kind and (signed := kind.get(store, key, None, trusted)):
            return str(signed.channel)
    return new_id()


def _check_memory(store: Store, number: int, memory: Memory | None) -> None:
    """Refuse to follow heads among which the remembered one is not, or is another."""
    remembered = memory.read() if memory else Remembered()
    if remembered.number and (
        remembered.number >= number or Digest.of(stored_head(store, remembered.number)) != remembered.digest
    ):
        hint = (
            f"bring the heads back from a mirror or a backup, or remove {remembered.file}, as all who saw them have to"
        )
        raise IntegrityError(
            Problem("is not the head that was there before", file=head.key(remembered.number), hint=hint)
        )


def _before(store: Store, number: int, *trusts: Trust) -> Index:
    """Return the index of the last head before a number that can be read, and is signed by whom we trust first.

    The pointer may be a copy of one that is damaged.
    """
    for trusted in trusts:
        latest = None
        for key in (head.POINTER, *map(head.key, range(number - 1, 0, -1))):
            with suppress(IntegrityError, NotFoundError):  # damaged, or anybody may have written it: it says nothing
                candidate = Head.parse(store.get(key, limit=head.LIMIT), trusted, file=key)
                latest = candidate if latest is None or candidate.number > latest.number else latest
                if key != head.POINTER:
                    break
        if latest:
            return Index(head=latest, nodes=Nodes(store))
    with suppress(IntegrityError):
        return Index.of_entries(flat.read(store) or (), Nodes())
    return Index()


def stored_head(store: Store, number: int) -> bytes:
    """Return a head that has to be there."""
    data = get_or_none(store, head.key(number), limit=head.LIMIT)
    if data is None:
        hint = "bring it back: users who remember it would take a new index for a forgery; if a thief wrote those "
        hint += f"after it, remove theirs below {head.FOLDER} and {head.POINTER}, then run again"
        raise IntegrityError(Problem("is missing", file=head.key(number), hint=hint))
    return data
