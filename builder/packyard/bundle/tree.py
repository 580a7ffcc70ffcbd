"""Built packages on disk: ``OUT/NAME/`` beside ``OUT/NAME.tar.gz``.

An earlier build is replaced. Anything else under that name is left alone, also an earlier build that somebody edited.
New builds are staged beside their places, all of them, and then renamed: a fault in one leaves all as they were.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from packyard.bundle import archive, manifest, staging
from packyard.bundle.archive import Member
from packyard.bundle.manifest import Manifest
from packyard.bundle.packed import Packed
from packyard.digest import Digest
from packyard.errors import ConflictError, PackyardError, Problem, UnavailableError


def stage(packed: Packed, out_dir: Path, stage_dir: Path, members: Sequence[Member] | None = None) -> bool:
    """Write tree and tarball into ``stage_dir``, unless ``out_dir`` has these very bytes; say whether it was needed.

    ``members`` are those of the bundle, where they are at hand.
    """
    name = packed.name
    tarball = out_dir / f"{name}.tar.gz"
    is_there = is_in_place(packed.manifest, out_dir / name) or find_build(out_dir / name) == packed.manifest
    if is_there and tarball.is_file() and tarball.read_bytes() == packed.data:
        return False
    try:
        stage_dir.mkdir(parents=True, exist_ok=True)
        for path in (stage_dir / name, stage_dir / tarball.name):  # what a worker left that died at it
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        archive.write(name, archive.read(packed.data, top=name) if members is None else members, stage_dir)
        (stage_dir / tarball.name).write_bytes(packed.data)
    except OSError as error:
        raise UnavailableError(f"{error.filename or stage_dir}: {error.strerror}") from error
    return True


def settle(name: str, out_dir: Path, stage_dir: Path) -> None:
    """Rename what was staged to its place, each of tree and tarball whole."""
    tree_dir = out_dir / name
    if tree_dir.exists():
        staging.set_aside(tree_dir, stage_dir)
    (stage_dir / name).rename(tree_dir)
    (stage_dir / f"{name}.tar.gz").replace(out_dir / f"{name}.tar.gz")


def is_in_place(described: Digest, tree_dir: Path) -> bool:
    """Say whether a folder is the untouched build whose manifest has this digest; `find_build` tells why it is not.

    A manifest of that digest is one that we wrote, so that all it takes is to compare what it names with what is there.
    """
    try:
        data = (tree_dir / manifest.FILE).read_bytes()
        if tree_dir.is_symlink() or Digest.of(data) != described:
            return False
        expected = {**json.loads(data)["files"], manifest.FILE: described}
        return expected == dict(_digests(str(tree_dir), ""))
    except OSError:
        return False


def _digests(folder: str, below: str) -> Iterator[tuple[str, Digest | None]]:
    """Yield path and digest of every file below a folder; None for what is neither file nor folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _digests(entry.path, f"{below}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                with open(entry.path, "rb", buffering=0) as stream:  # noqa: PTH123  # a `Path` takes as long again
                    yield below + entry.name, Digest.of(stream.read())
            else:
                yield below + entry.name, None


def find_build(tree_dir: Path) -> Digest | None:
    """Return the digest of the manifest of an untouched build, or None where there is nothing; refuse anything else."""
    if not os.path.lexists(tree_dir):
        return None
    hint = "choose another --out, or move it away"
    described = tree_dir / manifest.FILE
    if not described.is_file() or tree_dir.is_symlink():
        raise ConflictError(Problem("holds something that packyard did not build", file=str(tree_dir), hint=hint))
    data = described.read_bytes()
    try:
        Manifest.parse(data).verify(read_members(tree_dir))
    except PackyardError as error:
        problems = (
            Problem(f"was changed since it was built: {problem}", file=str(tree_dir)) for problem in error.problems
        )
        raise ConflictError(*problems, Problem("left as it is", file=str(tree_dir), hint=hint)) from error
    return Digest.of(data)


def read_members(tree_dir: Path) -> list[Member]:
    """Read all files below a folder."""
    return [
        Member(
            path=file.relative_to(tree_dir).as_posix(),
            data=file.read_bytes(),
            executable=bool(file.stat().st_mode & 0o100),
        )
        for file in sorted(tree_dir.rglob("*"))
        if file.is_file()
    ]
