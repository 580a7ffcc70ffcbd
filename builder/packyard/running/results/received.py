"""Files that a pod sends, written below a folder: each whole or not at all, and none that was not asked for.

A tar from a pod is hostile as any other: a name is taken once and only if it was listed and asked for, nothing but
files, and not more bytes than the disk has room for. What is a link in the folder is not followed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.bundle import tar
from packyard.core.errors import ConflictError, PackyardError, Problem, UnavailableError
from packyard.core.files import atomic
from packyard.running.results.listing import Listed

_STAGED = ".packyard-results"
_HARD_LINK = "1"
#: Bytes that stay free on the disk.
_SPARE = 64 * 1024 * 1024
#: What the size in the header of a tar can say; larger files come by themselves.
LARGEST = 8**11 - 1


class HostileError(ConflictError):
    """The pod sends what was not asked for."""


@dataclass(slots=True)
class Folder:
    """The folder that results are copied into; ``arrived`` is told the bytes of each piece."""

    root: Path
    arrived: Callable[[int], None]
    _room: int = 0
    _made: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.root.is_symlink() or (self.root.exists() and not self.root.is_dir()):
            raise ConflictError(Problem("is no folder", file=str(self.root), hint="name another"))
        staged = self.root / _STAGED
        self._do(lambda: staged.mkdir(parents=True, exist_ok=True))
        for left in staged.iterdir():
            left.unlink()  # of a copy that was killed
        self._room = shutil.disk_usage(self.root).free - _SPARE

    def close(self) -> None:
        """Remove what is not needed any more."""
        shutil.rmtree(self.root / _STAGED, ignore_errors=True)

    def sort(self, files: Iterable[Listed]) -> tuple[list[Listed], list[Listed], list[Listed]]:
        """Return files that are to be copied, that are here already, and that somebody changed here since."""
        lacking, there, newer = list[Listed](), list[Listed](), list[Listed]()
        for listed in files:
            file = self.root / listed.path
            self._check(file)
            if not file.exists():
                lacking.append(listed)
                continue
            state = file.stat()
            is_same = (state.st_size, int(state.st_mtime)) == (listed.size, listed.changed)
            (there if is_same else newer if state.st_mtime > listed.changed + 1 else lacking).append(listed)
        return lacking, there, newer

    def check_room(self, files: Iterable[Listed]) -> None:
        """Refuse what the disk has no room for."""
        needed = sum(each.size for each in files)
        if needed > self._room:
            raise self._full(f"{needed / 1e9:.1f} GB are to be copied, and {max(self._room, 0) / 1e9:.1f} GB are free")

    def take(self, source: tar.ByteSource, wanted: Mapping[str, Listed], done: Callable[[Listed], None]) -> None:
        """Write the files of a tar, and tell each that is whole; raise `HostileError` for anything else in it."""
        left = dict(wanted)
        for entry in tar.read(source):
            listed = left.pop(entry.name.removeprefix("./"), None)
            if entry.kind == _HARD_LINK and listed:
                continue  # to one that was sent: it is sent by itself
            if entry.kind != tar.FILE or listed is None:
                raise HostileError(Problem(f"the pod sends {entry.name[:200]!r}, which is no file that was asked for"))
            self.write(listed, entry.content, entry.size)
            done(listed)

    def write(self, listed: Listed, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in one step, with the time of its last change."""
        file = self.root / listed.path
        if size > self._room:
            raise self._full(f"{listed.path} has {size} bytes")
        self._check(file)
        self._do(lambda: self._written(file, listed, pieces))

    def _written(self, file: Path, listed: Listed, pieces: Iterable[bytes]) -> None:
        if file.parent not in self._made:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(file.parent)
        staged = self.root / _STAGED / os.urandom(8).hex()
        handle = atomic.create(str(staged), mode=0o644)
        try:
            for piece in pieces:
                self._room -= len(piece)
                if self._room < 0:
                    raise self._full(f"{listed.path} grows while it is copied")
                atomic.write_all(handle, piece)
                self.arrived(len(piece))
            os.utime(handle, (listed.changed, listed.changed))
            staged.replace(file)
        finally:
            os.close(handle)
            staged.unlink(missing_ok=True)

    def _check(self, file: Path) -> None:
        """Refuse what is a link here, or no file."""
        inside = [file, *file.parents][: len(file.relative_to(self.root).parts)]
        if linked := next((each for each in inside if each.is_symlink()), None):
            raise ConflictError(
                Problem("is a link, which is not followed", file=str(linked), hint="name another folder")
            )
        if file.exists() and not file.is_file():
            raise ConflictError(Problem("is no file, and the run has one of this name", file=str(file)))

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full("no space is left") from error
            raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=str(self.root))) from error

    def _full(self, why: str) -> PackyardError:
        hint = "what is whole stays; make room, and type the command again: it goes on"
        return UnavailableError(Problem(why, file=str(self.root), hint=hint))


def names(files: Sequence[Listed]) -> bytes:
    """Return the list of names that the pod reads; a dot ends it."""
    return b"".join(b"./" + each.path.encode("utf-8", "surrogateescape") + b"\n" for each in files) + b".\n"
