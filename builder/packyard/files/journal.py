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
from contextlib import contextmanager, suppress
from pathlib import Path

from packyard.errors import UnavailableError
from packyard.files.paths import real_paths

JOURNAL = ".packyard-journal"
_SUFFIX = ".packyard-new"
#: So many files are flushed together, and renamed several at a time.
MANY = 32
_THREADS = 8


@contextmanager
def locked(root_dir: Path, folders: Iterable[Path]) -> Iterator[None]:
    """Hold ``folders``, all at or below ``root_dir``, for one writer; other writers of any of them wait.

    Work that a killed writer left, here or in a folder above, is finished first.
    """
    held: list[int] = []
    places = sorted(set(real_paths(folders)))
    try:
        for place in places:
            held.append(_open(place))
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        _finish({os.path.realpath(root_dir), *places})
        yield
    finally:
        for handle in held:
            os.close(handle)


def finish(root_dir: Path, folders: Iterable[Path]) -> None:
    """Finish what a killed writer decided in ``folders``, or in a folder above them."""
    _finish(set(real_paths((root_dir, *folders))))


def _finish(places: set[str]) -> None:
    above: set[str] = set()
    for place in places:
        while place not in above:
            above.add(place)
            place = os.path.dirname(place)
    for place in sorted(above):
        if os.path.exists(f"{place}/{JOURNAL}"):
            _recover(place)


def _open(folder: str) -> int:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UnavailableError(f"{folder}: {error.strerror}") from error


def write(root_dir: Path, files: Mapping[Path, bytes | None] | Mapping[str, bytes | None]) -> None:
    """Replace the content of files below ``root_dir``, in folders that are `locked`: all of them, or none.

    Mode, owner and hard links of a file stay. One that was not there is made; one without content is removed.
    """
    root = os.fspath(root_dir)
    contents = {os.fspath(file): data for file, data in files.items() if data is not None}
    removed = [os.fspath(file) for file, data in files.items() if data is None]
    _refuse_unwritable([*contents, *removed])
    staged: list[str] = []
    try:
        for file, data in contents.items():
            staged.append(_staged(file))
            _write_new(staged[-1], data, file)
        staged.append(_staged(f"{root}/{JOURNAL}"))
        work: list[object] = [_below(root, file) for file in contents]
        work += [{"remove": _below(root, file)} for file in removed]
        _write_new(staged[-1], json.dumps(work).encode(), None)
        _flush_all(staged)
        handle = os.open(staged[-1], os.O_RDONLY)
    except OSError as error:
        for leftover in staged:
            with suppress(FileNotFoundError):
                os.unlink(leftover)
        raise UnavailableError(f"{error.filename or root_dir}: {error.strerror}; nothing was changed") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # the journal is alive as long as its writer is
        os.rename(staged[-1], f"{root}/{JOURNAL}")
        _flush(root)
        _complete(root)
    except OSError as error:
        raise UnavailableError(
            f"{error.filename or root_dir}: {error.strerror}; the next command on {root_dir} finishes the change"
        ) from error
    finally:
        os.close(handle)


def _below(root: str, file: str) -> str:
    return file.removeprefix(f"{root}/") if file.startswith(f"{root}/") else os.path.relpath(file, root)


def _recover(root: str) -> None:
    """Complete a change whose writer is dead; one whose writer lives holds its folders itself."""
    try:
        handle = os.open(f"{root}/{JOURNAL}", os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _complete(root)
    except BlockingIOError:
        return
    except OSError as error:
        raise UnavailableError(f"{root}: an interrupted change cannot be finished: {error.strerror}") from error
    finally:
        os.close(handle)


def _complete(root: str) -> None:
    journal = f"{root}/{JOURNAL}"
    with open(journal, "rb") as stream:
        work = json.load(stream)
    _take_names([f"{root}/{name}" for name in work if isinstance(name, str)])
    for item in work:
        if isinstance(item, dict):
            with suppress(FileNotFoundError):
                os.unlink(f"{root}/{item['remove']}")
    os.unlink(journal)


def _staged(file: str) -> str:
    folder, slash, name = file.rpartition("/")
    return f"{folder}{slash}.{name}{_SUFFIX}"


def _refuse_unwritable(files: Iterable[str]) -> None:
    problems = []
    folders: dict[str, bool] = {}
    for file in files:
        folder = os.path.dirname(file) or "."
        if folder not in folders:
            folders[folder] = os.access(folder, os.W_OK | os.X_OK)
        if not os.access(file, os.W_OK) and os.path.lexists(file):
            problems.append(f"{file}: is read-only; nothing was changed")
        elif not folders[folder]:
            problems.append(f"{folder}: no right to write in this folder; nothing was changed")
    if problems:
        raise UnavailableError(*dict.fromkeys(problems))


def _write_new(path: str, data: bytes, like: str | None) -> None:
    """Write a new file, with the mode and owner of another; where that is missing, for all to read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if like is not None and not os.path.lexists(like):
            os.fchmod(handle, 0o644)
        elif like is not None:
            state = os.stat(like)
            if (state.st_uid, state.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, state.st_uid, state.st_gid)
            os.fchmod(handle, state.st_mode & 0o7777)
    finally:
        os.close(handle)


def _take_names(files: Sequence[str]) -> None:
    """Let the new contents take the places of their files, many of them several at a time.

    A rename waits for a server on a network's disk, and on ext4 without a journal until the disk has discarded the old
    blocks: 600 of them took 0.4 s one by one, 0.05 s so.
    """
    if len(files) <= MANY:
        for file in files:
            _take_name(file)
        return
    from threading import Thread

    size = -(-len(files) // _THREADS)  # neighbors stay together, as the renames in one folder wait for each other
    errors: list[OSError] = []
    threads = [Thread(target=_take_some, args=(files[at : at + size], errors)) for at in range(0, len(files), size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _take_some(files: Sequence[str], errors: list[OSError]) -> None:
    try:
        for file in files:
            _take_name(file)
    except OSError as error:
        errors.append(error)


def _take_name(file: str) -> None:
    """Let the new content take the file's place, unless that is done; one with several names is written through."""
    staged = _staged(file)
    try:
        links = os.stat(file).st_nlink
    except FileNotFoundError:
        links = 0
    if links <= 1:
        with suppress(FileNotFoundError):
            os.replace(staged, file)
    elif os.path.exists(staged):
        with open(staged, "rb") as new, open(file, "wb") as old:
            old.write(new.read())
        os.unlink(staged)


def _flush_all(paths: Sequence[str]) -> None:
    """Flush files to the disk: one by one while they are few, for the disk's whole queue waits for each of them."""
    if len(paths) > MANY:
        os.sync()
        return
    for path in paths:
        _flush(path)


def _flush(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
