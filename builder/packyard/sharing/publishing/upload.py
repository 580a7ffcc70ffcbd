"""One bundle on its way into a channel: the objects that it becomes, which of them are there, and writing the rest.

<version>/<name>.tar.gz                the bundle
<version>/<name>.tar.gz.sha256         its checksum, for ``sha256sum -c``
<version>/<name>.tar.gz.….json         what is known of it: its provenance, its SBOM
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import archive
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, Problem
from packyard.core.files import regular
from packyard.sharing import checksum
from packyard.sharing.entry import CHECKSUM, PROVENANCE, IndexEntry
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import Trust

#: Returns what is known of a published file: objects by their keys, in the order of their writing.
Attest = Callable[[IndexEntry], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A bundle that is to be published. A file is not opened if it is described already; its digest is checked."""

    entry: IndexEntry
    file: Path | Bundle

    @classmethod
    def of(cls, bundle: Bundle | Path | Packed) -> Packed:
        """Describe a bundle."""
        if isinstance(bundle, Packed):
            return bundle
        if isinstance(bundle, Bundle):
            return cls(entry=IndexEntry.of(bundle), file=bundle)
        opened = Bundle.open(regular.read(bundle, limit=archive.LIMITS.packed_size), what=bundle.name)
        return cls(entry=IndexEntry.of(opened), file=bundle)

    def data(self) -> bytes:
        """Return the bytes of the bundle, which for a file are read only now."""
        if isinstance(self.file, Bundle):
            return self.file.data
        data = regular.read(self.file, limit=archive.LIMITS.packed_size)
        self.entry.verify(data)
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One bundle and the objects that the channel has of it; ``entry`` describes the published file, now or later."""

    packed: Packed
    entry: IndexEntry
    present: frozenset[str]

    @classmethod
    def of(cls, store: Store, packed: Packed, present: frozenset[str]) -> Upload:
        """Compare a bundle with what is published; ``present`` are the keys that there are below its version."""
        entry = packed.entry
        if entry.key in present:
            entry = _published(store, entry)
        if (key := entry.beside(CHECKSUM)) in present:
            _check_checksum(entry, store.get(key, limit=checksum.LIMIT))
        return cls(packed=packed, entry=entry, present=present)

    @property
    def has_bundle(self) -> bool:
        """Whether the bundle itself is there."""
        return self.entry.key in self.present

    def write(self, store: Store, attest: Attest) -> tuple[IndexEntry, bool]:
        """Write what is missing; return the entry of the file that is there then, and whether anything was."""
        entry = self.entry
        attested = attest(entry)
        if not self.has_bundle:
            try:
                store.put(entry.key, self.packed.data())
            except ConflictError:  # another publisher was faster, maybe with the same tar
                entry = _published(store, entry)
                attested = attest(entry)
        line = (entry.beside(CHECKSUM), checksum.line(entry))
        missing = [(key, data) for key, data in (line, *attested.items()) if key not in self.present]
        for key, data in missing:
            try:
                store.put(key, data)
            except ConflictError:  # what another publisher says of it stays
                if key == line[0]:
                    raise
        return entry, bool(missing) or not self.has_bundle

    def check_provenance(self, store: Store, entry: IndexEntry, attest: Attest, trusted: Trust) -> None:
        """Refuse to list a bundle beside which somebody put provenance that users would refuse."""
        key = entry.beside(PROVENANCE)
        if key not in self.present:
            return
        there = provenance.get(store, entry.name, entry.version)
        if there != attest(entry).get(key):
            hint = "somebody else put it there: raise the version, or remove that file and run again"
            _check(there, entry, trusted, hint)


def _check(data: bytes | None, entry: IndexEntry, trusted: Trust, hint: str) -> None:
    """Do what `provenance.check` does, with a hint for who publishes."""
    try:
        provenance.check(data, entry, trusted)
    except IntegrityError as error:
        problems = (Problem(each.message, file=each.file, hint=hint) for each in error.problems)
        raise IntegrityError(*problems) from error


def _published(store: Store, entry: IndexEntry) -> IndexEntry:
    """Describe the file that is published under a bundle's key; it must have the same tar."""
    limit = max(regular.LIMIT, 2 * entry.size)  # the most that the same tar has, compressed by others
    published = store.get(entry.key, limit=limit)
    try:
        tar = Digest.of(archive.decompress(published))
    except IntegrityError as error:
        raise IntegrityError(Problem(f"the published file is damaged: {error}", file=entry.key)) from error
    if tar != entry.tar:
        problem = f"is published with other content: its tar is {tar}, the new one {entry.tar}"
        hint = "a published version never changes: raise the version"
        raise ConflictError(Problem(problem, file=entry.key, hint=hint))
    return replace(entry, digest=Digest.of(published), size=len(published))


def _check_checksum(entry: IndexEntry, data: bytes) -> None:
    key = entry.beside(CHECKSUM)
    listed = checksum.parse(data, what=key)
    if listed != entry.digest:
        raise IntegrityError(Problem(f"belongs to another file: it has {listed}, the file is {entry.digest}", file=key))
