"""Built packages on disk: ``OUT/NAME/`` beside ``OUT/NAME.tar.gz``.

An earlier build is replaced. Anything else under one of these names is refused, also an earlier build that was edited.
New builds are staged in a folder beside their places, which one build at a time has, and then all of them are renamed:
a fault in one leaves all as they were.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packyard.core.bundle import archive, manifest
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError
from packyard.core.files import regular

_HINT = "choose another --to, or move it away"
_STAGE, _ASIDE = ".packyard-build", ".aside"  # no package has such a name


@contextmanager
def staging(out_dir: Path) -> Iterator[Path]:
    """Name a folder in ``out_dir`` to stage in; remove it afterwards, and an ``out_dir`` that was made and is empty."""
    missing = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    stage_dir = out_dir / _STAGE
    try:
        regular.make_folder(out_dir)
        lock = os.open(out_dir, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _lock(lock, out_dir)
            if stage_dir.is_symlink() or stage_dir.is_file():
                raise ConflictError(Problem("is in the way", file=str(stage_dir), hint="remove it"))
            if stage_dir.is_dir():  # of a build that was interrupted
                shutil.rmtree(stage_dir)
            try:
                yield stage_dir
            finally:
                shutil.rmtree(stage_dir, ignore_errors=True)
        finally:
            os.close(lock)
    except OSError as error:
        raise UnavailableError(f"{error.filename or out_dir}: {error.strerror or error}") from error
    finally:
        for folder in missing:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _lock(folder: int, out_dir: Path) -> None:
    """Refuse to go on beside another build; where a file system cannot lock folders, nobody is noticed."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        hint = "wait for its end, or name another --to"
        raise ConflictError(Problem("another build writes here", file=str(out_dir), hint=hint)) from error
    except OSError:
        return


def stage(bundle: Bundle, out_dir: Path, stage_dir: Path) -> None:
    """Write tree and tarball into ``stage_dir``, unless ``out_dir`` has these very bytes.

    Raises `ConflictError` where something else is there.
    """
    tarball, described = out_dir / f"{bundle.name}.tar.gz", Digest.of(_manifest(bundle))
    is_there = find_build(out_dir / bundle.name) == described
    if _is_tarball(bundle, tarball) and is_there:
        return
    try:
        stage_dir.mkdir(parents=True, exist_ok=True)
        for path in (stage_dir / bundle.name, stage_dir / tarball.name):  # what a worker left that died at it
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        bundle.unpack(stage_dir)
        (stage_dir / tarball.name).write_bytes(bundle.data)
    except OSError as error:
        raise UnavailableError(f"{error.filename or stage_dir}: {error.strerror or error}") from error


def settle(out_dir: Path, stage_dir: Path) -> None:
    """Rename what was staged to its place; all, or none."""
    staged = sorted(stage_dir.iterdir()) if stage_dir.is_dir() else []
    moves: list[tuple[Path, Path]] = []
    try:
        for path in staged:
            place = out_dir / path.name
            if os.path.lexists(place):
                (stage_dir / _ASIDE).mkdir(exist_ok=True)
                place.rename(stage_dir / _ASIDE / path.name)
                moves.append((place, stage_dir / _ASIDE / path.name))
            path.rename(place)
            moves.append((path, place))
    except BaseException:
        for before, after in reversed(moves):
            after.rename(before)
        raise


def _manifest(bundle: Bundle) -> bytes:
    return next(member.data for member in bundle.members if member.path == manifest.FILE)


def _digests(folder: str, below: str) -> Iterator[tuple[str, Digest]]:
    """Yield path and digest of every file below a folder; links and what else is neither are refused."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _digests(entry.path, f"{below}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                yield below + entry.name, Digest.of(regular.read(entry.path, limit=archive.LIMITS.file_size))
            else:
                raise InputError(Problem("is neither a file nor a folder", file=below + entry.name))


def find_build(tree_dir: Path) -> Digest | None:
    """Return the digest of the manifest of an untouched build, or None where there is nothing; refuse anything else."""
    if not os.path.lexists(tree_dir):
        return None
    described = tree_dir / manifest.FILE
    if not described.is_file() or described.is_symlink() or tree_dir.is_symlink():
        raise ConflictError(Problem("holds something that packyard did not build", file=str(tree_dir), hint=_HINT))
    try:
        data = regular.read(described, limit=archive.LIMITS.file_size)
        Manifest.parse(data).compare(dict(_digests(str(tree_dir), "")))
    except OSError as error:
        raise UnavailableError(f"{error.filename}: {error.strerror}") from error
    except PackyardError as error:
        file, message = str(tree_dir), "was changed since it was built"
        problems = (Problem(f"{message}: {problem}", file=file) for problem in error.problems)
        raise ConflictError(*problems, Problem("left as it is", file=str(tree_dir), hint=_HINT)) from error
    return Digest.of(data)


def _is_tarball(bundle: Bundle, tarball: Path) -> bool:
    """Say whether a tarball is there already; anything there but a bundle of the same name, or nothing, is refused."""
    if not os.path.lexists(tarball):
        return False
    try:
        if tarball.is_symlink():
            raise InputError("is a link")
        data = regular.read(tarball)
        if data == bundle.data or not data:  # an empty one is what a full disk leaves
            return bool(data)
        if Bundle.open(data).manifest.name == bundle.name:
            return False
        raise InputError("is another package")
    except PackyardError as error:
        message = f"was not built by packyard: {error.problems[0].message}"
        raise ConflictError(Problem(message, file=str(tarball), hint=_HINT)) from error
