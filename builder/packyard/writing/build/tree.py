"""Built packages on disk: ``OUT/NAME/`` beside ``OUT/NAME.tar.gz``.

An earlier build is replaced. Anything else under one of these names is refused, also an earlier build that was edited.
New builds are staged beside their places, and then all of them are renamed: a fault in one leaves all as they were.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packyard.core.bundle import archive, manifest
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError
from packyard.core.files import paths, regular
from packyard.writing.build import staging
from packyard.writing.build.product import Built

_HINT = "choose another --out, or move it away"


def stage(built: Built, out_dir: Path, stage_dir: Path, members: Sequence[Member] | None = None) -> bool:
    """Write tree and tarball into ``stage_dir``, unless ``out_dir`` has these very bytes; say whether it was needed.

    ``members`` are those of the bundle, where they are at hand. Raises `ConflictError` where something else is there.
    """
    name = built.name
    tarball = out_dir / f"{name}.tar.gz"
    is_there = find_build(out_dir / name) == built.manifest
    if _is_tarball(built, tarball) and is_there:
        return False
    try:
        stage_dir.mkdir(parents=True, exist_ok=True)
        for path in (stage_dir / name, stage_dir / tarball.name):  # what a worker left that died at it
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        archive.write(name, archive.read(built.data, top=name) if members is None else members, stage_dir)
        (stage_dir / tarball.name).write_bytes(built.data)
    except OSError as error:
        raise UnavailableError(f"{error.filename or stage_dir}: {error.strerror or error}") from error
    return True


def settle(names: Sequence[str], out_dir: Path, stage_dir: Path) -> None:
    """Rename what was staged to its place, tree and tarball of each package; all, or none."""
    paths = [out_dir / path for name in names for path in (name, f"{name}.tar.gz")]
    try:
        for path in paths:
            if os.path.lexists(path):
                staging.set_aside(path, stage_dir)
            (stage_dir / path.name).rename(path)
    except BaseException:
        for path in reversed(paths):
            if not os.path.lexists(stage_dir / path.name):
                path.rename(stage_dir / path.name)
            staging.put_back(path, stage_dir)
        raise


def write_folders(folders: Mapping[str, Mapping[str, bytes]], out_dir: Path) -> list[str]:
    """Write folders, each whole, below ``out_dir``; one that is there has to hold these very files, and stays."""
    new = []
    for path, files in folders.items():
        folder = Path(paths.inside(out_dir, path))
        if not os.path.lexists(folder):
            new.append((folder, files))
            continue
        written = {name: Digest.of(data) for name, data in files.items()}
        if not folder.is_dir() or dict(_digests(str(folder), "")) != written:
            raise ConflictError(Problem("holds something else", file=str(out_dir / path), hint=_HINT))
    for folder, files in new:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(f"{folder.parent}: {error.strerror or error}") from error
        archive.write(folder.name, (Member(path=name, data=data) for name, data in files.items()), folder.parent)
    return list(folders)


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


def _is_tarball(built: Built, tarball: Path) -> bool:
    """Say whether a tarball is there already; anything there but a bundle of the same name, or nothing, is refused."""
    if not os.path.lexists(tarball):
        return False
    try:
        if tarball.is_symlink():
            raise InputError("is a link")
        data = regular.read(tarball)
        if data == built.data or not data:  # an empty one is what a full disk leaves
            return bool(data)
        if Bundle.open(data).manifest.name == built.name:
            return False
        raise InputError("is another package")
    except PackyardError as error:
        message = f"was not built by packyard: {error.problems[0].message}"
        raise ConflictError(Problem(message, file=str(tarball), hint=_HINT)) from error
