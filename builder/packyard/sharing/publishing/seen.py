"""What a check of a channel has seen of its index, read once whatever is damaged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, PackyardError
from packyard.sharing.entry import IndexEntry, bundle_key
from packyard.sharing.index import nodes, tree
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.index.tree import Node
from packyard.sharing.publishing import yank as yanks
from packyard.sharing.publishing.file_fault import REINDEX, FileFault, damaged


class Seen:
    """What is below the roots of an index, as far as it can be read: of its entries, nothing but their keys is held.

    ``keys`` are those of bundles, ``yanked`` and ``removed`` those of the records of what is yanked or removed, and
    ``gone`` those of the bundles that were removed. ``sound`` are the keys of the nodes and records that were read, and
    ``faults`` what is wrong with others, by their keys.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.faults: dict[str, FileFault] = {}
        self.sound: set[str] = set()
        self.keys: set[str] = set()
        self.yanked: set[str] = set()
        self.removed: set[str] = set()
        self.gone: set[str] = set()
        for node in (index.head.listing, index.head.releases):
            deque(self._leaves(node), maxlen=0)
        for package in self._packages():
            self.keys.update(entry.key for entry in package.entries)
            self.yanked.update(yanks.key(entry.name, entry.version) for entry in package.entries if entry.yanked)
            self.yanked.update(yanks.key(each.name, each.version) for each in package.removed)
            self.removed.update(each.key for each in package.removed)
            self.gone.update(bundle_key(each.name, each.version) for each in package.removed)

    @property
    def is_whole(self) -> bool:
        """Whether all of it can be read."""
        return not self.faults

    def entries(self) -> Iterator[IndexEntry]:
        """Read the records again, and yield their entries."""
        return (entry for each in self._packages() for entry in each.entries)

    def _packages(self) -> Iterator[Package]:
        for leaf in self._leaves(self._index.head.packages):
            for name, value in leaf.entries():
                try:
                    record = self._index.record(name, value)
                except IntegrityError as error:
                    self._note(Digest(str(value)), error)
                else:
                    self.sound.add(nodes.key(Digest(str(value))))
                    yield record

    def _leaves(self, root: Node) -> Iterator[Node]:
        return tree.sound_leaves(root, self._node, self._note)

    def _node(self, digest: Digest) -> Node:
        node = self._index.nodes.node(digest)
        self.sound.add(nodes.key(digest))
        return node

    def _note(self, digest: Digest, error: PackyardError) -> None:
        problem, key = error.problems[0], nodes.key(digest)
        fault = damaged(key, error, problem, REINDEX)
        self.faults[key] = replace(fault, kind="missing") if problem.message == nodes.MISSING else fault
