"""A bundle in memory, built from a package's files or opened from bytes; either way its content is verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.bundle import archive, manifest, reference
from packyard.bundle.archive import Member
from packyard.bundle.manifest import Manifest
from packyard.digest import Digest
from packyard.errors import InputError, IntegrityError, Problem


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
    def open(cls, data: bytes, *, what: str = "") -> Bundle:
        """Read a ``.tar.gz`` and verify every file against its manifest, or raise `IntegrityError`.

        Messages call it ``what``. Nothing is written.
        """
        try:
            return cls._read(archive.decompress(data), data)
        except IntegrityError as error:
            raise IntegrityError(*(_placed(problem, what) for problem in error.problems)) from error

    @classmethod
    def _read(cls, tar: bytes, data: bytes) -> Bundle:
        top, members = archive.read_tar(tar)
        found = [member.data for member in members if member.path == manifest.FILE]
        if not found:
            raise IntegrityError(Problem(f"has no {manifest.FILE}", hint="is this a bundle?"))
        opened = Manifest.parse(found[0])
        opened.verify(members)
        if opened.name != top:
            raise IntegrityError(f"the top directory is {top!r}, the name in {manifest.FILE} {opened.name!r}")
        return cls(manifest=opened, members=tuple(members), tar=Digest.of(tar), data=data)

    def unpack(self, into: Path) -> Path:
        """Unpack as one new directory in ``into``, in one step, and return it; see `archive.write`."""
        return archive.write(self.manifest.name, self.members, into)


def build(described: Manifest, members: Iterable[Member]) -> Bundle:
    """Pack files with a manifest, which gets their digests. The same arguments give the same tar on every machine."""
    reference.check_name(described.name)
    reference.check_version(described.version)
    files = list(members)
    if any(member.path == manifest.FILE for member in files):
        raise InputError(Problem(f"{manifest.FILE} is written by packyard", hint="rename the package's own file"))
    described = replace(described, files=manifest.file_digests(files))
    tar = archive.pack(described.name, [*files, Member(path=manifest.FILE, data=described.to_bytes())])
    return Bundle._read(tar, archive.compress(tar))


def _placed(problem: Problem, what: str) -> Problem:
    file = f"{what}/{problem.file}" if what and problem.file else what or problem.file
    return Problem(problem.message, file=file, line=problem.line, column=problem.column, hint=problem.hint)
