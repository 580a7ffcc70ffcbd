"""The index: what a channel says it holds.

It is a small head (`head`) over maps of immutable nodes (`tree`), so that a reader needs few small requests however
much there is, and a change writes few nodes. `Index` is a value: `add`, `yank` and `close` return another one, which
`stored` makes the channel's. An entry keeps its file for ever, or is removed, and then it is said so for ever.

    packages    name → digest of the record of the package (`package`)
    listing     name → what `packyard list` prints of it (`summary`), in larger nodes: they are read all
    releases    canonical version → how it is spelled, and whether it is closed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, checked, flag, in_json
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, refuse, suggest
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import tree
from packyard.sharing.index.head import Head
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.index.removed import Removed
from packyard.sharing.index.summary import Summary

_NEAR = 500  # names to look for the nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The bundles published together under one version; a closed one gets no more."""

    spelling: str = field(metadata=in_json(checked(reference.check_version)))
    closed: bool = field(default=False, metadata=in_json(flag))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, value: object) -> Release:
        """Read a release from its JSON."""
        return Record(value).take_all(cls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A channel's packages at one head. ``head`` has the maps' roots, ``nodes`` what is below them."""

    head: Head = field(default_factory=Head)
    nodes: Nodes = field(default_factory=Nodes, compare=False)

    @classmethod
    def build(cls, packages: Iterable[Package], releases: Mapping[str, Release], nodes: Nodes) -> Index:
        """Return the index of many packages, sorted by name, in memory that does not grow with them."""
        listing = tree.Builder(nodes.keep, tree.LARGE)

        def records() -> Iterator[tuple[str, object]]:
            for package in packages:
                if package.latest:
                    listing.add(package.name, Summary.of(package.latest).entry())
                yield package.name, nodes.keep(package)

        head = Head(
            packages=tree.build(records(), nodes.keep),
            listing=_below(listing.end(), nodes),
            releases=tree.build(sorted((key, record.document(each)) for key, each in releases.items()), nodes.keep),
        )
        nodes.flush()
        return cls(head=head, nodes=nodes)

    @classmethod
    def of_entries(cls, entries: Iterable[IndexEntry], nodes: Nodes) -> Index:
        """Return the index of entries that are published already; where a version has two spellings, both stay."""
        packages: dict[str, list[IndexEntry]] = {}
        releases: dict[str, Release] = {}
        for entry in sorted(entries, key=lambda each: reference.order(each.version)):
            packages.setdefault(entry.name, []).append(entry)
            releases.setdefault(reference.canonical(entry.version), Release(spelling=entry.version))
        package_records = (Package(name=name, entries=tuple(own)) for name, own in sorted(packages.items()))
        return cls.build(package_records, releases, nodes)

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """Every entry, sorted by name and version."""
        return tuple(entry for package in self.packages() for entry in package.entries)

    def packages(self) -> Iterator[Package]:
        """Yield every package, sorted by name."""
        for name, digest in tree.scan(self.head.packages, self.nodes.node):
            yield self.record(name, digest)

    def _latest(self) -> Iterator[IndexEntry]:
        """Yield the latest version of every package; several records are read at a time."""
        for leaf in self._leaves(self.head.packages):
            digests = (Digest.parse(str(value)) for value in leaf.values)
            for name, package in zip(leaf.keys, self.nodes.each(self.nodes.package, digests), strict=True):
                if latest := _named(name, package).latest:
                    yield latest

    def _leaves(self, root: tree.Node) -> Iterator[tree.Node]:
        return tree.leaves(root, partial(self.nodes.each, self.nodes.node))

    def summaries(self, kind: str = "") -> Iterator[Summary]:
        """Yield what `packyard list` prints of each package, or of what else is of a kind, sorted by name."""
        if self.head.listing.keys:
            leaves = self._leaves(self.head.listing)
            every: Iterable[Summary] = (Summary.parse(name, value) for leaf in leaves for name, value in leaf.entries())
        else:  # of an earlier release
            every = map(Summary.of, self._latest())
        return (each for each in every if each.kind == kind)

    def names(self, start: str = "") -> Iterator[str]:
        """Yield the names that begin so, sorted."""
        return (name for name, _ in tree.scan(self.head.packages, self.nodes.node, start))

    def package(self, name: str) -> Package | None:
        """Return a package, or None if there is none of that name."""
        digest = tree.get(self.head.packages, name, self.nodes.node)
        return None if digest is None else self.record(name, digest)

    def record(self, name: str, digest: object) -> Package:
        """Return the record of a package, which the map has under a name."""
        return _named(name, self.nodes.package(Digest.parse(str(digest))))

    def release(self, version: str) -> Release | None:
        """Return the release of a version, in any spelling, or None if there is none."""
        value = tree.get(self.head.releases, reference.canonical(version), self.nodes.node)
        try:
            return None if value is None else Release.parse(value)
        except FaultError as fault:
            raise IntegrityError(Problem(f"{fault.path}: {fault}", file=f"release {version}")) from fault

    def released(self, version: str) -> Release:
        """Return the release of a version, or raise `InputError`."""
        release = self.release(version)
        if release is None:
            raise InputError(f"the channel has no release {version!r}")
        return release

    def versions(self, name: str) -> tuple[str, ...]:
        """Return the versions of a name, the oldest first."""
        package = self.package(name)
        return tuple(entry.version for entry in package.entries) if package else ()

    def lists(self, entry: IndexEntry) -> bool:
        """Return whether it has this very file, under this name and version."""
        package = self.package(entry.name)
        return package is not None and any(entry.is_same_file(each) for each in package.entries)

    def was_removed(self, entry: IndexEntry) -> bool:
        """Return whether its version was removed, whatever its bytes were."""
        package = self.package(entry.name)
        return package is not None and package.gone(entry.version) is not None

    def named(self, name: str) -> Package:
        """Return the package of a name, or raise `InputError` with the nearest name."""
        package = self.package(name)
        if package is None:
            hint = suggest(name, self._near(name))
            raise InputError(Problem(f"the channel has no bundle {name!r}", hint=hint))
        return package

    def _near(self, name: str) -> list[str]:
        """Return some names that begin alike."""
        starts = (name, name[: len(name) // 2], name[:1], "")
        near = (list(islice(tree.scan(self.head.packages, self.nodes.node, start), _NEAR)) for start in starts)
        return [other for other, _ in next(filter(None, near), [])]

    # Changes.

    def add(self, *entries: IndexEntry) -> Index:
        """Return the index with more entries; those that it has already change nothing.

        Raises `ConflictError`, naming every entry whose name and version have other bytes already, whose version is
        listed in another spelling, or whose release is closed.
        """
        packages: dict[str, Package] = {}
        releases: dict[str, Release] = {}
        problems: list[Problem] = []
        for entry in entries:
            package = packages.get(entry.name) or self.package(entry.name) or Package(name=entry.name)
            try:
                added = package.add(entry)
                if added != package:
                    version = reference.canonical(entry.version)
                    releases[version] = _release(releases.get(version) or self.release(version), entry)
                packages[entry.name] = added
            except ConflictError as error:
                problems += error.problems
        refuse(problems, ConflictError)
        return self._with(packages.values(), releases)

    def yank(self, entry: IndexEntry, reason: str) -> Index:
        """Return the index in which an entry is yanked, for a reason."""
        return self._with([self.named(entry.name).put(replace(entry, yanked=reason))], {})

    def remove(self, gone: Iterable[Removed]) -> Index:
        """Return the index without some versions, which says that they were removed."""
        packages: dict[str, Package] = {}
        for each in gone:
            packages[each.name] = (packages.get(each.name) or self.named(each.name)).remove(each)
        return self._with(packages.values(), {})

    def close(self, version: str) -> Index:
        """Return the index in which the release of a version is closed."""
        return self._with([], {reference.canonical(version): replace(self.released(version), closed=True)})

    def _with(self, packages: Iterable[Package], releases: Mapping[str, Release]) -> Index:
        """Return the index with other records in place of the present ones."""
        records: dict[str, object | None] = {}
        listed: dict[str, object | None] = {}
        for package in packages:
            if package != self.package(package.name):
                records[package.name] = self.nodes.keep(package)
                listed[package.name] = Summary.of(package.latest).entry() if package.latest else None
        head = replace(
            self.head,
            packages=self._updated(self.head.packages, records),
            listing=self._listing(listed),
            words=tree.Node(),
            releases=self._updated(self.head.releases, {key: record.document(each) for key, each in releases.items()}),
        )
        return replace(self, head=head)

    def _listing(self, changes: Mapping[str, object | None]) -> tree.Node:
        """Return the listing after changes; that of an index which has none yet is made of all its records."""
        listing = self.head.listing
        if listing.keys:
            root = tree.child(listing, 0, "", self.nodes.node)
        else:
            of = ((each.name, Summary.of(each).entry()) for each in self._latest())
            root = tree.build(of, self.nodes.keep, tree.LARGE)
        return _below(tree.update(root, changes, self.nodes.node, self.nodes.keep, tree.LARGE), self.nodes)

    def _updated(self, root: tree.Node, changes: Mapping[str, object | None]) -> tree.Node:
        return tree.update(root, changes, self.nodes.node, self.nodes.keep) if changes else root

    def write(self) -> None:
        """Write the nodes and records that are new, which comes before the head that names them."""
        self.nodes.write((self.head.packages, self.head.listing, self.head.releases), self._is_listed)

    def _is_listed(self, digest: Digest, package: Package) -> bool:
        return tree.get(self.head.packages, package.name, self.nodes.node) == digest


def _below(root: tree.Node, nodes: Nodes) -> tree.Node:
    """Return a root whose only entry is the node that is given, so that a head does not hold that."""
    return tree.Node.of(root.level + 1, [(root.keys[-1], nodes.keep(root))]) if root.keys else root


def _named(name: str, package: Package) -> Package:
    if package.name != name:
        raise IntegrityError(f"the index has the record of {package.name!r} under {name!r}")
    return package


def _release(present: Release | None, entry: IndexEntry) -> Release:
    """Return the release that an entry joins."""
    if present is None:
        return Release(spelling=entry.version)
    if present.spelling != entry.version:
        problem = f"{entry}: the release is published as {present.spelling}: one version has one spelling in a channel"
        raise ConflictError(Problem(problem, hint=f"publish as {present.spelling}, or raise the version"))
    if present.closed:
        problem = f"{entry}: the release {present.spelling} is closed"
        raise ConflictError(Problem(problem, hint="publish it in another release: raise the version"))
    return present
