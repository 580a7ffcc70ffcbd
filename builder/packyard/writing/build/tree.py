"""Built packages on disk: ``OUT/NAME/`` beside ``OUT/NAME.tar.gz``.

An earlier build is replaced. Anything else under one of these names is refused, also an earlier build that was edited.
New builds are staged in a folder beside their places, which one build at a time has, and then all of them are renamed:
a fault in one leaves all as they were.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from packyard.core.bundle import archive, manifest
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError, refuse
from packyard.core.files import exclusive, regular

_HINT = "choose another --to, or move it away"
_STAGE, _ASIDE = ".packyard-build", ".aside"  # no package has such a name


def write(folder: Path, bundle: Bundle) -> None:
    """Write the tarball of a bundle into a folder."""
    file = folder / f"{bundle.name}.tar.gz"
    try:
        file.write_bytes(bundle.data)
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror or error}") from error


@contextmanager
def replaced(out_dir: Path) -> Iterator[Callable[[Bundle], None]]:
    """Return what takes bundles that go to ``out_dir``, all of them at the end, or none.

    A folder to stage in is removed afterwards, and an ``out_dir`` that was made and is empty.
    """
    missing = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    stage_dir = out_dir / _STAGE
    try:
        regular.make_folder(out_dir)
        with exclusive.lock(os.path.realpath(out_dir)):
            if stage_dir.is_symlink() or stage_dir.is_file():
                raise ConflictError(Problem("is in the way", file=str(stage_dir), hint="remove it"))
            if stage_dir.is_dir():  # of a build that was interrupted
                shutil.rmtree(stage_dir)
            try:
                yield partial(_stage, out_dir, stage_dir)
                _settle(out_dir, stage_dir)
            finally:
                shutil.rmtree(stage_dir, ignore_errors=True)
    except OSError as error:
        raise UnavailableError(f"{error.filename or out_dir}: {error.strerror or error}") from error
    finally:
        for folder in missing:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def _stage(out_dir: Path, stage_dir: Path, bundle: Bundle) -> None:
    """Write tree and tarball into ``stage_dir``, unless ``out_dir`` has these very bytes.

    Raises `ConflictError` where something else is there.
    """
    tree_dir, tarball = out_dir / bundle.name, out_dir / f"{bundle.name}.tar.gz"
    described = next(member.data for member in bundle.members if member.path == manifest.FILE)
    with _as_conflict(tree_dir):
        is_tree = os.path.lexists(tree_dir) and _manifest(tree_dir) == described
    with _as_conflict(tarball):
        is_tarball = os.path.lexists(tarball) and _is_tarball(bundle, tarball)
    if is_tree and is_tarball:
        return
    stage_dir.mkdir(exist_ok=True)
    bundle.unpack(stage_dir)
    (stage_dir / tarball.name).write_bytes(bundle.data)


def _settle(out_dir: Path, stage_dir: Path) -> None:
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


@contextmanager
def _as_conflict(file: Path) -> Iterator[None]:
    """Refuse what no build made, and say what to do."""
    try:
        yield
    except PackyardError as error:
        wrong = (Problem(f"is not what packyard built: {item}", file=str(file), hint=_HINT) for item in error.problems)
        raise ConflictError(*wrong) from error


def _manifest(tree_dir: Path) -> bytes:
    """Return the manifest of an untouched build; refuse anything else."""
    paths = (tree_dir, *tree_dir.rglob("*"))
    refuse(Problem("is a link", file=str(path)) for path in paths if path.is_symlink())
    digests = {str(path.relative_to(tree_dir)): Digest.of(_read(path)) for path in paths if not path.is_dir()}
    data = _read(tree_dir / manifest.FILE)
    Manifest.parse(data).compare(digests)
    return data


def _read(file: Path) -> bytes:
    return regular.read(file, limit=archive.LIMITS.file_size)


def _is_tarball(bundle: Bundle, tarball: Path) -> bool:
    """Say whether a tarball is this one already; what is no bundle is refused."""
    if tarball.is_symlink():
        raise InputError("is a link")
    data = regular.read(tarball)
    if data and data != bundle.data:  # an empty one is what a full disk leaves
        Bundle.open(data)
    return data == bundle.data
