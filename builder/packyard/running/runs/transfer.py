"""Files that tar sends from a pod, written below a folder: each whole or not at all.

A tar from a pod is hostile as any other: nothing is written but files, by names that stay inside and that any system
can hold; links are neither written nor followed, and what is here already stays as it is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from packyard.core.bundle import tar
from packyard.core.bundle.tar import FoundEntry
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files import atomic, filenames
from packyard.running.runs import kubectl as clients
from packyard.running.runs.kubectl import Kubectl

_STAGED = ".packyard-results"
_HARD_LINK = "1"
#: Bytes that stay free on the disk.
_SPARE = 64 * 1024 * 1024
#: Signs that this system's files may have in their names, and a package must not.
_SIGNS = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
_LACKING = ("executable file not found", "tar: not found", "no such file or directory: unknown")
_DIFFERS = "differs from the file here, which stays: remove that, or name another folder"


@dataclass(slots=True)
class Copied:
    """What came of copying: ``files`` that the pod has, those ``copied`` with their bytes, and those ``there`` before.

    ``left`` are not copied, each with the reason; ``others`` counts links and devices; ``said`` is what tar complains
    of.
    """

    files: int = 0
    copied: int = 0
    size: int = 0
    there: int = 0
    others: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)
    said: str = ""


def copy(
    kubectl: Kubectl, pod: str, container: str, directory: str, to: Path, arrived: Callable[[int], None]
) -> Copied:
    """Copy a directory of a pod into a folder; ``arrived`` is told the bytes of each piece."""
    words = ("exec", pod, f"--container={container}", "--", "tar", "-cf", "-", "-C", directory, ".")
    copied = Copied()
    with _folder(to) as staged, tempfile.TemporaryFile() as stderr, kubectl.start(*words, stderr=stderr) as process:
        assert process.stdout
        try:
            for entry in tar.read(process.stdout, large=True):
                _take(entry, to, staged, copied, arrived)
            code = process.wait()
        except IntegrityError as error:
            process.kill()
            raise _cut(directory, _printed(stderr), error, copied) from error
        finally:
            process.kill()
        copied.said = _printed(stderr) if code else ""
    return copied


@contextmanager
def _folder(to: Path) -> Iterator[Path]:
    """Make the folder, and one inside in which files stand until they are whole."""
    if to.is_symlink() or (to.exists() and not to.is_dir()):
        raise ConflictError(Problem("is no folder", file=str(to), hint="name another"))
    staged = to / _STAGED
    shutil.rmtree(staged, ignore_errors=True)  # of a copy that was killed
    try:
        staged.mkdir(parents=True)
        yield staged
    except OSError as error:
        hint = "what is whole stays; type the command again to go on"
        raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=str(to), hint=hint)) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _take(entry: FoundEntry, to: Path, staged: Path, copied: Copied, arrived: Callable[[int], None]) -> None:
    path = entry.name.removeprefix("./")
    if entry.kind == _HARD_LINK:
        copied.left.append((path, "is a second name of a file, which is copied by its first"))
        return
    if entry.kind != tar.FILE:
        copied.others += entry.kind != tar.DIRECTORY
        return
    copied.files += 1
    file = to / path
    if reason := filenames.fault(path.translate(_SIGNS)) or _blocked(file, to):
        copied.left.append((path, reason))
    elif file.exists():
        if _is_same(file, entry):
            copied.there += 1
        else:
            copied.left.append((path, _DIFFERS))
    else:
        _write(entry, file, staged, arrived)
        copied.copied += 1
        copied.size += entry.size


def _blocked(file: Path, to: Path) -> str:
    """Return why a file cannot be written: what is a link here, or no folder or file, stays."""
    for each in [file, *file.parents][: len(file.relative_to(to).parts)]:
        if each.is_symlink():
            return f"would be written through a link: {each}"
        if each.exists() and (each.is_file() if each != file else each.is_dir()):
            return f"is in the way of another: {each}"
    return ""


def _is_same(file: Path, entry: FoundEntry) -> bool:
    with file.open("rb") as here:
        return all(here.read(len(piece)) == piece for piece in entry.content) and not here.read(1)


def _write(entry: FoundEntry, file: Path, staged: Path, arrived: Callable[[int], None]) -> None:
    """Write a file in one step."""
    if entry.size > shutil.disk_usage(staged).free - _SPARE:
        problem = f"no room is left for {entry.name}, of {entry.size / 1e9:.1f} GB"
        hint = "what is whole stays; make room, and type the command again"
        raise UnavailableError(Problem(problem, file=str(staged.parent), hint=hint))
    file.parent.mkdir(parents=True, exist_ok=True)
    part = staged / "part"
    handle = atomic.create(str(part), mode=0o644)
    try:
        for piece in entry.content:
            atomic.write_all(handle, piece)
            arrived(len(piece))
        part.replace(file)
    finally:
        os.close(handle)
        part.unlink(missing_ok=True)


def _printed(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    return clients.without_log(stderr.read())


def _cut(directory: str, said: str, error: IntegrityError, copied: Copied) -> InputError | UnavailableError:
    """Return why no whole tar came."""
    if any(each in said for each in _LACKING):
        hint = "--image names one with sh and tar: busybox"
        return InputError(Problem(f"the image of the pod has no tar: {said}", hint=hint))
    if "No such file or directory" in said:
        return InputError(Problem(f"{directory} is not there: the run has written no results yet"))
    problem = f"the connection to the pod was lost after {copied.files} files: {said or error}"
    return UnavailableError(Problem(problem, hint="what is whole stays; type the command again to go on"))
