"""The folder in which a build stages its files: ``OUT/.packyard-ID``, removed when the build ends.

Every running build has a shared lock on OUT itself. A build that gets the lock alone knows that all such folders are of
interrupted builds: it puts back what they had set aside, and removes the rest. Where a file system cannot lock folders,
they stay.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from packyard.core.errors import UnavailableError
from packyard.core.files import regular

_STAGE = re.compile(r"\.packyard-[0-9a-f]{16}")
_ASIDE = ".aside"  # no package has such a name


@contextmanager
def staging(out_dir: Path) -> Iterator[Path]:
    """Name a folder in ``out_dir`` to stage in; remove it afterwards, and an ``out_dir`` that was made and is empty."""
    missing = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    try:
        regular.make_folder(out_dir)
        if not os.access(out_dir, os.W_OK):  # a build that is there may be the one that is wanted
            yield out_dir / ".packyard-none"
            return
        lock = os.open(out_dir, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                _clear(out_dir)
            _lock(lock, fcntl.LOCK_SH)
            stage_dir = out_dir / f".packyard-{secrets.token_hex(8)}"
            try:
                yield stage_dir
            finally:
                shutil.rmtree(stage_dir, ignore_errors=True)  # the next build removes what is left
        finally:
            os.close(lock)
    except OSError as error:
        raise UnavailableError(f"{error.filename or out_dir}: {error.strerror or error}") from error
    finally:
        for folder in missing:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def set_aside(path: Path, stage_dir: Path) -> None:
    """Move what will be replaced out of the way; the next build puts it back if this one is interrupted."""
    aside_dir = stage_dir / _ASIDE
    aside_dir.mkdir(exist_ok=True)
    path.rename(aside_dir / path.name)


def put_back(path: Path, stage_dir: Path) -> None:
    """Move a path that `set_aside` moved back, unless its replacement is there already."""
    if os.path.lexists(stage_dir / _ASIDE / path.name) and not os.path.lexists(path):
        (stage_dir / _ASIDE / path.name).rename(path)


def _lock(folder: int, kind: int) -> bool:
    """Try to lock a folder; it cannot be where others have it, nor on every file system."""
    try:
        fcntl.flock(folder, kind)
    except OSError:
        return False
    return True


def _clear(out_dir: Path) -> None:
    """Remove what interrupted builds left, but not what another user did, nor what only has such a name."""
    for stage_dir in sorted(path for path in out_dir.iterdir() if _STAGE.fullmatch(path.name) and _is_folder(path)):
        with suppress(PermissionError):
            aside_dir = stage_dir / _ASIDE
            for path in sorted(aside_dir.iterdir()) if _is_folder(aside_dir) else ():
                put_back(out_dir / path.name, stage_dir)
            shutil.rmtree(stage_dir)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
