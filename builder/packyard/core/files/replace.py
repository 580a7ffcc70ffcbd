"""Replacing several files in one change: all of them, or none.

1. Write the draft of the journal, and stage the new files beside the old ones.
2. Rename the draft to the journal: from now on the change is decided.
3. Rename the new files to their places, and remove the journal.

If a step fails, the files get their old bytes back; if the process is killed, the next command continues (`recovery`).
Ctrl-C, or another request to end, ends the first step, and waits for the end of the others.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from packyard.core import ending
from packyard.core.errors import ConflictError, PackyardError, Problem, UnavailableError
from packyard.core.files import atomic, inplace, journal, recovery
from packyard.core.files.journal import DRAFT, JOURNAL, JournalLine

_THREADS = 8
_CHANGED = "was changed by somebody else meanwhile; nothing was written"
_FOR_CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileChange(NamedTuple):
    """New bytes for a file, by its canonical path below the root; None where there is no file, before or after."""

    path: str
    old: bytes | None
    new: bytes | None
    #: What messages call the file.
    name: str
    #: Of a new file.
    mode: int = 0o644


class _Step:
    """A change on its way to the disk."""

    def __init__(self, change: FileChange, item: JournalLine) -> None:
        self.name = change.name
        self.old = change.old
        self.new = change.new
        self.mode = change.mode
        self.item = item
        #: The state of the file when it was compared with the old bytes; None where there was none.
        self.seen: tuple[int, ...] | None = None
        #: Whether the staged file may replace the old one; otherwise that is written through.
        self.stands = True


class UnfinishedError(UnavailableError):
    """Some files have their new bytes and some their old ones; the next command continues from there."""


def write(root: str, changes: Iterable[FileChange]) -> None:
    """Replace the content of files below a real folder that is locked by `lock`: all of them, or none.

    Owner, mode, attributes and hard links of a file stay. Raises `ConflictError` where a file
    was changed since it was read, and `UnavailableError` where one cannot be changed; then nothing is changed.
    `UnfinishedError` means that the change could be neither completed nor taken back.
    """
    steps = _prepare(root, [change for change in changes if change.old != change.new])
    if not steps:
        return
    try:
        with ending.as_interrupt():
            handle = journal.draft(root, [step.item for step in steps], [step.old or b"" for step in steps])
            try:
                _stage_and_carry_out(root, steps, handle)
            finally:
                os.close(handle)
    except OSError as error:
        raise _unavailable(error, steps, root) from error


def _prepare(root: str, changes: Sequence[FileChange]) -> list[_Step]:
    """Check that every file is as it was read and may be changed; return each once, even if it has two names."""
    problems: list[Problem] = []
    changed: list[Problem] = []
    linked: dict[tuple[int, ...], _Step] = {}
    steps: list[_Step] = []
    for change, staged in zip(changes, journal.staged_names(), strict=False):
        file = os.path.join(root, change.path)
        old, new = (None if data is None else journal.digest(data) for data in (change.old, change.new))
        item = JournalLine(file, old, new, len(change.old or b""), journal.beside(file, staged))
        step = _Step(change, item)
        steps.append(step)
        try:
            _compare(step, linked)
        except ConflictError as error:
            changed += error.problems
        except OSError as error:
            problems.append(Problem(f"{error.strerror or error}; nothing was changed", file=change.name))
    folders = {root, *(os.path.dirname(step.item.file) for step in steps)}
    problems += [
        Problem("no permission to write in this folder; nothing was changed", file=folder)
        for folder in sorted(folders)
        if not os.access(folder, os.W_OK | os.X_OK)
    ]
    if changed:
        raise ConflictError(*changed)
    if problems:
        raise UnavailableError(*problems)
    return [step for step in steps if step.seen is None or linked.get(step.seen[:2], step) is step]


def _compare(step: _Step, linked: dict[tuple[int, ...], _Step]) -> None:
    """Compare a writable file with what was read of it; ``linked`` collects the files that have several names."""
    refusal = ConflictError(Problem(_CHANGED, file=step.name))
    try:
        handle = os.open(step.item.file, _FOR_CHANGE)
    except FileNotFoundError:
        if step.old is not None:
            raise refusal from None
        return
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO):  # not a regular file any more
            raise refusal from None
        raise
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or step.old is None or _read(handle, len(step.old)) != step.old:
            raise refusal
    finally:
        os.close(handle)
    step.seen = _seen(state)
    if state.st_nlink > 1 and step.new is not None:
        step.stands = False
        other = linked.setdefault(step.seen[:2], step)
        if other.new != step.new:
            raise ConflictError(Problem(f"is {other.name} under another name, with other bytes", file=step.name))


def _read(handle: int, size: int) -> bytes:
    """Read so many bytes, and one more if there are more."""
    data = os.read(handle, size + 1)
    while len(data) <= size and (more := os.read(handle, size + 1 - len(data))):
        data += more
    return data


def _seen(state: os.stat_result) -> tuple[int, ...]:
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _stage_and_carry_out(root: str, steps: Sequence[_Step], handle: int) -> None:
    """Stage the new files, rename the draft to the journal, and do what that says."""
    staged = [step for step in steps if step.new is not None]
    files = [f"{root}/{DRAFT}", *(step.item.staged for step in staged)]
    is_decided = False
    try:
        _each(staged, _stage)
        atomic.flush_all(files)
        with ending.later():
            os.rename(files[0], f"{root}/{JOURNAL}")
            is_decided = True
            _carry_out(root, steps, handle)
    except BaseException:
        for leftover in reversed(files) if not is_decided else ():
            with suppress(OSError):
                os.unlink(leftover)
        raise


def _stage(step: _Step) -> None:
    """Write the new file beside the old one."""
    assert step.new is not None
    same = inplace.stage(step.item.staged, step.new, step.item.file if step.seen else None, mode=step.mode)
    step.stands = step.stands and same


def _carry_out(root: str, steps: Sequence[_Step], handle: int) -> None:
    """Rename the new files to their places, or give all the old bytes back; then remove the journal."""
    try:
        atomic.flush(root)
        _each(steps, _take_place)
    except (OSError, PackyardError) as error:
        try:
            for step in steps:
                recovery.give_back(step.item, handle)
        except (OSError, PackyardError) as another:
            message = f"{_why(error)}, and the files that were changed could not be put back: {_why(another)}"
            raise UnfinishedError(Problem(message, file=root, hint=recovery.ways_out(root))) from another
        _clear(root, steps)
        raise
    _clear(root, [step for step in steps if step.new is None or not step.stands])


def _each(steps: Sequence[_Step], act: Callable[[_Step], None]) -> None:
    """Do something for every file, in threads if they are many.

    A rename on a network file system waits for the server, and on ext4 without a journal until the disk has discarded
    the old blocks: 600 of them took 0.4 s one by one, and 0.05 s in threads. There a new file is slow, too, where many
    were removed just before.
    """
    if len(steps) <= atomic.MANY:
        for step in steps:
            act(step)
        return
    from threading import Thread

    errors: list[BaseException] = []

    def some(part: Sequence[_Step]) -> None:
        try:
            for step in part:
                if errors:
                    return
                act(step)
        except Exception as error:
            errors.append(error)

    size = -(-len(steps) // _THREADS)  # neighbors together: renames in one folder wait for each other
    threads = [Thread(target=some, args=(steps[at : at + size],)) for at in range(0, len(steps), size)]
    try:
        with ending.later():  # one that is half started cannot be joined
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt as error:  # no thread may go on when the caller clears away
        errors.append(error)
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def _take_place(step: _Step) -> None:
    """Rename the new file to its place, if the file there is still the one that was compared."""
    item = step.item
    try:
        state = _seen(os.lstat(item.file))
    except FileNotFoundError:
        state = None
    if state != step.seen:
        raise ConflictError(Problem(_CHANGED, file=step.name))
    if step.new is None:
        os.rename(item.file, item.staged)
        return
    if step.stands:
        try:
            os.rename(item.staged, item.file)
        except OSError:  # a mount point, or a folder with the sticky bit
            if step.old is None:
                raise
            step.stands = False
        else:
            return
    assert step.old is not None
    inplace.write_through(item.file, step.old, step.new)


def _clear(root: str, steps: Iterable[_Step]) -> None:
    """Remove the staged files, then the journal; if that fails, the next command does it."""
    with suppress(OSError):
        for step in steps:
            with suppress(FileNotFoundError):
                os.unlink(step.item.staged)
        os.unlink(f"{root}/{JOURNAL}")


def _why(error: Exception) -> str:
    if isinstance(error, PackyardError):
        return error.problems[0].message
    return getattr(error, "strerror", None) or str(error)


def _unavailable(error: OSError, steps: Sequence[_Step], root: str) -> UnavailableError:
    names = {path: step.name for step in steps for path in (step.item.file, step.item.staged)}
    file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else root
    return UnavailableError(Problem(f"{_why(error)}; nothing was changed", file=names.get(file, file)))
