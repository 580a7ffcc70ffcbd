"""The record of a package: its versions, the oldest first, which of them are yanked or removed, and why; choosing one.

{"apiVersion": "packyard/v1", "kind": "Package", "name": "bert", "versions":
    {"1.0": {"tar": "sha256:…", "digest": "sha256:…", "size": 1234, "yanked": "diverges", …}, "1.1": {…}}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, map_of, object_of
from packyard.core.bundle.reference import LATEST, Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.sharing.entry import IndexEntry

KIND = "Package"
_NAMED = 5  # versions in a message
_RAISE = "a version that was removed is never published again: raise the version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The versions of a name; those that were removed are among them.

    ``versions`` may be read one by one, as they are asked for: what a registry has under a tag is known only then, and
    may be nothing.
    """

    name: str
    versions: Mapping[str, IndexEntry] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, digest: Digest, *, file: str) -> Package:
        """Read a record that has this digest, or raise `IntegrityError`."""
        digest.verify(data, what=file)
        return record.parse(data, cls._read, kind=KIND, file=file)

    @classmethod
    def _read(cls, fields: Record) -> Package:
        name, listed = (
            fields.take("name", record.checked(reference.check_name)),
            fields.take("versions", map_of(Record)),
        )
        named = {version: {**entry.rest(), "name": name, "version": version} for version, entry in listed.items()}
        versions = Record({"versions": named}).take("versions", map_of(object_of(IndexEntry)))
        if not versions:
            raise FaultError("expected one or more", "versions")
        return cls(name=name, versions=versions, extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the record."""
        versions = {entry.version: entry.document() for entry in self.every}
        for document in versions.values():
            del document["name"], document["version"]
        fields = {"apiVersion": record.API_VERSION, "kind": KIND, "name": self.name, "versions": versions}
        return record.to_line({**fields, **self.extra})

    @property
    def every(self) -> tuple[IndexEntry, ...]:
        """The versions, the oldest first."""
        return tuple(sorted(self.versions.values(), key=lambda version: reference.order(version.version)))

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """The versions that are there, the oldest first."""
        return tuple(entry for entry in self.every if not entry.removed)

    @property
    def removed(self) -> tuple[IndexEntry, ...]:
        """The versions that were removed, the oldest first."""
        return tuple(entry for entry in self.every if entry.removed)

    @property
    def latest(self) -> IndexEntry | None:
        """The highest version that is not a pre-release, or the highest if all are; yanked ones do not count."""
        return next((entry for entry in self.newest() if not entry.yanked), None)

    def newest(self, admits: Callable[[str], bool] = lambda _: True) -> Iterator[IndexEntry]:
        """Yield the versions that are there, and admitted: the highest first, every pre-release behind all others."""
        admitted = sorted(filter(admits, self.versions), key=reference.newest, reverse=True)
        return (entry for version in admitted if (entry := self.versions.get(version)) and not entry.removed)

    @property
    def leading(self) -> IndexEntry:
        """The version that says what the package is: the latest, or the last one where none is offered."""
        return self.latest or self.every[-1]

    def get(self, version: str) -> IndexEntry:
        """Return the entry of a version, or raise `InputError` with the versions that are there."""
        entry = self.versions.get(version)
        if entry is None or entry.removed:
            problem = why_gone(entry) if entry else f"the channel has no version {version!r} of {self.name}"
            raise InputError(Problem(problem, hint=f"it has {self.last_versions()}"))
        return entry

    def last_versions(self) -> str:
        """Return the last few versions, the newest first, for a message."""
        return ", ".join(entry.version for entry in reversed(self.entries[-_NAMED:])) or "no other version"

    def is_new(self, entry: IndexEntry) -> bool:
        """Return whether a version is not there yet; a `ConflictError` says what is in the way."""
        identity = reference.identity(entry.version)
        same = [version for version in self.versions if reference.identity(version) == identity]
        present = next(filter(None, map(self.versions.get, sorted(same, key=entry.version.__ne__))), None)
        if present is None:
            return True
        if present.removed:
            raise ConflictError(Problem(why_gone(present), hint=_RAISE))
        if not present.is_same_file(entry):
            raise ConflictError(_conflict(present, entry))
        return False

    def put(self, entry: IndexEntry) -> Package:
        """Return the package with an entry, in place of the one of its version if there is one."""
        return replace(self, versions={**self.versions, entry.version: entry})


#: Of a name that is in no channel.
NO_VERSIONS = Package(name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A published bundle, and why it was chosen."""

    entry: IndexEntry
    why: str


def choose(package: Package, wanted: Reference) -> Choice:
    """Choose what is asked for, or raise `InputError`, naming what there is.

    Without a version, and as ``latest``, it is the highest that is not a pre-release, or the highest if all are. One
    that is yanked is chosen only if its version is asked for.
    """
    if wanted.version is not None:
        return Choice(entry=package.get(wanted.version), why="the version that was asked for")
    yanked = list[IndexEntry]()
    for entry in package.newest(wanted.admits):
        if not entry.yanked:
            return Choice(entry=entry, why=_why(wanted, package, entry, yanked))
        yanked.append(entry)
    raise InputError(_nothing(package, wanted, yanked))


def _nothing(package: Package, wanted: Reference, yanked: Sequence[IndexEntry]) -> Problem:
    if yanked:
        last = max(yanked, key=lambda entry: reference.order(entry.version))
        problem = f"every version of {wanted} is yanked: {last.version}: {last.yanked}"
        return Problem(problem, hint=f"to get one all the same, ask for it: {last}")
    if not package.entries:
        return Problem(f"every version of {package.name} was removed; the last: {why_gone(package.removed[-1])}")
    return Problem(f"no version of {package.name} is in {wanted.choice}", hint=f"it has {package.last_versions()}")


def _why(wanted: Reference, package: Package, entry: IndexEntry, yanked: Sequence[IndexEntry]) -> str:
    is_range = wanted.choice not in ("", LATEST)
    count = sum(map(wanted.admits, package.versions))
    why = f"the highest of {count} in {wanted.choice}" if is_range else "the latest version"
    if yanked:
        why += f"; {yanked[0].version} is yanked: {yanked[0].yanked}"
    elif not is_range and any(reference.order(each) > reference.order(entry.version) for each in package.versions):
        why += " that is not a pre-release"
    return why


def why_gone(entry: IndexEntry) -> str:
    """Say that a version was removed, and why."""
    return f"{entry} was removed: {entry.removed}"


def other_content(entry: IndexEntry, tar: Digest, new: Digest) -> Problem:
    """Say that a version is published with another tar than the new one."""
    problem = f"{entry} is published with other content: its tar is {tar}, the new one {new}"
    return Problem(problem, hint="a published version never changes: raise the version")


def _conflict(present: IndexEntry, entry: IndexEntry) -> Problem:
    if present.version != entry.version:
        return Problem(
            f"{entry} is published as {present}: one version has one spelling in a channel",
            hint=f"publish as {present.version}, or raise the version",
        )
    if present.tar != entry.tar:
        return other_content(present, present.tar, entry.tar)
    return Problem(
        f"{present} is listed as {present.digest}, the file is {entry.digest}: the same tar, compressed differently",
        hint="publish the file that is listed",
    )
