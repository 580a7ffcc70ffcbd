"""The record of a package in an index: all its published versions.

What the latest version says of itself stands once for the package; a version lists what it says otherwise.

    {"apiVersion": "packyard/v1", "kind": "IndexPackage", "name": "bert", "latest": "1.1",
     "model": {"framework": "pytorch"}, "description": "…", "useCases": ["single-node"],
     "versions": [{"version": "1.0", "tar": "sha256:…", "digest": "sha256:…", "size": 1234, "yanked": "diverges"},
                  {"version": "1.1", "tar": "sha256:…", "digest": "sha256:…", "size": 1250}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.removed import RAISE, Removed

_NAMED = 5  # versions in a message
_SHARED = ("useCases", "model", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The versions of a name, the oldest first, and those that were removed."""

    #: The size of the largest record, in bytes: thousands of versions.
    LIMIT: ClassVar = 4 * 1024 * 1024

    name: str
    entries: tuple[IndexEntry, ...] = ()
    removed: tuple[Removed, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, digest: Digest) -> Package:
        """Read a record, or raise `IntegrityError`; what `to_bytes` wrote keeps its bytes, unknown fields included."""
        digest.verify(data, what="a record of the index")
        return record.parse(data, cls._read, kind="IndexPackage", file=f"record {digest}")

    @classmethod
    def _read(cls, fields: Record) -> Package:
        name = fields.take("name", record.text)
        shared = {key: fields.take(key, lambda value: value) for key in _SHARED if key in fields}
        fields.take("latest", record.text, "")  # for other readers: it follows from the versions

        def entry(value: object) -> IndexEntry:
            return IndexEntry.parse({**shared, **Record(value).rest(), "name": name})

        entries = sorted(fields.take("versions", record.list_of(entry)), key=lambda each: reference.order(each.version))
        none: tuple[Removed, ...] = ()
        removed = fields.take("removed", record.list_of(Removed.parse), none)
        versions = [*(each.version for each in entries), *(each.version for each in removed)]
        if len({*versions}) != len(versions) or not versions:
            raise FaultError("expected one or more versions, each once", "versions")
        if any(each.name != name for each in removed):
            raise FaultError(f"expected versions of {name}", "removed")
        return cls(name=name, entries=tuple(entries), removed=removed, extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the record's bytes, the same in whatever order its entries came."""
        leading = self._leading()
        document = leading.document() if leading else {}
        shared = {key: document[key] for key in _SHARED if key in document}
        versions = [_own(entry.document(), shared) for entry in self.entries]
        latest = {"latest": self.latest.version} if self.latest else {}
        fields = {"apiVersion": record.API_VERSION, "kind": "IndexPackage", "name": self.name, **latest, **shared}
        removed = {"removed": record.document(self.removed)} if self.removed else {}
        return record.to_lines({**fields, **self.extra, "versions": versions, **removed}, levels={})

    @property
    def latest(self) -> IndexEntry | None:
        """The highest version that is not a pre-release, or the highest if all are; yanked ones do not count."""
        offered = [entry for entry in self.entries if not entry.yanked]
        return max(offered, key=lambda entry: reference.newest(entry.version), default=None)

    def _leading(self) -> IndexEntry | None:
        return self.latest or (self.entries[-1] if self.entries else None)

    @property
    def kind(self) -> str:
        """Library for one, else empty."""
        return leading.kind if (leading := self._leading()) else ""

    @property
    def description(self) -> str:
        """What the package says of itself."""
        return leading.description if (leading := self._leading()) else ""

    def find(self, version: str) -> IndexEntry | None:
        """Return the entry of a version, in any spelling; build metadata (``+…``) must match if it is given."""
        for same in (str.__eq__, reference.same):
            for entry in self.entries:
                if same(version, entry.version):
                    return entry
        return None

    def get(self, version: str) -> IndexEntry:
        """Return what `find` finds, or raise `InputError` with the versions that there are."""
        entry = self.find(version)
        if entry is None:
            gone = (str(each) for each in self.removed if reference.same(version, each.version))
            problem = next(gone, f"the channel has no version {version!r} of {self.name}")
            raise InputError(Problem(problem, hint=f"it has {self.last_versions()}"))
        return entry

    def gone(self, version: str) -> Removed | None:
        """Return what says that a version was removed, in whatever spelling."""
        identity = reference.identity(version)
        return next((each for each in self.removed if reference.identity(each.version) == identity), None)

    def last_versions(self) -> str:
        """Return the last few versions, the newest first, for a message."""
        return ", ".join(entry.version for entry in reversed(self.entries[-_NAMED:])) or "no other version"

    def add(self, entry: IndexEntry) -> Package:
        """Return the package with one more version, or the same; a `ConflictError` says what is in the way."""
        for present in self.entries:
            if present.version == entry.version:
                break
        else:
            identity = reference.identity(entry.version)
            others = (each for each in self.entries if reference.identity(each.version) == identity)
            other = next(others, None)
            if other is None:
                if gone := self.gone(entry.version):
                    raise ConflictError(Problem(str(gone), hint=RAISE))
                entries = sorted((*self.entries, entry), key=lambda each: reference.order(each.version))
                return replace(self, entries=tuple(entries))
            present = other
        if not present.is_same_file(entry):
            raise ConflictError(_conflict(present, entry))
        return self

    def remove(self, gone: Removed) -> Package:
        """Return the package without a version, which says that it was removed."""
        entries = tuple(each for each in self.entries if each.version != gone.version)
        removed = {each.version: each for each in (gone, *self.removed)}
        in_order = sorted(removed.values(), key=lambda each: reference.order(each.version))
        return replace(self, entries=entries, removed=tuple(in_order))

    def put(self, entry: IndexEntry) -> Package:
        """Return the package with an entry in place of the one of its version."""
        return replace(self, entries=tuple(entry if each.version == entry.version else each for each in self.entries))


def _own(document: dict[str, object], shared: Mapping[str, object]) -> dict[str, object]:
    """Return what an entry does not share with its package."""
    left_out = {"name": document["name"], "yanked": "", **shared}
    return {key: value for key, value in document.items() if key not in left_out or value != left_out[key]}


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
