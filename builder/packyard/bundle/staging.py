"""Where a build stages what it makes: ``OUT/.packyard-ID``, gone when the build is over, however it ended.

A build that lives holds ``OUT/.packyard-ID.lock``, from before there is a folder of that ID until it is gone. One that
nobody holds was a dead build's: the next build puts back what that one had set aside, and takes the rest away.
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

from packyard.errors import UnavailableError

_ID = re.compile(r"(\.packyard-[0-9a-f]{16})(?:\.lock)?")
_ASIDE = ".aside"  # no package has such a name


@contextmanager
def staging(out_dir: Path) -> Iterator[Path]:
    """Name a folder in ``out_dir`` to stage in; take it away afterwards, with an ``out_dir`` made and empty."""
    missing = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        if not os.access(out_dir, os.W_OK):  # what is there may be all that is wanted
            yield out_dir / ".packyard-none"
            return
        _clear(out_dir)
        stage_dir, lock = _claim(out_dir)
        try:
            yield stage_dir
        finally:
            shutil.rmtree(stage_dir, ignore_errors=True)  # what cannot go now goes with the next build
            _lock_file(stage_dir).unlink(missing_ok=True)
            os.close(lock)
    except OSError as error:
        raise UnavailableError(f"{error.filename or out_dir}: {error.strerror}") from error
    finally:
        for folder in missing:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def set_aside(path: Path, stage_dir: Path) -> None:
    """Move what is to be replaced out of the way, to be put back should the build die before it is."""
    aside_dir = stage_dir / _ASIDE
    aside_dir.mkdir(exist_ok=True)
    path.rename(aside_dir / path.name)


def _claim(out_dir: Path) -> tuple[Path, int]:
    """Return a folder that is nobody's, and its lock, held."""
    while True:
        stage_dir = out_dir / f".packyard-{secrets.token_hex(8)}"
        lock = os.open(_lock_file(stage_dir), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), _lock_file(stage_dir).stat()):
                return stage_dir, lock
        os.close(lock)  # another build saw the file before it was locked, and took it for a dead one's


def _clear(out_dir: Path) -> None:
    """Take away what dead builds left, and nothing that a live one has, or another user."""
    found = filter(None, (_ID.fullmatch(path.name) for path in out_dir.iterdir()))
    for stage_dir in sorted({out_dir / match[1] for match in found}):
        with suppress(BlockingIOError, PermissionError):
            lock = os.open(_lock_file(stage_dir), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _put_back(out_dir, stage_dir)
                if stage_dir.exists():
                    shutil.rmtree(stage_dir)
                _lock_file(stage_dir).unlink(missing_ok=True)
            finally:
                os.close(lock)


def _put_back(out_dir: Path, stage_dir: Path) -> None:
    aside_dir = stage_dir / _ASIDE
    for path in sorted(aside_dir.iterdir()) if aside_dir.is_dir() else ():
        if not os.path.lexists(out_dir / path.name):
            path.rename(out_dir / path.name)


def _lock_file(stage_dir: Path) -> Path:
    return stage_dir.with_name(f"{stage_dir.name}.lock")
