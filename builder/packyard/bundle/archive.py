"""A bundle's archive: packed to the same bytes everywhere, and unpacked only after all of it was checked.

No byte of it depends on machine, time, user or version of Python:

- one top directory; every directory once, before its content; sorted by the UTF-8 bytes of the whole name;
- mode 0755 for directories and executable files, 0644 for others; owner 0 without a name; one fixed time (`tar.MTIME`);
- ustar, and gzip with an empty header. Another zlib may compress differently, so bundles are compared by their tars.

Archives are hostile input: one is expanded in memory within `Limits`, checked as a whole, and only then written. The
tar format itself is in ``tar``, the description of the content in ``manifest``.
"""

from __future__ import annotations

import gzip
import io
import os
import unicodedata
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packyard.bundle import tar
from packyard.errors import ConflictError, InputError, Problem, UnavailableError, refuse
from packyard.files import atomic, filenames

_KINDS = {"1": "a hard link", "2": "a symbolic link", "3": "a device", "4": "a device", "6": "a named pipe"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file of an archive; its path is relative to the top directory."""

    path: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of an archive: number of files and folders, bytes of a file, bytes of the expanded archive.

    The expanded archive is in memory twice while it is read.
    """

    entries: int = 5_000
    file_size: int = 16 * 1024 * 1024
    total_size: int = 48 * 1024 * 1024


LIMITS = Limits()


def pack(top: str, members: Iterable[Member]) -> bytes:
    """Return the uncompressed tar of ``members`` below the directory ``top``; their order does not matter.

    Raises `InputError`, naming every path that some system would unpack differently, and where `LIMITS` are exceeded.
    """
    files = list(members)
    file_paths = [member.path for member in files]
    refuse(_path_problems(top, file_paths) or _size_problems(top, files))
    entries = [_entry(top, member) for member in files]
    entries += [tar.TarEntry(name=f"{name}/", kind=tar.DIRECTORY, mode=0o755) for name in _directories(top, file_paths)]
    return tar.write(sorted(entries, key=lambda entry: entry.name.encode()))


def compress(data: bytes) -> bytes:
    """Compress a tar by gzip, with a header that names no file, time or system."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(data)
    return buffer.getvalue()


def decompress(data: bytes, *, limits: Limits = LIMITS) -> bytes:
    """Return the tar inside a ``.tar.gz``; expand no more than the limit, so that a bomb does no harm."""
    return inflate(data, limits=limits, wbits=zlib.MAX_WBITS | 16)


def inflate(data: bytes, *, limits: Limits = LIMITS, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Return what zlib compressed, within the limit."""
    stream = zlib.decompressobj(wbits=wbits)
    try:
        expanded = stream.decompress(data, limits.total_size + 1)
    except zlib.error as error:
        raise tar.refusal("the gzip data is damaged") from error
    if len(expanded) > limits.total_size:
        raise tar.refusal(f"the archive expands to more than {limits.total_size} bytes")
    if not stream.eof:
        raise tar.refusal("the gzip data is truncated")
    if stream.unused_data:
        raise tar.refusal("there is data after the end of the gzip stream")
    return expanded


def read(data: bytes, *, top: str | None = None, limits: Limits = LIMITS) -> list[Member]:
    """Return the files of a ``.tar.gz`` in the order of `pack`, or raise `IntegrityError` if anything in it is wrong.

    ``top`` is the required name of the top directory. Empty directories are not reported.
    """
    return read_tar(decompress(data, limits=limits), top=top, limits=limits)[1]


def read_tar(data: bytes, *, top: str | None = None, limits: Limits = LIMITS) -> tuple[str, list[Member]]:
    """Return the top directory's name and the files of an uncompressed tar, checked as `read` does."""
    entries = []
    known: set[str] = set()  # folders without an entry of their own as well
    for entry in tar.read(data):
        _check_entry(entry, limits)
        entries.append(entry)
        name = _name(entry)
        while name and name not in known:
            known.add(name)
            name = name.rpartition("/")[0]
        if max(len(known), len(entries)) > limits.entries:
            raise tar.refusal(f"the archive has more than {limits.entries} entries")
    found = _check_names(entries, top)
    files = (entry for entry in entries if entry.kind == tar.FILE)
    members = [
        Member(path=entry.name.partition("/")[2], data=entry.data, executable=bool(entry.mode & 0o100))
        for entry in sorted(files, key=lambda entry: entry.name.encode())
    ]
    return found, members


def write(name: str, members: Iterable[Member], into: Path) -> Path:
    """Write checked files as one new directory in ``into``, in one step (`atomic.write_folder`), and return it.

    An existing file or directory of that name is left alone (`ConflictError`). Files get mode 0755 or 0644, less the
    umask.
    """
    target_dir = into / name
    if not into.is_dir():
        raise InputError(Problem("no such directory", file=str(into), hint="create it, or choose another"))
    if os.path.lexists(target_dir):
        raise _occupied(target_dir)
    files = ((member.path, member.data, _mode(member)) for member in members)
    try:
        atomic.write_folder(str(target_dir), files)
    except OSError as error:
        if isinstance(error, (FileExistsError, NotADirectoryError)) or os.path.lexists(target_dir):
            raise _occupied(target_dir) from error
        raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=str(target_dir))) from error
    return target_dir


