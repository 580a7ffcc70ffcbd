"""A built package on disk: ``OUT/NAME/`` beside ``OUT/NAME.tar.gz``.

An earlier build is replaced. Anything else under that name is left alone, also an earlier build that somebody edited.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from packyard.bundle import archive, manifest
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.bundle.manifest import Manifest
from packyard.errors import ConflictError, PackyardError, Problem, UnavailableError


def write(bundle: Bundle, out_dir: Path) -> None:
    """Write a bundle's tree and its tarball, each whole or not at all."""
    name = bundle.manifest.name
    tree_dir = out_dir / name
    check_replaceable(tree_dir)
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".packyard-", dir=out_dir) as folder:
            unpacked = archive.unpack(bundle.data, Path(folder), top=name)
            packed = Path(folder) / "bundle"
            packed.write_bytes(bundle.data)
            packed.chmod(0o644)
            if tree_dir.exists():
                tree_dir.rename(Path(folder) / "before")
            unpacked.rename(tree_dir)
            packed.replace(out_dir / f"{name}.tar.gz")
    except OSError as error:
        raise UnavailableError(f"{error.filename or out_dir}: {error.strerror}") from error


def check_replaceable(tree_dir: Path) -> None:
    """Refuse a folder that holds something else than an untouched build."""
    if not tree_dir.exists() and not tree_dir.is_symlink():
        return
    hint = "choose another --out, or move it away"
    described = tree_dir / manifest.FILE
    if not described.is_file() or tree_dir.is_symlink():
        raise ConflictError(Problem("holds something that packyard did not build", file=str(tree_dir), hint=hint))
    try:
        Manifest.parse(described.read_bytes()).verify(read_members(tree_dir))
    except PackyardError as error:
        problems = (
            Problem(f"was changed since it was built: {problem}", file=str(tree_dir)) for problem in error.problems
        )
        raise ConflictError(*problems, Problem("left as it is", file=str(tree_dir), hint=hint)) from error


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
