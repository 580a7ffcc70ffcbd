"""A bundle's archive: packed to the same bytes everywhere, and unpacked only after all of it was checked.

No byte of it depends on machine, time, user or version of Python:

- one top directory; every directory once, before its content; sorted by the UTF-8 bytes of the whole name;
- mode 0755 for directories and executable files, 0644 for others; owner 0 without a name; one fixed time (`tar.MTIME`);
- ustar, and gzip with an empty header. Another zlib may compress differently, so bundles are compared by their tars.

Archives are hostile input. One is expanded within `Limits`, and all its entries are checked before a file is written,
below a folder that nobody knows, which gets its name when all is there. The tar format itself is in ``tar``, the
description of the content in ``manifest``.
"""

import gzip
import io
import os
import shutil
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packyard.core.bundle import tar
from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError, refuse
from packyard.core.files import atomic, filenames

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

    It may expand to ``total_size``, if that is not more than ``ratio`` times its compressed size; up to ``small_size``
    any ratio is fine. ``packed_size`` is the most that the compressed archive may have.
    """

    entries: int = 20_000
    file_size: int = 512 * 1024 * 1024
    total_size: int = 1024 * 1024 * 1024
    small_size: int = 48 * 1024 * 1024
    ratio: int = 100
    packed_size: int = 1024 * 1024 * 1024

    def expanded(self, packed: int) -> int:
        """Return to how many bytes so many compressed ones may expand."""
        return min(self.total_size, max(self.small_size, self.ratio * packed))


LIMITS = Limits()


def pack(top: str, members: Iterable[Member]) -> bytes:
    """Return the uncompressed tar of ``members`` below the directory ``top``; their order does not matter.

    Raises `InputError`, naming every path that some system would unpack differently, and where `LIMITS` are exceeded.
    """
    files = list(members)
    file_paths = [member.path for member in files]
    refuse(_path_problems(top, file_paths))
    entries = [tar.TarEntry(name=f"{top}/{member.path}", mode=_mode(member), data=member.data) for member in files]
    folders = {top, *(str(folder) for path in file_paths for folder in PurePosixPath(top, path).parents)} - {"."}
    entries += [tar.TarEntry(name=f"{folder}/", kind=tar.DIRECTORY, mode=0o755) for folder in folders]
    size = sum(len(entry.data) + 1024 for entry in entries)
    is_large = any(len(entry.data) > LIMITS.file_size for entry in entries) or size > LIMITS.total_size - tar.RECORD
    if is_large or len(entries) > LIMITS.entries:  # as `read` would refuse it
        limits = f"{LIMITS.entries} files and folders, {LIMITS.file_size} bytes a file, or {LIMITS.total_size} in all"
        raise InputError(Problem(f"{top} would hold more than {limits}", hint="keep data out of the package"))
    return tar.write(sorted(entries, key=lambda entry: entry.name.encode()))


def compress(data: bytes) -> bytes:
    """Compress a tar by gzip, with a header that names no file, time or system.

    Raises `InputError` where it would be refused for its ratio.
    """
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(data)
    packed = buffer.getvalue()
    if len(data) > LIMITS.expanded(len(packed)):
        problem = f"the package would expand to more than {LIMITS.ratio} times its compressed size, as bombs do"
        raise InputError(Problem(problem, hint="keep generated data out of the package"))
    return packed


def decompress(data: bytes) -> bytes:
    """Return the tar inside a ``.tar.gz``; expand no more than the limit, so that a bomb does no harm."""
    allowed = LIMITS.expanded(len(data))
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        packed = stream.decompress(data, allowed + 1)
    except zlib.error as error:
        raise tar.refusal("the gzip data is damaged") from error
    if len(packed) > allowed:
        raise tar.refusal(f"the archive expands to more than {allowed} bytes")
    if not stream.eof:
        raise tar.refusal("the gzip data is truncated")
    if stream.unused_data:
        raise tar.refusal("there is data after the end of the gzip stream")
    return packed


def read(packed: bytes) -> tuple[str, list[Member]]:
    """Return the name of the top directory of a tar, and its files in the order of `pack`.

    Raises `IntegrityError` if anything in it is wrong. Empty directories are not reported.
    """
    names = _Names()
    members = []
    for entry in tar.read(packed):
        names.add(entry)
        if entry.kind == tar.FILE:
            path = entry.name.partition("/")[2]
            members.append(Member(path=path, data=entry.data, executable=bool(entry.mode & 0o100)))
    if not names.entries:
        raise tar.refusal("the archive is empty")
    return names.top, sorted(members, key=lambda member: member.path.encode())


class _Names:
    """The names of entries, each checked beside those before it."""

    def __init__(self) -> None:
        self.top = ""
        self.entries: set[str] = set()  # without a slash at the end
        self._claimed: dict[str, tuple[str, bool]] = {}  # folders without an entry of their own as well

    def add(self, entry: tar.TarEntry) -> None:
        """Take the name of an entry, or refuse it."""
        if entry.kind not in (tar.FILE, tar.DIRECTORY):
            kind = _KINDS.get(entry.kind, f"of the unknown type {entry.kind!r}")
            raise tar.refusal(f"{entry.name!r} is {kind}; only files and directories are accepted")
        if entry.kind == tar.DIRECTORY and entry.data:
            raise tar.refusal(f"the directory {entry.name!r} has contents of its own")
        if len(entry.data) > LIMITS.file_size:
            raise tar.refusal(f"{entry.name!r} is larger than {LIMITS.file_size} bytes")
        name = entry.name.removesuffix("/") if entry.kind == tar.DIRECTORY else entry.name
        if reason := filenames.fault(name):
            raise tar.refusal(f"{entry.name!r} {reason}")
        self.top = self.top or name.partition("/")[0]
        if not f"{name}/".startswith(f"{self.top}/") or (entry.kind == tar.FILE and "/" not in name):
            raise tar.refusal(f"{entry.name!r} is outside of the top directory {self.top!r}")
        if name in self.entries:
            raise tar.refusal(f"{name!r} appears twice")
        self.entries.add(name)
        spelled = f"{name}/" if entry.kind == tar.DIRECTORY else name
        if reason := filenames.claim(self._claimed, spelled):
            raise tar.refusal(f"{spelled!r} {reason}")
        if len(self._claimed) > LIMITS.entries:
            raise tar.refusal(f"the archive has more than {LIMITS.entries} entries")


def write(name: str, members: Iterable[Member], into: Path) -> Path:
    """Write checked files as one new directory in ``into``, in one step, and return it.

    Whatever is raised, nothing stays; a killed writer leaves at most what `atomic.beside` names. An existing file or
    directory of that name is left alone (`ConflictError`). Files get mode 0755 or 0644, less the umask.
    """
    target_dir = into / name
    if not into.is_dir():
        raise InputError(Problem("no such directory", file=str(into), hint="create it, or choose another"))
    if os.path.lexists(target_dir):
        raise _occupied(target_dir)
    staged_dir = Path(atomic.beside(str(target_dir)))
    try:
        staged_dir.mkdir(mode=0o755)
        for member in members:
            file = staged_dir / member.path
            file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            os.close(atomic.create(str(file), (member.data,), mode=_mode(member)))
        staged_dir.rename(target_dir)
    except BaseException as error:
        shutil.rmtree(staged_dir, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        if isinstance(error, (FileExistsError, NotADirectoryError)) or os.path.lexists(target_dir):
            raise _occupied(target_dir) from error
        raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=str(target_dir))) from error
    return target_dir


def _mode(member: Member) -> int:
    return 0o755 if member.executable else 0o644


def _path_problems(top: str, files: list[str]) -> list[Problem]:
    problems = [Problem("is not a name for a directory", file=repr(top))] if "/" in top or filenames.fault(top) else []
    for path in files:
        if reason := filenames.fault(path):
            problems.append(Problem(f"the path {path!r} {reason}"))
        elif unicodedata.normalize("NFC", path) != path:
            problems.append(Problem(f"the path {path!r} is not in Unicode normalization form C", hint="rename it"))
    problems += [Problem(f"the path {path!r} appears twice") for path, count in Counter(files).items() if count > 1]
    claimed: dict[str, tuple[str, bool]] = {}
    collisions = ((path, filenames.claim(claimed, path)) for path in files)
    problems += [Problem(f"the path {path!r} {reason}") for path, reason in collisions if reason]
    return problems


def _occupied(target_dir: Path) -> ConflictError:
    return ConflictError(Problem("exists already", file=str(target_dir), hint="move it away, or choose another folder"))
