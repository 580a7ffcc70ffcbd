"""The index: what a channel says that it holds. docs/channel-format.md has the format.

    index/index.json              the one file that is replaced: the channel's id, a number that grows by one with each
                                  change, and what is listed of each package; or, from some hundreds of them, of shards
    index/<digest>.json           a shard: what is listed of the packages whose names have hashes that begin alike
    index/p/<name>/<digest>.json  the record of a package (`package`)

Shards and records never change, and have the digests of their bytes in their names; so whoever signs index.json vouches
for all of them. `Index` is a value: `add`, `put` and `close` return another one, which `access` makes the channel's.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from shlex import quote
from typing import TypeVar

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, flag, in_json, list_of, map_of, object_of, size, text
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, absent, refuse
from packyard.core.work import parallel
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.package import Package, Summary
from packyard.sharing.stores.store import FOLDER, NotFoundError, Store, TooLongError, pointing_to_fsck
from packyard.sharing.trust import envelope, provenance
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import NOBODY, Trust

KEY = f"{FOLDER}index.json"
#: What the channel's server was found to keep of many that write at once.
MANY, ONE = "many", "one"
MOST = 256  # packages of a shard
_KIND, _SHARD = "Index", "Shard"
_PREDICATE = "urn:packyard:index:v1"
_NEAR = 16  # shards to look for the nearest name

_T = TypeVar("_T")

_ID = re.compile(r"[0-9a-f]{32}")
_PREFIX = re.compile(r"[01]{1,255}")


def sealed(payload: bytes, by: Signing | None) -> bytes:
    """Return the file of an index: a signed statement about it, or it as it is."""
    if by is None:
        return payload
    subject = {"name": KEY, "digest": {"sha256": Digest.of(payload).hex}}
    fields = {"_type": provenance.STATEMENT, "subject": [subject], "predicateType": _PREDICATE}
    return envelope.sign(record.to_line({**fields, "predicate": json.loads(payload)}), by)


def _predicate(fields: Record) -> bytes:
    """Return the index that a statement is about; one about a bundle is none."""
    if fields.take("predicateType", text) != _PREDICATE:
        raise FaultError(f"must be {_PREDICATE}", "predicateType")
    return record.to_line(fields.take("predicate", Record).rest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The bundles of one version: a closed one gets no more. ``shards`` are those of ``of`` that are published."""

    closed: bool = field(default=False, metadata=in_json(flag, False))
    of: int = field(default=0, metadata=in_json(size, 0))
    shards: tuple[int, ...] = field(default=(), metadata=in_json(list_of(size), ()))
    extra: Mapping[str, object] = field(default_factory=dict)


_OPEN = Release()
_RELEASES = map_of(object_of(Release))


