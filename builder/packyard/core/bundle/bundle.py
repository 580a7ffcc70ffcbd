"""A bundle: built from a package's files, or read into memory; its content is verified."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import archive, manifest, reference
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.core.files.paths import RECEIPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A ``.tar.gz`` (``data``) and its content. `build` and `Bundle.open` make and verify it.

    ``tar`` is the digest of the uncompressed tar: the bundle's identity, however it was compressed.
    """

    manifest: Manifest
    members: tuple[Member, ...]
    tar: Digest
    data: bytes

    @classmethod
    def open(cls, data: bytes, *, what: str = "") -> "Bundle":
        """Read a ``.tar.gz`` and verify every file against its manifest, or raise `IntegrityError`.

        Messages call it ``what``. Nothing is written.
        """
        try:
            return cls._verified(data)
        except IntegrityError as error:
            raise error.mapped(lambda problem: _inside(problem, what)) from error

    @classmethod
    def _verified(cls, data: bytes) -> "Bundle":
        if len(data) > archive.LIMITS.packed_size:
            raise IntegrityError(f"is larger than {archive.LIMITS.packed_size} bytes")
        packed = archive.decompress(data)
        top, members = archive.read(packed)
        described = next((member.data for member in members if member.path == manifest.FILE), None)
        if described is None:
            raise IntegrityError(Problem(f"has no {manifest.FILE}", hint="is this the tarball of a package?"))
        opened = Manifest.parse(described)
        opened.compare(manifest.file_digests(members))
        if opened.name != top:
            raise IntegrityError(f"the top directory is {top!r}, the name in {manifest.FILE} {opened.name!r}")
        return cls(manifest=opened, members=tuple(members), tar=Digest.of(packed), data=data)

    @property
    def name(self) -> str:
        """The package's name."""
        return self.manifest.name

    @property
    def version(self) -> str:
        """The package's version."""
        return self.manifest.version

    @property
    def digest(self) -> Digest:
        """The digest of the ``.tar.gz``."""
        return Digest.of(self.data)

    @property
    def files(self) -> dict[str, bytes]:
        """The files by their paths."""
        return {member.path: member.data for member in self.members}

    def unpack(self, into: Path, receipt: bytes | None = None) -> Path:
        """Unpack as one new directory in ``into``, in one step, and return it; see `archive.write`."""
        extra = () if receipt is None else (Member(path=RECEIPT, data=receipt),)
        return archive.write(self.manifest.name, (*self.members, *extra), into)


def build(described: Manifest, members: Iterable[Member]) -> Bundle:
    """Pack files with a manifest, which gets their digests. The same arguments give the same tar on every machine."""
    reference.check_name(described.name)
    reference.check_version(described.version)
    files = list(members)
    if any(member.path == manifest.FILE for member in files):
        raise InputError(Problem(f"{manifest.FILE} is written by packyard", hint="rename the package's own file"))
    described = replace(described, files=manifest.file_digests(files))
    packed = archive.pack(described.name, [*files, Member(path=manifest.FILE, data=described.to_bytes())])
    return Bundle.open(archive.compress(packed))


def _inside(problem: Problem, what: str) -> Problem:
    """Let a problem say in which bundle it is."""
    return problem._replace(file="/".join(filter(None, (what, problem.file))))
