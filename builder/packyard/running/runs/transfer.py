"""Files that tar sends from a pod, written below a folder: each whole or not at all.

A tar from a pod is hostile as any other: nothing is written but files, by names that stay inside and that any system
can hold; links are neither written nor followed, and what is here already stays as it is.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tarfile import TarFile, TarInfo
from typing import IO

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


@dataclass(slots=True)
class Copied:
    """What came of copying: ``files`` that the pod has, those ``copied`` with their bytes, and those ``there`` before.

    ``left`` are not copied, each with the reason.
    """

    files: int = 0
    copied: int = 0
    size: int = 0
    there: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


def copy(
    kubectl: Kubectl, pod: str, container: str, directory: str, to: Path, arrived: Callable[[int], None]
) -> Copied:
    """Copy a directory of a pod into a folder; ``arrived`` is told how many bytes came so far."""
    words = ("exec", pod, f"--container={container}", "--", "tar", "-cf", "-", "-C", directory, ".")
    if to.is_symlink() or (to.exists() and not to.is_dir()):
        raise ConflictError(Problem("is no folder", file=str(to), hint="name another"))
    copied, cut, code = Copied(), "", 0
    with tempfile.TemporaryFile() as stderr, kubectl.start(*words, stderr=stderr) as process:
        assert process.stdout
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in archive:
                    _take(archive, member, to, copied, arrived)
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
        problem = f"no whole tar of {directory} came, after {copied.files} files: {said or cut}"
        raise UnavailableError(Problem(problem, hint=_AGAIN))
    if code:
        copied.left.append((directory, said))
    return copied


def _take(archive: TarFile, member: TarInfo, to: Path, copied: Copied, arrived: Callable[[int], None]) -> None:
    path, content = member.name.removeprefix("./"), archive.extractfile(member) if member.isfile() else None
    if member.isdir():
        return
    if content is None:
        copied.left.append((path, "is a link or a device"))
        return
    copied.files += 1
    file = to / path
    if reason := filenames.fault(path.translate(_SIGNS)):
        copied.left.append((path, reason))
    elif file.is_symlink() or not file.parent.resolve().is_relative_to(to.resolve()):
        copied.left.append((path, "would be written through a link"))
    elif not file.exists():
        _write(content, file, to / _PART, copied, arrived)
    elif file.is_file() and _is_equal(content, file):
        copied.there += 1
    else:
        copied.left.append((path, "differs from what is here, which stays: remove that, or name another folder"))


def _pieces(content: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: content.read(_PIECE), b"")


def _is_equal(content: IO[bytes], file: Path) -> bool:
    """Say whether a file that is here has the bytes of one that comes."""
    with file.open("rb") as opened:
        return all(opened.read(len(piece)) == piece for piece in _pieces(content)) and not opened.read(1)


def _write(content: IO[bytes], file: Path, part: Path, copied: Copied, arrived: Callable[[int], None]) -> None:
    """Write a file in one step."""

    def pieces() -> Iterator[bytes]:
        for piece in _pieces(content):
            yield piece
            copied.size += len(piece)
            arrived(copied.size)

    file.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    os.close(atomic.create(str(part), pieces(), mode=0o644))
    part.replace(file)
    copied.copied += 1
