"""A sorted map from text to JSON values, kept in small immutable nodes that are named by their digests.

The entries of a level are cut into nodes by content (`Shape`): a node ends after an entry whose key has a digest that
is 0 modulo a number, or that fills the node. Each node is an entry of the level above: its last key, with its digest.
The lowest level that fits into one node is the root, which its owner keeps.

    root      {"level": 1, "entries": {"gpt": "sha256:12…", "zoo": "sha256:9a…"}}
    its node  {"level": 0, "entries": {"bert": …, "gpt": …}}

So equal maps have equal nodes, in whatever order their entries came, and a change rewrites about one node per level.
Nodes may come from anywhere: whatever is read is checked against what refers to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from json import JSONEncoder

from packyard.core.bundle import record
from packyard.core.bundle.record import Record
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Where nodes end: ``full`` bytes of entries fill one, and it has at least ``least``; see ``boundary`` above."""

    full: int
    least: int
    boundary: int


#: Nodes that are read to find one key, and larger ones that are read all.
SMALL = Shape(full=20 * 1024, least=0, boundary=128)
LARGE = Shape(full=64 * 1024, least=52 * 1024, boundary=16)
#: Bytes of one entry, and so of a node's file.
_ENTRY = 32 * 1024
LIMIT = LARGE.full + _ENTRY + 1024
_LEVELS = 32  # a node has at least two entries, so that a map of this many levels has billions

Entry = tuple[str, object]

_json = JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Some entries of a level, in order. Above level 0, the values are the digests of nodes."""

    level: int = 0
    keys: tuple[str, ...] = ()
    values: tuple[object, ...] = ()

    @classmethod
    def of(cls, level: int, entries: Iterable[Entry]) -> Node:
        """Return the node of entries that are in order."""
        pairs = tuple(entries)
        return cls(level=level, keys=tuple(key for key, _ in pairs), values=tuple(value for _, value in pairs))

    @classmethod
    def parse(cls, data: bytes, digest: Digest) -> Node:
        """Read the file of a node, or raise `IntegrityError`."""
        digest.verify(data, what="a node of the index")
        return record.parse(data, cls._take, kind="IndexNode", file=f"node {digest}")

    @classmethod
    def read(cls, value: object) -> Node:
        """Read a node from its JSON."""
        return cls._take(Record(value))

    @classmethod
    def _take(cls, fields: Record) -> Node:
        level = fields.take("level", record.size)
        if level >= _LEVELS:
            raise record.FaultError(f"expected fewer than {_LEVELS} levels", "level")
        entries = fields.take("entries", record.map_of(record.digest if level else _any))
        keys = tuple(entries)
        if any(key >= following for key, following in zip(("", *keys), keys, strict=False)):
            raise record.FaultError("the keys are not in order", "entries")
        return cls(level=level, keys=keys, values=tuple(entries.values()))

    def document(self) -> dict[str, object]:
        """Return the JSON that `read` reads."""
        return {"level": self.level, "entries": dict(self.entries())}

    def to_bytes(self) -> bytes:
        """Return the node's file: a line for each entry."""
        lines = ",\n".join(_line(*entry) for entry in self.entries())
        head = f'{{"apiVersion":"{record.API_VERSION}","kind":"IndexNode","level":{self.level},"entries":{{'
        return f"{head}\n{lines}\n}}}}\n".encode()

    def entries(self) -> Iterator[Entry]:
        """Return the keys with their values."""
        return zip(self.keys, self.values, strict=True)


#: How nodes are read by their digests, and kept to be read; each node that is read is checked by `Node.parse`.
Read = Callable[[Digest], Node]
#: How many nodes are read, several at a time, in the order of their digests.
ReadEach = Callable[[Iterable[Digest]], Iterator[Node]]
Keep = Callable[[Node], Digest]


def get(root: Node, key: str, read: Read) -> object | None:
    """Return the value of a key, or None where it is missing."""
    node, after = root, ""
    while True:
        place = bisect_left(node.keys, key)
        if place == len(node.keys):
            return None
        if not node.level:
            return node.values[place] if node.keys[place] == key else None
        node, after = child(node, place, after, read), node.keys[place - 1] if place else after


