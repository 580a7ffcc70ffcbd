"""The record of a package: its versions, the oldest first, and which of them are yanked or removed, and why.

{"apiVersion": "packyard/v1", "kind": "Package", "name": "bert", "versions":
    {"1.0": {"tar": "sha256:…", "digest": "sha256:…", "size": 1234, "yanked": "diverges", …}, "1.1": {…}}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, map_of
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.sharing.entry import IndexEntry

KIND = "Package"
_NAMED = 5  # versions in a message
_RAISE = "a version that was removed is never published again: raise the version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The versions of a name, the oldest first; those that were removed are among them."""

    name: str
    versions: tuple[IndexEntry, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, digest: Digest, *, file: str) -> Package:
        """Read a record that has this digest, or raise `IntegrityError`."""
        digest.verify(data, what=file)
        return record.parse(data, cls._read, kind=KIND, file=file)

    @classmethod
    def _read(cls, fields: Record) -> Package:
        name = fields.take("name", record.checked(reference.check_name))

        def entries(value: object) -> Mapping[str, IndexEntry]:
            own = map_of(lambda entry: Record(entry).rest())(value)
            named = {version: {**entry, "name": name, "version": version} for version, entry in own.items()}
            return map_of(IndexEntry.parse)(named)

        versions = fields.take("versions", entries)
        if not versions:
            raise FaultError("expected one or more", "versions")
        return cls(name=name, versions=_in_order(versions.values()), extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the record."""
        versions = {entry.version: entry.document() for entry in self.versions}
        for document in versions.values():
            del document["name"], document["version"]
        fields = {"apiVersion": record.API_VERSION, "kind": KIND, "name": self.name, "versions": versions}
        return record.to_line({**fields, **self.extra})

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """The versions that are there."""
        return tuple(entry for entry in self.versions if not entry.removed)

    @property
    def removed(self) -> tuple[IndexEntry, ...]:
        """The versions that were removed."""
        return tuple(entry for entry in self.versions if entry.removed)

    @property
    def latest(self) -> IndexEntry | None:
        """The highest version that is not a pre-release, or the highest if all are; yanked ones do not count."""
        offered = [entry for entry in self.entries if not entry.yanked]
        return max(offered, key=lambda entry: reference.newest(entry.version), default=None)

    @property
    def leading(self) -> IndexEntry:
        """The version that says what the package is: the latest, or the last one where none is offered."""
        return self.latest or self.versions[-1]

    def find(self, version: str) -> IndexEntry | None:
        """Return the entry of a version, in any spelling; build metadata (``+…``) must match if it is given."""
        for same in (str.__eq__, reference.same):
            for entry in self.entries:
                if same(version, entry.version):
                    return entry
        return None

    def get(self, version: str) -> IndexEntry:
        """Return what `find` finds, or raise `InputError` with the versions that are there."""
        entry = self.find(version)
        if entry is None:
            gone = (why_gone(each) for each in self.removed if reference.same(version, each.version))
            problem = next(gone, f"the channel has no version {version!r} of {self.name}")
            raise InputError(Problem(problem, hint=f"it has {self.last_versions()}"))
        return entry

    def last_versions(self) -> str:
        """Return the last few versions, the newest first, for a message."""
        return ", ".join(entry.version for entry in reversed(self.entries[-_NAMED:])) or "no other version"

    def is_gone(self, version: str) -> bool:
        """Return whether a version was removed, in whatever spelling."""
        return any(reference.identity(each.version) == reference.identity(version) for each in self.removed)

    def add(self, entry: IndexEntry) -> Package:
        """Return the package with one more version, or the same; a `ConflictError` says what is in the way."""
        identity = reference.identity(entry.version)
        known = [each for each in self.versions if reference.identity(each.version) == identity]
        if not known:
            return replace(self, versions=_in_order([*self.versions, entry]))
        present = next((each for each in known if each.version == entry.version), known[0])
        if present.removed:
            raise ConflictError(Problem(why_gone(present), hint=_RAISE))
        if not present.is_same_file(entry):
            raise ConflictError(_conflict(present, entry))
        return self

    def put(self, entry: IndexEntry) -> Package:
        """Return the package with an entry in place of the one of its version."""
        return replace(self, versions=tuple(entry if each.version == entry.version else each for each in self.versions))


def why_gone(entry: IndexEntry) -> str:
    """Say that a version was removed, and why."""
    return f"{entry} was removed: {entry.removed}"


def _in_order(entries: Iterable[IndexEntry]) -> tuple[IndexEntry, ...]:
    return tuple(sorted(entries, key=lambda each: reference.order(each.version)))


def _conflict(present: IndexEntry, entry: IndexEntry) -> Problem:
    if present.version != entry.version:
        return Problem(
            f"{entry} is published as {present}: one version has one spelling in a channel",
            hint=f"publish as {present.version}, or raise the version",
        )
    if present.tar != entry.tar:
        return Problem(
            f"{present} has other content already: its tar is {present.tar}, the new one {entry.tar}",
            hint="a published version never changes: raise the version",
        )
    return Problem(
        f"{present} is listed as {present.digest}, the file is {entry.digest}: the same tar, compressed differently",
        hint="publish the file that is listed",
    )