def _check_id(channel: str) -> None:
    if not _ID.fullmatch(channel):
        raise InputError(f"{channel[:80]!r} is not the id of a channel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What a channel lists. Below 256 packages there are no ``shards``, by their prefixes, but ``listed`` packages.

    ``data`` is the file that was read, ``signers`` and ``claimants`` say who signed it (`Opened`). ``files`` are the
    new shards and records, which are written before the index that names them.
    """

    channel: str = field(default="", metadata=in_json(record.checked(_check_id)))
    number: int = field(default=0, metadata=in_json(size))
    listed: Mapping[str, Summary] = field(default_factory=dict)
    shards: Mapping[str, Digest] = field(default_factory=dict, metadata=in_json(map_of(record.digest), {}))
    releases: Mapping[str, Release] = field(default_factory=dict, metadata=in_json(_RELEASES, {}, always=True))
    writers: str = field(default=MANY, metadata=in_json(text))
    extra: Mapping[str, object] = field(default_factory=dict)
    store: Store | None = field(default=None, compare=False)
    data: bytes = field(default=b"", compare=False)
    signers: tuple[str, ...] = field(default=(), compare=False)
    claimants: tuple[str, ...] = field(default=(), compare=False)
    files: Mapping[str, bytes] = field(default_factory=dict, compare=False)
    _parts: dict[str, Mapping[str, Summary]] = field(default_factory=dict, compare=False)
    _records: dict[str, Package] = field(default_factory=dict, compare=False)

    @classmethod
    def parse(cls, data: bytes, store: Store | None, trusted: Trust = NOBODY, *, file: str = "") -> "Index":
        """Read index.json, or raise `IntegrityError`."""
        file = file or (f"{store.address.rstrip('/')}/{KEY}" if store else KEY)
        content = envelope.open(data, trusted, file=file)
        payload = record.parse_any(content.payload, _predicate, file=file) if content.is_signed else content.payload
        index = record.parse(payload, cls._read, kind=_KIND, file=file)
        return replace(index, store=store, data=data, signers=content.signers, claimants=content.claimants)

    @classmethod
    def _read(cls, fields: Record) -> "Index":
        listed: Mapping[str, Summary] = fields.take("packages", _summaries, {})
        index = replace(fields.take_all(cls), listed=listed)
        if not index.number:
            raise FaultError("expected 1 or more", "number")
        if not all(map(_PREFIX.fullmatch, index.shards)) or (index.shards and index.listed):
            raise FaultError("expected the digests of shards by the beginnings of hashes", "shards")
        return index

    def payload(self) -> bytes:
        """Return what is signed of index.json."""
        packages = {} if self.shards else {"packages": _documents(self.listed)}
        return record.to_line({"apiVersion": record.API_VERSION, "kind": _KIND, **record.document(self), **packages})

    @property
    def is_signed(self) -> bool:
        """Whether anybody signed it."""
        return bool(self.signers or self.claimants)

    # Reading.

    def summaries(self) -> Iterator[Summary]:
        """Yield what `packyard list` prints of each package, sorted by name, and then of each library."""
        return iter(sorted((row for row in self.rows() if row.version), key=lambda row: (row.kind, row.name)))

    def rows(self) -> Iterator[Summary]:
        """Yield what is listed of every package, in no order; several shards are read at a time."""
        parts = parallel.stream(self.shard, self.shards) if self.shards else [self.listed]
        return (row for part in parts for row in part.values())

    def packages(self) -> Iterator[Package]:
        """Yield every package, in no order; several records are read at a time."""
        return parallel.stream(self.record, self.rows())

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """Every version that is there, sorted by name and version."""
        every = (entry for package in self.packages() for entry in package.entries)
        return tuple(sorted(every, key=lambda entry: (entry.name, reference.order(entry.version))))

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(row.name for row in self.rows())

    def package(self, name: str) -> Package | None:
        """Return a package, or None if there is none of that name. Its record is read once."""
        row = self._part(self._prefix(name)).get(name)
        if row is None:
            return None
        key = record_key(name, row.record)
        if key not in self._records:
            self._records[key] = self.record(row)
        return self._records[key]

    def known(self, name: str) -> Package:
        """Return a package to be changed, without versions if there is none."""
        return self.package(name) or Package(name=name)

    def record(self, row: Summary) -> Package:
        """Return the record of a package that is listed."""
        key = record_key(row.name, row.record)
        package = self._read_file(key, lambda data: Package.parse(data, row.record, file=key))
        if package.name != row.name:
            raise IntegrityError(Problem(f"is the record of {package.name!r}", file=key))
        return package

    def lists(self, entry: IndexEntry) -> bool:
        """Return whether it has this very file, under this name and version."""
        listed = self.known(entry.name).versions.get(entry.version)
        return listed is not None and not listed.removed and entry.is_same_file(listed)

    def release(self, version: str) -> Release:
        """Return the release of a version, in any spelling."""
        return self.releases.get(reference.canonical(version), _OPEN)

    def named(self, name: str) -> Package:
        """Return the package of a name, or raise `InputError` with the nearest name."""
        package = self.package(name)
        if package is None:
            names = self.names() if len(self.shards) <= _NEAR else ()
            hint = f"packyard list --from {quote(self.store.address if self.store else 'CHANNEL')} shows them"
            raise InputError(absent(f"the channel has no package {name!r}", name, names, hint))
        return package

    # Changes.

    def add(self, *entries: IndexEntry) -> "Index":
        """Return the index with more versions; those that it has already change nothing.

        Raises `ConflictError`, naming every version that cannot be listed: it has other bytes already, or another
        spelling, was removed, or its release is closed.
        """
        packages: dict[str, Package] = {}
        problems: list[Problem] = []
        for entry in entries:
            package = packages.get(entry.name) or self.known(entry.name)
            try:
                if (is_new := package.is_new(entry)) and self.release(entry.version).closed:
                    problem = f"{entry}: the release {entry.version} is closed"
                    raise ConflictError(Problem(problem, hint="publish it in another release: raise the version"))
                packages[entry.name] = self._with(package, entry) if is_new else package
            except ConflictError as error:
                problems += error.problems
        refuse(problems, ConflictError)
        return self.with_packages(packages.values())

    def _with(self, package: Package, entry: IndexEntry) -> Package:
        return package.put(entry)

    def put(self, *entries: IndexEntry) -> "Index":
        """Return the index in which versions that it has are yanked, or removed."""
        packages: dict[str, Package] = {}
        for entry in entries:
            packages[entry.name] = (packages.get(entry.name) or self.named(entry.name)).put(entry)
        return self.with_packages(packages.values())

    def close(self, version: str, shard: tuple[int, int] | None = None) -> "Index":
        """Return the index in which a release is closed, or has one more of its shards, the last of which closes it."""
        place, release = reference.canonical(version), self.release(version)
        if shard is None or release.closed:
            release = Release(closed=True)
        else:
            number, of = shard
            if release.of not in (0, of):
                problem = f"the release {version} has {release.of} shards, and this is one of {of}"
                hint = f"publish --shard K/{release.of}, or all that is missing: publish --close without --shard"
                raise ConflictError(Problem(problem, hint=hint))
            shards = tuple(sorted({*release.shards, number}))
            release = Release(closed=True) if len(shards) == of else Release(of=of, shards=shards)
        return replace(self, releases={**self.releases, place: release})

    def with_packages(self, packages: Iterable[Package]) -> "Index":
        """Return the index with packages in place of those of their names."""
        files = dict(self.files)
        changed: dict[str, dict[str, Summary]] = {}
        for package in packages:
            data, prefix = package.to_bytes(), self._prefix(package.name)
            row = Summary.of(package, Digest.of(data))
            if row != self._part(prefix).get(row.name):
                files[record_key(row.name, row.record)] = data
                changed.setdefault(prefix, {})[row.name] = row
        parts: dict[str, Mapping[str, Summary]] = {}
        for prefix, rows in changed.items():
            parts |= _cut(prefix, {**self._part(prefix), **rows})
        if not self.shards and parts.keys() <= {""}:
            return replace(self, listed=parts.get("", self.listed), files=files, _parts={})
        shards = {prefix: digest for prefix, digest in self.shards.items() if prefix not in changed}
        for prefix, part in parts.items():
            data = record.to_line({"apiVersion": record.API_VERSION, "kind": _SHARD, "packages": _documents(part)})
            shards[prefix] = Digest.of(data)
            files[shard_key(shards[prefix])] = data
        return replace(self, listed={}, shards=shards, files=files, _parts=parts)

    def files_below(self) -> Iterator[str]:
        """Yield the keys of all shards and records."""
        yield from map(shard_key, self.shards.values())
        yield from (record_key(row.name, row.record) for row in self.rows())

    # Parts.

    def _prefix(self, name: str) -> str:
        """Return the prefix of the shard that has a name, or would have it; an empty one where there are no shards."""
        if not self.shards:
            return ""
        digits = _digits(name)
        prefix = next((digits[:end] for end in range(1, len(digits)) if digits[:end] in self.shards), None)
        if prefix is None:
            raise IntegrityError(Problem(f"has no shard for {name!r}", file=KEY))
        return prefix

    def _part(self, prefix: str) -> Mapping[str, Summary]:
        if not prefix:
            return self.listed
        if prefix not in self._parts:
            self._parts[prefix] = self.shard(prefix)
        return self._parts[prefix]

    def shard(self, prefix: str) -> Mapping[str, Summary]:
        """Return what a shard lists, by name."""
        digest = self.shards[prefix]
        key = shard_key(digest)

        def parse(data: bytes) -> Mapping[str, Summary]:
            digest.verify(data, what=key)
            return record.parse(data, lambda fields: fields.take("packages", _summaries), kind=_SHARD, file=key)

        return self._read_file(key, parse)

    def _read_file(self, key: str, parse: Callable[[bytes], _T]) -> _T:
        """Read a shard or a record; one that is missing, or too large, is damage."""
        if key in self.files:
            return parse(self.files[key])
        assert self.store
        with pointing_to_fsck(self.store):
            try:
                data = self.store.get(key, limit=record.LIMIT)
            except (NotFoundError, TooLongError) as error:
                problem = "is larger than a file of an index" if isinstance(error, TooLongError) else "is missing"
                raise IntegrityError(Problem(problem, file=key)) from error
            return parse(data)


def shard_key(digest: Digest) -> str:
    """Return the key of a shard."""
    return f"{FOLDER}{digest.hex}.json"


def record_key(name: str, digest: Digest) -> str:
    """Return the key of the record of a package."""
    return f"{FOLDER}p/{name}/{digest.hex}.json"


def _digits(name: str) -> str:
    """Return the hash of a name in binary digits."""
    return f"{int.from_bytes(sha256(name.encode()).digest(), 'big'):0256b}"


def _cut(prefix: str, part: Mapping[str, Summary]) -> dict[str, Mapping[str, Summary]]:
    """Cut what is too large in two, by the next digit of the hashes, until nothing is."""
    if len(part) <= MOST:
        return {prefix: part}
    halves: dict[str, dict[str, Summary]] = {prefix + "0": {}, prefix + "1": {}}
    for name, row in part.items():
        halves[_digits(name)[: len(prefix) + 1]][name] = row
    return {place: cut for half, rows in halves.items() for place, cut in _cut(half, rows).items()}


def _summaries(value: object) -> Mapping[str, Summary]:
    """Read what is listed by name."""
    rows = map_of(Record)(value)
    return map_of(object_of(Summary))({name: {**row.rest(), "name": name} for name, row in rows.items()})


def _documents(part: Mapping[str, Summary]) -> dict[str, object]:
    return {name: row.document() for name, row in part.items()}