def scan(root: Node, read: Read, prefix: str = "") -> Iterator[Entry]:
    """Yield, in order, the entries whose keys begin with ``prefix``; nodes are read as they are needed."""
    for key, value in _entries(root, prefix, "", read):
        if not key.startswith(prefix):
            return
        yield key, value


def _entries(node: Node, start: str, after: str, read: Read, level: int = 0) -> Iterator[Entry]:
    """Yield the entries of a level from a key on."""
    for place in range(bisect_left(node.keys, start), len(node.keys)):
        if node.level > level:
            below = child(node, place, after, read)
            yield from _entries(below, start, node.keys[place - 1] if place else after, read, level)
        else:
            yield node.keys[place], node.values[place]


def leaves(root: Node, read_each: ReadEach, after: str = "") -> Iterator[Node]:
    """Yield the nodes of the lowest level, in order, read several at a time."""
    if not root.level:
        yield root
        return
    digests = (Digest(str(value)) for value in root.values)
    for place, node in enumerate(read_each(digests)):
        _check_child(root, place, after, node)
        yield from leaves(node, read_each, root.keys[place - 1] if place else after)


def sound_leaves(root: Node, read: Read, refused: Callable[[Digest, IntegrityError], object]) -> Iterator[Node]:
    """Yield those nodes of the lowest level that can be read, in order; ``refused`` is told of a node that cannot."""
    if not root.level:
        yield root
    for place, value in enumerate(root.values if root.level else ()):
        try:
            node = child(root, place, "", read)
        except IntegrityError as error:
            refused(Digest(str(value)), error)
        else:
            yield from sound_leaves(node, read, refused)


def reach(root: Node, read: Read, is_known: Callable[[Digest], bool]) -> Iterator[Digest]:
    """Yield the digests of all nodes below a root, but for those that are known, and what is below them."""
    for value in root.values if root.level else ():
        digest = Digest(str(value))
        if not is_known(digest):
            yield digest
            if root.level > 1:
                yield from reach(read(digest), read, is_known)


class Builder:
    """Makes a map of entries that come in order, and holds few of them in memory; `end` returns its root."""

    def __init__(self, keep: Keep, shape: Shape = SMALL, level: int = 0) -> None:
        self._level = level
        self._keep = keep
        self._shape = shape
        self._last = ""
        self._waiting: list[Entry] = []
        self._size = 0
        self._cutter = _Cutter(level, keep, shape)
        self._above: Builder | None = None  # there as soon as a level has too many entries for one node

    def add(self, key: str, value: object) -> None:
        """Take the next entry."""
        if key <= self._last:
            raise ValueError(f"{key!r} comes after {self._last!r}")
        self._last = key
        self._waiting.append((key, value))
        if self._above is None:
            self._size += _size((key, value))
            if self._size <= self._shape.full:
                return
            self._above = Builder(self._keep, self._shape, self._level + 1)
        for entry in self._waiting:
            if of_node := self._cutter.add(*entry):
                self._above.add(*of_node)
        self._waiting.clear()

    def end(self) -> Node:
        """Return the root."""
        if self._above is None:
            return Node.of(self._level, self._waiting)
        for entry in self._cutter.end():
            self._above.add(*entry)
        return self._above.end()


def build(entries: Iterable[Entry], keep: Keep, shape: Shape = SMALL) -> Node:
    """Return the root of a map; its entries come in order, and are not held in memory."""
    builder = Builder(keep, shape)
    for key, value in entries:
        builder.add(key, value)
    return builder.end()


def update(root: Node, changes: Mapping[str, object | None], read: Read, keep: Keep, shape: Shape = SMALL) -> Node:
    """Return the root of the map with other values; None removes a key. ``read`` also reads what was kept."""
    for level in range(root.level):
        changes = _rewrite(root, level, changes, read, keep, shape)
    top = Builder(keep, shape, root.level)
    for key, value in sorted(_changed(dict(root.entries()), changes).items()):
        top.add(key, value)
    return _lowest(top.end(), read, shape)


def _changed(entries: dict[str, object], changes: Mapping[str, object | None]) -> dict[str, object]:
    """Return entries after changes, in any order."""
    return {key: value for key, value in {**entries, **changes}.items() if value is not None}