def _size_problems(top: str, files: list[Member]) -> list[Problem]:
    """Return what `read` would refuse because of its size."""
    problems = [
        Problem(f"{member.path!r} is larger than {LIMITS.file_size} bytes, the limit for a file of a package")
        for member in files
        if len(member.data) > LIMITS.file_size
    ]
    count = len(files) + len(_directories(top, (member.path for member in files)))
    size = sum(len(member.data) for member in files) + count * 1024
    if count > LIMITS.entries or size > LIMITS.total_size - tar.RECORD:
        message = (
            f"{top} would hold more than {LIMITS.entries} files and folders, or more than {LIMITS.total_size} bytes"
        )
        problems.append(Problem(message, hint="keep data out of the package"))
    return problems


def _entry(top: str, member: Member) -> tar.TarEntry:
    return tar.TarEntry(name=f"{top}/{member.path}", mode=_mode(member), data=member.data)


def _mode(member: Member) -> int:
    return 0o755 if member.executable else 0o644


def _directories(top: str, files: Iterable[str]) -> set[str]:
    names = {top}
    for path in files:
        parts = path.split("/")[:-1]
        names.update("/".join([top, *parts[:length]]) for length in range(1, len(parts) + 1))
    return names


def _path_problems(top: str, files: list[str]) -> list[Problem]:
    problems = [Problem("is not a name for a directory", file=repr(top))] if "/" in top or filenames.fault(top) else []
    for path in files:
        if reason := filenames.fault(path):
            problems.append(Problem(f"the path {path!r} {reason}"))
        elif unicodedata.normalize("NFC", path) != path:
            problems.append(Problem(f"the path {path!r} is not in Unicode normalization form C", hint="rename it"))
    problems += [Problem(f"the path {path!r} appears twice") for path in filenames.repeated(files)]
    problems += [Problem(f"the path {path!r} {reason}") for path, reason in filenames.collisions(files)]
    return problems


def _check_entry(entry: tar.TarEntry, limits: Limits) -> None:
    if entry.kind not in (tar.FILE, tar.DIRECTORY):
        kind = _KINDS.get(entry.kind, f"of the unknown type {entry.kind!r}")
        raise tar.refusal(f"{entry.name!r} is {kind}; only files and directories are accepted")
    if entry.kind == tar.DIRECTORY and entry.data:
        raise tar.refusal(f"the directory {entry.name!r} has contents of its own")
    if len(entry.data) > limits.file_size:
        raise tar.refusal(f"{entry.name!r} is larger than {limits.file_size} bytes")
    if reason := filenames.fault(_name(entry)):
        raise tar.refusal(f"{entry.name!r} {reason}")


def _check_names(entries: list[tar.TarEntry], top: str | None) -> str:
    """Check all names together, and return the name of the top directory."""
    if not entries:
        raise tar.refusal("the archive is empty")
    tops = {_name(entry).partition("/")[0] for entry in entries}
    expected = min(tops) if top is None else top
    for entry in entries:
        if not f"{_name(entry)}/".startswith(f"{expected}/") or (entry.kind == tar.FILE and "/" not in entry.name):
            raise tar.refusal(f"{entry.name!r} is outside of the top directory {expected!r}")
    for name in filenames.repeated(_name(entry) for entry in entries):
        raise tar.refusal(f"{name!r} appears twice")
    spelled = (f"{_name(entry)}/" if entry.kind == tar.DIRECTORY else entry.name for entry in entries)
    for name, reason in filenames.collisions(spelled):
        raise tar.refusal(f"{name!r} {reason}")
    return expected


def _name(entry: tar.TarEntry) -> str:
    return entry.name.removesuffix("/") if entry.kind == tar.DIRECTORY else entry.name


def _occupied(target_dir: Path) -> ConflictError:
    return ConflictError(Problem("exists already", file=str(target_dir), hint="move it away, or unpack elsewhere"))
