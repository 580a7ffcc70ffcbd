"""Replacing several files as one: after a crash each is whole, and the next command finishes or takes back.

Every new content is first written and flushed beside its file, as ``.NAME.packyard-new``. Then the journal, which lists
the files, appears by one rename: from that moment the change is decided. Then the new files take their names, and the
journal goes. A crash before the journal leaves the old files and some leftovers, which the next change overwrites; a
crash after it leaves work that the next command finishes. Both are safe to meet twice.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from packyard.errors import UnavailableError

JOURNAL = ".packyard-journal"
_SUFFIX = ".packyard-new"
_MANY = 32


@contextmanager
def locked(root_dir: Path, folders: Iterable[Path]) -> Iterator[None]:
    """Hold ``folders``, all at or below ``root_dir``, for one writer; other writers of any of them wait.

    Work that a killed writer left, here or in a folder above, is finished first.
    """
    held: list[int] = []
    try:
        for folder in sorted({folder.resolve() for folder in folders}):
            held.append(_open(folder))
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        finish(root_dir, folders)
        yield
    finally:
        for handle in held:
            os.close(handle)


def finish(root_dir: Path, folders: Iterable[Path]) -> None:
    """Finish what a killed writer decided in ``folders``, or in a folder above them."""
    places = {place for folder in (root_dir, *folders) for place in (folder.resolve(), *folder.resolve().parents)}
    for place in sorted(places):
        if (place / JOURNAL).exists():
            _recover(place)


def _open(folder: Path) -> int:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UnavailableError(f"{folder}: {error.strerror}") from error


def write(root_dir: Path, files: Mapping[Path, bytes]) -> None:
    """Replace the content of existing files below ``root_dir``, in folders that are `locked`: all of them, or none.

    Mode, owner and hard links of a file stay.
    """
    _refuse_unwritable(files)
    staged: list[Path] = []
    try:
        for file, data in files.items():
            staged.append(_staged(file))
            _write_new(_staged(file), data, file)
        staged.append(_staged(root_dir / JOURNAL))
        _write_new(staged[-1], json.dumps([os.path.relpath(file, root_dir) for file in files]).encode(), None)
        _flush_all(staged)
        handle = os.open(staged[-1], os.O_RDONLY)
    except OSError as error:
        for leftover in staged:
            leftover.unlink(missing_ok=True)
        raise UnavailableError(f"{error.filename or root_dir}: {error.strerror}; nothing was changed") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # the journal is alive as long as its writer is
        staged[-1].rename(root_dir / JOURNAL)
        _flush(root_dir)
        _complete(root_dir)
    except OSError as error:
        raise UnavailableError(
            f"{error.filename or root_dir}: {error.strerror}; the next command on {root_dir} finishes the change"
        ) from error
    finally:
        os.close(handle)


def _recover(root_dir: Path) -> None:
    """Complete a change whose writer is dead; one whose writer lives holds its folders itself."""
    try:
        handle = os.open(root_dir / JOURNAL, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _complete(root_dir)
    except BlockingIOError:
        return
    except OSError as error:
        raise UnavailableError(f"{root_dir}: an interrupted change cannot be finished: {error.strerror}") from error
    finally:
        os.close(handle)


def _complete(root_dir: Path) -> None:
    journal = root_dir / JOURNAL
    for name in json.loads(journal.read_bytes()):
        file = root_dir / name
        if _staged(file).exists():
            _take_name(_staged(file), file)
    journal.unlink()


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
    """Write a new file, with the mode and owner of another."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        if like is not None:
            state = like.stat()
            if (state.st_uid, state.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, state.st_uid, state.st_gid)
            os.fchmod(handle, state.st_mode & 0o7777)


def _take_name(staged: Path, file: Path) -> None:
    """Let the new content take the file's place; a file with several names is written through instead."""
    if file.exists() and file.stat().st_nlink > 1:
        file.write_bytes(staged.read_bytes())
        staged.unlink()
    else:
        staged.replace(file)


def _flush_all(paths: Sequence[Path]) -> None:
    """Flush files to the disk: one by one while they are few, for the disk's whole queue waits for each of them."""
    if len(paths) > _MANY:
        os.sync()
        return
    for path in paths:
        _flush(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
