"""The index of a channel in a registry: nothing lists what is there, so it is read from the repositories themselves.

A package is read when somebody asks for it, and one of its versions likewise. What a publisher changes is written fact
by fact: each is a tag, or refers to a bundle, so that nobody who publishes something else loses it. Nobody signs what a
registry lists, and a reader cannot notice that it went back.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from packyard.core.bundle import reference
from packyard.core.digest import Digest
from packyard.core.work import parallel
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.index import ONE, Index, Release
from packyard.sharing.index.package import Package, Summary
from packyard.sharing.stores.store import UnmadeStoreError

if TYPE_CHECKING:
    from packyard.sharing.stores.oci.channel import OCIStore

_CLOSED = "_closed_"
_SHARD = re.compile(r"_([0-9]{1,4})_of_([0-9]{1,4})")


class Versions(Mapping[str, IndexEntry]):
    """The versions of a package, each read once, as it is asked for; tags that packyard did not write have no entry."""

    def __init__(self, registry: "OCIStore", name: str) -> None:
        self._versions, self._read = registry.versions(name), cache(partial(registry.version, name))

    def __getitem__(self, version: str) -> IndexEntry:
        entry = self._read(version) if version in self._versions else None
        if entry is None:
            raise KeyError(version)
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def values(self) -> ValuesView[IndexEntry]:
        """Return all entries, which are read several at a time."""
        entries = parallel.run(self.get, list(self))
        return {entry.version: entry for entry in entries if entry}.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryIndex(Index):
    """The index of a channel in a registry, and what is to be changed in it."""

    registry: "OCIStore"
    writes: tuple[Callable[[], object], ...] = ()
    _packages: dict[str, Package] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, registry: "OCIStore") -> "RegistryIndex":
        """Return the index; nothing is asked of the registry yet."""
        return cls(number=1, writers=ONE, store=registry, registry=registry)

    def rows(self) -> Iterator[Summary]:
        """Yield what would be listed of every package; its latest version is read for that."""

        def row(name: str) -> Summary | None:
            package = self.known(name)
            return Summary.of(package, Digest("")) if package.latest or package.every else None

        return filter(None, parallel.stream(row, self.registry.names))

    def packages(self) -> Iterator[Package]:
        """Yield every package."""
        return (package for name in self.registry.names if (package := self.package(name)))

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return [*self.registry.names]

    def package(self, name: str) -> Package | None:
        """Return a package, or None if nothing is published under that name."""
        if name not in self._packages:
            self._packages[name] = Package(name=name, versions=Versions(self.registry, name))
        return self._packages[name] if len(self._packages[name].versions) else None

    def known(self, name: str) -> Package:
        """Return a package to be changed; many registries hide a repository that is not there yet."""
        with suppress(UnmadeStoreError):
            return self.package(name) or Package(name=name)
        return Package(name=name)

    def release(self, version: str) -> Release:
        """Return the release of a version: whether it is closed, or all of its shards are in."""
        start = _closing(version)
        ends = [mark.removeprefix(start) for mark in set(self.registry.marks) if mark.startswith(start)]
        shards = [(int(match[1]), int(match[2])) for end in ends if (match := _SHARD.fullmatch(end))]
        of = max((of for _, of in shards), default=0)
        numbers = tuple(sorted({number for number, its in shards if its == of}))
        return Release(closed="" in ends or (of > 0 and len(numbers) == of), of=of, shards=numbers)

    def _with(self, package: Package, entry: IndexEntry) -> Package:  # noqa: ARG002  # its bundle says it
        return package

    def with_packages(self, packages: Iterable[Package]) -> Index:
        """Return the index that lists some packages, whose bundles are there, or will be."""
        return self._then(partial(self.registry.mark, package.name) for package in packages)

    def put(self, *entries: IndexEntry) -> Index:
        """Return the index in which versions that it has are yanked, or removed."""
        return self._then(partial(self.registry.change, entry) for entry in entries)

    def close(self, version: str, shard: tuple[int, int] | None = None) -> Index:
        """Return the index in which a release is closed, or has one more of its shards."""
        Index.close(self, version, shard)  # refuses another number of shards
        mark = _closing(version) + (f"_{shard[0]}_of_{shard[1]}" if shard else "")
        return self._then([partial(self.registry.mark, mark)])

    def _then(self, writes: Iterable[Callable[[], object]]) -> Index:
        return replace(self, writes=(*self.writes, *writes))

    def written(self) -> "RegistryIndex":
        """Write what is changed, and return the index as it is then."""
        parallel.run(lambda write: write(), self.writes)
        return self.of(self.registry)


def _closing(version: str) -> str:
    return _CLOSED + reference.canonical(version)