def _rewrite(
    root: Node, level: int, changes: Mapping[str, object | None], read: Read, keep: Keep, shape: Shape
) -> dict[str, object | None]:
    """Change entries of a level below the root; return what this changes on the level above.

    How a node is cut depends on nothing before it. So what is rewritten begins with a node that has a change, and ends
    where an old and a new node end together.
    """
    above: dict[str, object | None] = {}
    keys, start = sorted(changes), 0
    while start < len(keys):
        cutter, key = _Cutter(level, keep, shape), keys[start]
        while True:
            node, is_last = _find(root, level, key, read)
            above[node.keys[-1]] = None
            end = len(keys) if is_last else bisect_left(keys, _after(node.keys[-1]), start)
            entries = _changed(dict(node.entries()), {key: changes[key] for key in keys[start:end]})
            above.update(filter(None, (cutter.add(*entry) for entry in sorted(entries.items()))))
            start, key = end, _after(node.keys[-1])
            if is_last or cutter.is_between:
                break
        above.update(cutter.end())
    return above


def _after(key: str) -> str:
    """Return the least text that is greater."""
    return key + "\0"


def _find(root: Node, level: int, key: str, read: Read) -> tuple[Node, bool]:
    """Return the node of a level that has, or would have, a key; and whether it is the level's last node."""
    node, after, is_last = root, "", True
    while node.level > level:
        place = min(bisect_left(node.keys, key), len(node.keys) - 1)
        is_last = is_last and place == len(node.keys) - 1
        node, after = child(node, place, after, read), node.keys[place - 1] if place else after
    return node, is_last


def _lowest(root: Node, read: Read, shape: Shape) -> Node:
    """Return the lowest level that fits into one node; one above may not, if its keys are long."""
    for level in range(root.level):
        entries: list[Entry] = []
        size = 0
        for entry in _entries(root, "", "", read, level):
            size += _size(entry)
            if size > shape.full:
                break
            entries.append(entry)
        else:
            return Node.of(level, entries)
    return root


def child(node: Node, place: int, after: str, read: Read) -> Node:
    """Read a node, and check that it is what its entry says; its keys come after ``after``, or the entry before."""
    below = read(Digest(str(node.values[place])))
    _check_child(node, place, after, below)
    return below


def _check_child(node: Node, place: int, after: str, below: Node) -> None:
    low, high = node.keys[place - 1] if place else after, node.keys[place]
    if below.level != node.level - 1 or not below.keys or below.keys[0] <= low or below.keys[-1] != high:
        problem = f"expected level {node.level - 1} up to {high[:80]!r}: this node belongs elsewhere"
        raise IntegrityError(Problem(problem, file=f"node {node.values[place]}"))


class _Cutter:
    """Cuts the entries of a level into nodes, and returns each node's entry for the level above."""

    def __init__(self, level: int, keep: Keep, shape: Shape) -> None:
        self._level = level
        self._keep = keep
        self._shape = shape
        self._entries: list[Entry] = []
        self._size = 0

    @property
    def is_between(self) -> bool:
        """Whether the last node has ended, and the next one has not begun."""
        return not self._entries

    def add(self, key: str, value: object) -> Entry | None:
        """Add an entry; return the entry of the node that ends with it."""
        self._entries.append((key, value))
        self._size += _size((key, value))
        shape, may_end = self._shape, len(self._entries) > 1 and self._size >= self._shape.least
        is_end = self._size >= shape.full or (may_end and _is_boundary(self._level, key, shape))
        return self._cut() if is_end else None

    def end(self) -> list[Entry]:
        """Return the entry of the last node, if there is one."""
        return [self._cut()] if self._entries else []

    def _cut(self) -> Entry:
        node = Node.of(self._level, self._entries)
        self._entries, self._size = [], 0
        return node.keys[-1], self._keep(node)


def _is_boundary(level: int, key: str, shape: Shape) -> bool:
    return sha256(f"{level} {key}".encode()).digest()[-1] % shape.boundary == 0


def _line(key: str, value: object) -> str:
    return f"{_json(key)}:{_json(value)}"


def _size(entry: Entry) -> int:
    """Return the bytes of an entry; refuse one that is too large."""
    size = len(_line(*entry).encode()) + 2
    if size > _ENTRY:
        raise InputError(f"{entry[0][:80]!r} takes {size} bytes in the index: at most {_ENTRY} are possible")
    return size


def _any(value: object) -> object:
    return value
