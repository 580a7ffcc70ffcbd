"""A bundle: built from a package's files, read into memory, or unpacked from its file; its content is verified."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from packyard.core.bundle import archive, manifest, reference
from packyard.core.bundle.archive import Content, Expanded, Files, Member
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
    def open(cls, data: bytes, *, what: str = "") -> Bundle:
        """Read a ``.tar.gz`` and verify every file against its manifest, or raise `IntegrityError`.

        Messages call it ``what``. Nothing is written.
        """
        with _placed(what):
            reading = _Reading(io.BytesIO(data), len(data))
            members = archive.members(reading)
            return cls(manifest=reading.manifest(), members=tuple(members), tar=reading.tar, data=data)

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

    def unpack(self, into: Path, receipt: bytes | None = None) -> Path:
        """Unpack as one new directory in ``into``, in one step, and return it; see `archive.write`."""
        extra = () if receipt is None else (Member(path=RECEIPT, data=receipt),)
        return archive.write(self.manifest.name, (*self.members, *extra), into)


def unpack(
    file: BinaryIO,
    into: Path,
    *,
    name: str,
    what: str,
    check: Callable[[Manifest, Digest], object] = lambda *_: None,
    receipt: bytes | None = None,
) -> Path:
    """Unpack a ``.tar.gz``, from its beginning, as the new directory ``name`` in ``into``, in one step; return it.

    Every file is verified against the manifest; then ``check`` gets the manifest and the digest of the tar, and
    whatever it raises, nothing is unpacked. Messages call the file ``what``. It is not held in memory. ``receipt``
    is a file beside those of the bundle.
    """
    with _placed(what):
        reading = _Reading(file, file.seek(0, io.SEEK_END), top=name)
        file.seek(0)

        def files() -> Iterator[Content]:
            yield from reading
            check(reading.manifest(), reading.tar)
            if receipt is not None:
                yield Content(path=RECEIPT, executable=False, pieces=(receipt,))

        return archive.write_all(name, files(), into)


def inspect(file: BinaryIO, *, what: str) -> tuple[Manifest, Digest]:
    """Verify a ``.tar.gz`` as `unpack` does, and return the manifest and the digest of the tar. Nothing is written."""
    with _placed(what):
        reading = _read_all(file)
        return reading.manifest(), reading.tar


def _read_all(file: BinaryIO) -> _Reading:
    reading = _Reading(file, file.seek(0, io.SEEK_END))
    file.seek(0)
    for content in reading:
        for _ in content.pieces:
            pass
    return reading


def build(described: Manifest, members: Iterable[Member]) -> Bundle:
    """Pack files with a manifest, which gets their digests. The same arguments give the same tar on every machine."""
    return Bundle.open(archive.compress(pack(described, members)))


def pack(described: Manifest, members: Iterable[Member]) -> bytes:
    """Return the tar of a bundle."""
    reference.check_name(described.name)
    reference.check_version(described.version)
    files = list(members)
    if any(member.path == manifest.FILE for member in files):
        raise InputError(Problem(f"{manifest.FILE} is written by packyard", hint="rename the package's own file"))
    described = replace(described, files=manifest.file_digests(files))
    return archive.pack(described.name, [*files, Member(path=manifest.FILE, data=described.to_bytes())])


class _Reading:
    """The files of a ``.tar.gz``, whose digests are taken as they are read."""

    def __init__(self, source: BinaryIO, size: int, *, top: str | None = None) -> None:
        if size > archive.LIMITS.packed_size:
            raise IntegrityError(f"is larger than {archive.LIMITS.packed_size} bytes")
        self._expanded = Expanded(source, size)
        self._files = Files(self._expanded, top)
        self.found: dict[str, tuple[Digest, bool]] = {}
        self._manifest: bytes | None = None

    def __iter__(self) -> Iterator[Content]:
        for each in self._files:
            yield each._replace(pieces=self._hashed(each))

    @property
    def tar(self) -> Digest:
        """The digest of the tar, once all files were read."""
        return self._expanded.digest

    def manifest(self) -> Manifest:
        """Return the manifest, once all files were read, if they are those that it names."""
        if self._manifest is None:
            raise IntegrityError(Problem(f"has no {manifest.FILE}", hint="is this a bundle?"))
        opened = Manifest.parse(self._manifest)
        opened.compare({path: digest for path, (digest, _) in self.found.items()})
        if opened.name != self._files.top:
            problem = f"the top directory is {self._files.top!r}, the name in {manifest.FILE} {opened.name!r}"
            raise IntegrityError(problem)
        return opened

    def _hashed(self, content: Content) -> Iterator[bytes]:
        hasher, data = hashlib.sha256(), b""
        for piece in content.pieces:
            hasher.update(piece)
            if content.path == manifest.FILE:
                data += piece
                if len(data) > manifest.LIMIT:
                    raise IntegrityError(Problem(f"is larger than {manifest.LIMIT} bytes", file=manifest.FILE))
            yield piece
        self.found[content.path] = Digest(f"sha256:{hasher.hexdigest()}"), content.executable
        if content.path == manifest.FILE:
            self._manifest = data


@contextmanager
def _placed(what: str) -> Iterator[None]:
    """Let problems say in which bundle they are."""
    try:
        yield
    except IntegrityError as error:
        raise IntegrityError(*(_inside(problem, what) for problem in error.problems)) from error


def _inside(problem: Problem, what: str) -> Problem:
    file = f"{what}/{problem.file}" if what and problem.file else what or problem.file
    return Problem(problem.message, file=file, line=problem.line, column=problem.column, hint=problem.hint)
