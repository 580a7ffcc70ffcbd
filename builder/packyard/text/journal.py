"""Replacing several files as one: after a crash each is whole, and the next command finishes or takes back.

Every new content is first written and flushed beside its file, as ``.NAME.packyard-new``. Then the journal, which lists
the files, appears by one rename: from that moment the change is decided. Then the new files take their names, and the
journal goes. A crash before the journal leaves the old files and some leftovers; a crash after it leaves work that
`recover` finishes. Both are safe to meet twice.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from packyard.errors import ConflictError, UnavailableError

JOURNAL = ".packyard-journal"
_SUFFIX = ".packyard-new"


@contextmanager
def locked(root_dir: Path) -> Iterator[None]:
    """Hold the folder for one writer; others wait. Work that a killed writer left is finished first."""
    import fcntl

    try:
        handle = os.open(root_dir, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UnavailableError(f"{root_dir}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        recover(root_dir)
        yield
    finally:
        os.close(handle)


def write(root_dir: Path, files: Mapping[Path, bytes]) -> None:
    """Replace the content of existing files below a folder that is `locked`: all of them, or none.

    Mode, owner and hard links of a file stay.
    """
    _refuse_unwritable(files)
    staged: list[Path] = []
    try:
        for file, data in files.items():
            staged.append(_staged(file))
            _write_new(_staged(file), data, file)
        listing = json.dumps([os.path.relpath(file, root_dir) for file in files])
        staged.append(_staged(root_dir / JOURNAL))
        _write_new(staged[-1], listing.encode(), None)
        staged[-1].rename(root_dir / JOURNAL)
    except OSError as error:
        for leftover in staged:
            leftover.unlink(missing_ok=True)
        raise UnavailableError(f"{error.filename or root_dir}: {error.strerror}; nothing was changed") from error
    try:
        _flush_folder(root_dir)
        recover(root_dir)
    except OSError as error:
        raise UnavailableError(
            f"{error.filename or root_dir}: {error.strerror}; the next command on {root_dir} finishes the change"
        ) from error


def recover(root_dir: Path) -> bool:
    """Finish a change that was decided; return whether there was one. The folder has to be `locked`."""
    journal = root_dir / JOURNAL
    try:
        names = json.loads(journal.read_bytes())
    except FileNotFoundError:
        return False
    for name in names:
        file = root_dir / name
        if _staged(file).exists():
            _take_name(_staged(file), file)
    journal.unlink()
    return True


def _staged(file: Path) -> Path:
    return file.with_name(f".{file.name}{_SUFFIX}")


def _refuse_unwritable(files: Mapping[Path, bytes]) -> None:
    problems = []
    for file in files:
        if not os.access(file, os.W_OK):
            problems.append(f"{file}: is read-only; nothing was changed")
        elif not os.access(file.parent, os.W_OK | os.X_OK):
            problems.append(f"{file.parent}: no right to write in this folder; nothing was changed")
    if problems:
        raise UnavailableError(*dict.fromkeys(problems))


def _write_new(path: Path, data: bytes, like: Path | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if like is not None:
                state = like.stat()
                os.fchmod(stream.fileno(), state.st_mode & 0o7777)
                if (state.st_uid, state.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(stream.fileno(), state.st_uid, state.st_gid)
    except PermissionError as error:
        raise ConflictError(f"{like}: belongs to another user, whose ownership could not be kept") from error


def _take_name(staged: Path, file: Path) -> None:
    """Let the new content take the file's place; a file with several names is written through instead."""
    if file.exists() and file.stat().st_nlink > 1:
        shutil.copyfile(staged, file)
        staged.unlink()
    else:
        staged.replace(file)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
