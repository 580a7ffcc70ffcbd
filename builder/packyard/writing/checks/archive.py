"""What is wrong with an archive, NAME.tar.gz, whoever made it: how it unpacks, how it was packed, and what it holds.

It is read within the limits of a bundle, and its sound files are unpacked where nobody looks, for `folder` to read.
"""

from __future__ import annotations

import gzip
import io
import posixpath
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packyard.core.bundle.archive import LIMITS, Content, Expanded, write_all
from packyard.core.errors import IntegrityError
from packyard.core.files import filenames, regular
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.node import Source
from packyard.writing.checks import folder
from packyard.writing.checks.finding import Finding, Place, breach
from packyard.writing.checks.folder import Linted

_CLUTTER = re.compile(
    r"(^|/)(\.tests?|\.docs|\.git|\.gitignore|\.github|\.svn|\.DS_Store|__pycache__|\.idea|\.vscode|node_modules|\.cache)"
    r"(/|\Z)|\.(pyc|swp|orig|rej)\Z|~\Z"
)
_TEXT = 8 << 20  # bytes: no manifest and no page is larger
#: A file of a bundle has one of these.
_MODES = (0o644, 0o755)


def lint(file: Path, *, judges: Sequence[Judge]) -> Linted:
    """Return what is wrong with an archive and with the folder in it."""
    name = str(file)
    place = Source(name, ""), 0
    data = regular.read(file, limit=LIMITS.packed_size)
    findings: list[Finding] = []
    contents: dict[str, Content] = {}
    try:
        stream = io.BufferedReader(_Stream(Expanded(io.BytesIO(data), len(data))))
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            findings += _members(archive, place, contents)
    except (tarfile.TarError, IntegrityError, gzip.BadGzipFile, EOFError) as fault:
        text = fault.problems[0].message if isinstance(fault, IntegrityError) else str(fault) or "it is truncated"
        return Linted([breach("unreadable", place, f"the archive cannot be read: {text}")], [])
    tops = {path.partition("/")[0] for path in contents}
    if len(tops) != 1:
        message = f"the archive has {len(tops)} directories and files at its top: they get mixed with others"
        findings.append(breach("unsafe-archive", place, message, "pack one directory"))
    if data[4:8] != bytes(4):
        message = "the gzip header holds the time of packing: the same files give other bytes each time"
        findings.append(breach("archive-differs", place, message, "gzip -n"))
    with tempfile.TemporaryDirectory() as scratch:
        files = (Content(path, each.executable, each.pieces) for path, each in contents.items())
        unpacked = write_all("archive", files, Path(scratch))
        linted = folder.lint(Tree(unpacked), judges=judges, is_closed=True)
        inside = f"{unpacked}/"
        findings += [replace(each, file=f"{name}/{each.file.removeprefix(inside)}") for each in linted.findings]
    return Linted(findings, linted.use_cases)


class _Stream(io.RawIOBase):
    """Bytes that are expanded as they are read."""

    def __init__(self, expanded: Expanded) -> None:
        self._expanded = expanded

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # a buffer, for which typing has a name since 3.12
        piece = self._expanded.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def _members(archive: tarfile.TarFile, place: Place, contents: dict[str, Content]) -> Iterator[Finding]:
    """Find what is wrong with the members, and keep the sound files; of each kind of fault the first is named."""
    kinds: set[str] = set()
    claims: dict[str, tuple[str, bool]] = {}
    times: set[float] = set()
    before = ""
    for count, member in enumerate(archive):
        path = member.name.removeprefix("./").rstrip("/")
        fault = _fault(member, path, claims) if path else ""
        if count >= LIMITS.entries:
            yield breach("unsafe-archive", place, f"the archive has more than {LIMITS.entries} entries")
            return
        if fault:
            yield breach("unsafe-archive", place, f"{member.name!r} {fault}", "leave it out")
            continue
        times.add(member.mtime)
        named = f"{path}/" if member.isdir() else path
        for rule, message, hint in _packed(member, named, times, before):
            if message.partition(":")[0] not in kinds:
                kinds.add(message.partition(":")[0])
                yield breach(rule, place, message, hint)
        before = named
        if member.isfile() and member.size <= _TEXT:
            stream = archive.extractfile(member)
            contents[path] = Content(path, bool(member.mode & 0o100), (stream.read() if stream else b"",))
        elif member.isfile():
            contents[path] = Content(path, False, (b"",))  # is there, for those who refer to it


def _fault(member: tarfile.TarInfo, path: str, claims: dict[str, tuple[str, bool]]) -> str:
    """Return why an entry must not be unpacked."""
    if member.name.startswith("/") or ".." in posixpath.normpath(path).split("/"):
        return "leads out of the directory that it is unpacked in"
    if not (member.isfile() or member.isdir()):
        return "is a link or a device: only files and directories are the same everywhere"
    if member.mode & 0o6000:
        return "has the mode of another user (setuid)"
    if _CLUTTER.search(path):
        return ""
    return filenames.fault(path) or filenames.claim(claims, f"{path}/" if member.isdir() else path) or ""


def _packed(member: tarfile.TarInfo, path: str, times: set[float], before: str) -> Iterator[tuple[str, str, str]]:
    """Yield what shows where and when an entry was packed, and what is no part of a package."""
    hint = "tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0"
    if member.uid or member.gid or member.uname not in ("", "root") or member.gname not in ("", "root"):
        message = f"the archive names the user who packed it: {path!r} belongs to {member.uname or member.uid}"
        yield "archive-differs", message, hint
    if len(times) > 1:
        yield "archive-differs", "the archive has the times of its files: who packs them again gets other bytes", hint
    if before and path.encode() < before.encode() and path.split("/") < before.split("/"):
        yield "archive-differs", f"the archive is not sorted: {path!r} comes after {before!r}", hint
    if member.mode & 0o777 not in _MODES:
        message = f"an entry has an odd mode: {path!r} has {member.mode & 0o777:04o}"
        yield "archive-differs", message, "0644, and 0755 for directories and programs"
    if _CLUTTER.search(path):
        yield "shipped-clutter", f"the archive ships what its users do not need: {path!r}", "leave it out"
