"""The immutable files of an index, ``index/nodes/``, by the digests of their bytes.

Those of a store are checked as they are read. New ones stay in memory until `Nodes.write` or `Nodes.flush`, which come
before the head that names them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem
from packyard.core.work import parallel
from packyard.sharing.index import tree
from packyard.sharing.index.package import Package
from packyard.sharing.index.tree import Node
from packyard.sharing.stores import put_all
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError, get_or_none, pointing_to_fsck

Item = TypeVar("Item")

FOLDER = "index/nodes/"
#: The message where a file is not there.
MISSING = "is missing"
_CACHED = 256
_AT_ONCE = 8
_TOGETHER = 5000  # some 10 MB


def key(digest: Digest) -> str:
    """Return the key of a node's file."""
    return f"{FOLDER}{digest.hex[:2]}/{digest.hex[2:]}.json"


def digest(key: str) -> Digest:
    """Return the digest that a key in the folder names."""
    return Digest("sha256:" + key.removeprefix(FOLDER).removesuffix(".json").replace("/", ""))


class Nodes:
    """The nodes of maps and the records of packages that a store has, and new ones.

    ``writes_at_once``: new ones are written a few thousand at a time, and not held in memory; where the channel has
    damaged ones, whoever writes alone puts them in their place.
    """

    def __init__(self, store: Store | None = None, *, writes_at_once: bool = False) -> None:
        self._store = store
        self._writes_at_once = writes_at_once
        self._new: dict[Digest, Node | Package] = {}
        self._waiting: dict[str, bytes] = {}
        self._read: OrderedDict[Digest, Node] = OrderedDict()

    def node(self, digest: Digest) -> Node:
        """Return a node of a map."""
        new = self._new.get(digest) or self._read.get(digest)
        if isinstance(new, Node):
            return new
        with self._telling(digest):
            node = Node.parse(self._get(digest, tree.LIMIT), digest)
        self._read[digest] = node
        if len(self._read) > _CACHED:
            self._read.popitem(last=False)
        return node

    def package(self, digest: Digest) -> Package:
        """Return the record of a package."""
        new = self._new.get(digest)
        if isinstance(new, Package):
            return new
        with self._telling(digest):
            return Package.parse(self._get(digest, Package.LIMIT), digest)

    def each(self, read: Callable[[Digest], Item], digests: Iterable[Digest]) -> Iterator[Item]:
        """Yield what ``read`` returns for each digest, in order, reading several at a time and few ahead."""
        return parallel.stream(read, digests, _AT_ONCE)

    def keep(self, item: Node | Package) -> Digest:
        """Take a new node or record, and return its digest."""
        data = item.to_bytes()
        digest = Digest.of(data)
        if self._writes_at_once and self._store is not None:
            self._waiting[key(digest)] = data
            if len(self._waiting) == _TOGETHER:
                self.flush()
        else:
            self._new[digest] = item
        return digest

    def flush(self) -> None:
        """Write what waits to be written."""
        if self._waiting and self._store is not None:
            waiting, self._waiting = self._waiting, {}
            try:
                put_all(self._store, waiting.items())
            except (ConflictError, InputError):  # a file with their names that is damaged
                for each in waiting:
                    self._remove_damaged(each)
                put_all(self._store, waiting.items())

    def write(self, maps: Iterable[Node], is_listed: Callable[[Digest, Package], bool]) -> None:
        """Write what is new below the roots of maps, and the new records that are listed there."""
        digests = [digest for root in maps for digest in self._new_below(root)]
        new = [(digest, item) for digest, item in self._new.items() if isinstance(item, Package)]
        digests += [digest for digest, package in new if is_listed(digest, package)]
        if self._store is not None:
            put_all(self._store, ((key(digest), self._new[digest].to_bytes()) for digest in digests))

    def _remove_damaged(self, name: str) -> None:
        """Remove what has the key of a node, and is another one, or no file."""
        assert self._store is not None
        try:
            data = get_or_none(self._store, name, limit=Package.LIMIT)
            is_damaged = data is not None and Digest.of(data) != digest(name)
        except (IntegrityError, TooLongError):
            is_damaged = True
        if is_damaged:
            self._store.remove(name)

    def _new_below(self, root: Node) -> Iterator[Digest]:
        return tree.reach(root, self.node, lambda digest: digest not in self._new)

    def _get(self, digest: Digest, limit: int) -> bytes:
        self.flush()
        try:
            if self._store is not None:
                return self._store.get(key(digest), limit=limit)
        except (NotFoundError, TooLongError) as error:
            problem = "is larger than a node of an index" if isinstance(error, TooLongError) else MISSING
            raise IntegrityError(Problem(problem, file=key(digest))) from error
        raise KeyError(digest)

    @contextmanager
    def _telling(self, digest: Digest) -> Iterator[None]:
        """Name the file of a node or record that is damaged, and what shows how to mend it."""
        assert self._store is not None
        with pointing_to_fsck(self._store):
            try:
                yield
            except IntegrityError as error:
                raise error.mapped(lambda each: each._replace(file=key(digest))) from error
