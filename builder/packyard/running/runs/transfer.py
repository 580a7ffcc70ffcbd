"""Files that tar sends from a pod, written below a folder: each whole or not at all.

A tar from a pod is hostile as any other: nothing is written but files, by names that stay inside and that any system
can hold; links are neither written nor followed, and what is here already stays as it is.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarFile, TarInfo
from typing import IO, NamedTuple

from packyard.core.errors import ConflictError, Problem, UnavailableError
from packyard.core.files import atomic, filenames
from packyard.running.runs import kubectl as clients
from packyard.running.runs.kubectl import Kubectl

#: The file that is being written; one of a copy that was killed is written anew.
_PART = ".packyard-results"
_PIECE = 1 << 18
#: Signs that this system's files may have in their names, and a package must not.
_SIGNS = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
_AGAIN = "what is whole stays; type the command again to go on"
_DIFFERS = "differs from what is here, which stays: remove that, or name another folder"


class Sent(NamedTuple):
    """A file of a pod: written here, or the same as one that was here, or with a ``fault`` for which it is not."""

    name: str
    size: int = 0
    is_written: bool = False
    fault: str = ""


def copy(kubectl: Kubectl, pod: str, container: str, directory: str, to: Path) -> Iterator[Sent]:
    """Copy a directory of a pod into a folder, and yield each of its files; the directory where tar complains of it."""
    words = ("exec", pod, f"--container={container}", "--", "tar", "-cf", "-", "-C", directory, ".")
    if to.is_symlink() or (to.exists() and not to.is_dir()):
        raise ConflictError(Problem("is no folder", file=str(to), hint="name another"))
    cut, code = "", 0
    with tempfile.TemporaryFile() as stderr, kubectl.start(*words, stderr=stderr) as process:
        assert process.stdout
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                yield from (_take(archive, member, to) for member in archive if not member.isdir())
            if any(piece.strip(b"\0") for piece in _pieces(process.stdout)):
                raise tarfile.ReadError("it is damaged")  # which is taken for its end
            code = process.wait()
        except tarfile.TarError as error:
            cut = str(error)
        except OSError as error:
            raise UnavailableError(
                Problem(f"cannot be written: {error.strerror}", file=str(to), hint=_AGAIN)
            ) from error
        finally:
            process.kill()
        stderr.seek(0)
        said = clients.without_log(stderr.read())
    if cut:
        raise UnavailableError(Problem(f"no whole tar of {directory} came: {said or cut}", hint=_AGAIN))
    if code:
        yield Sent(directory, fault=said)


def _take(archive: TarFile, member: TarInfo, to: Path) -> Sent:
    name, content = member.name.removeprefix("./"), archive.extractfile(member) if member.isfile() else None
    file = to / name
    if content is None:
        return Sent(name, fault="is a link or a device")
    if fault := filenames.fault(name.translate(_SIGNS)):
        return Sent(name, fault=fault)
    if file.is_symlink() or not file.parent.resolve().is_relative_to(to.resolve()):
        return Sent(name, fault="would be written through a link")
    if file.exists():
        return Sent(name, fault="" if file.is_file() and _is_equal(content, file) else _DIFFERS)
    _write(content, file, to / _PART)
    return Sent(name, member.size, is_written=True)


def _pieces(content: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: content.read(_PIECE), b"")


def _is_equal(content: IO[bytes], file: Path) -> bool:
    """Say whether a file that is here has the bytes of one that comes."""
    with file.open("rb") as opened:
        return all(opened.read(len(piece)) == piece for piece in _pieces(content)) and not opened.read(1)


def _write(content: IO[bytes], file: Path, part: Path) -> None:
    """Write a file in one step."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    os.close(atomic.create(str(part), _pieces(content), mode=0o644))
    part.replace(file)
