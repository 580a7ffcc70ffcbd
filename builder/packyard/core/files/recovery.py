"""After a crash: a dead writer's change is finished or taken back, and no later change by somebody else is lost.

A draft has only staged files, which are removed with it. A journal is carried out if each of its files has its old
bytes, its new ones, or a mix of both as only packyard leaves it. Otherwise commands stop there until the user chooses
by `settle`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress

from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.core.files import atomic, inplace, regular
from packyard.core.files.journal import DRAFT, JOURNAL, JournalLine, digest, opened

_OLD, _NEW, _TORN = "has its old bytes", "has its new bytes", "was written in part"
_KNOWN = (_OLD, _NEW, _TORN)
_EDITED = "was changed after an interrupted command; nothing was done"
_LOST = "has its old bytes, and the new ones of an interrupted command are gone; nothing was done"


def recover(folder: str) -> None:
    """Finish what a dead writer decided in a real folder, and remove what it only prepared.

    If files were changed since then, raise `ConflictError`, naming them all, and change nothing.
    """
    with opened(folder, DRAFT) as draft:
        if draft:
            _remove((item.staged for item in draft[0]), f"{folder}/{DRAFT}")
    with opened(folder, JOURNAL) as journal:
        if journal:
            items, handle = journal
            states = [(item.file, _state(item, handle)) for item in items]
            problems = [
                Problem(state, file=file, hint=ways_out(folder)) for file, state in states if state not in _KNOWN
            ]
            if problems:
                raise ConflictError(*problems)
            _end(folder, items, items, handle, back=False)


def settle(folder: str, *, back: bool) -> tuple[list[str], list[str]]:
    """Finish a dead writer's change in a real folder, or take it back, except for files that were changed since then.

    Return the files that have the right bytes now, and those that were left alone.
    """
    with opened(folder, JOURNAL) as journal:
        if not journal:
            return [], []
        items, handle = journal
        known = [item for item in items if _state(item, handle, back=back) in _KNOWN]
        _end(folder, items, known, handle, back=back)
        files = {item.file for item in known}
        return sorted(files), sorted(item.file for item in items if item.file not in files)


def ways_out(folder: str) -> str:
    """Return what to type where an interrupted change cannot be finished automatically."""
    import shlex

    quoted = shlex.quote(folder)
    return (
        f"to finish the change except for files changed since then: packyard undo --finish {quoted}; "
        f"to take it back: packyard undo --take-back {quoted}"
    )


def _end(folder: str, items: Sequence[JournalLine], known: Sequence[JournalLine], handle: int, *, back: bool) -> None:
    try:
        for item in known:
            if back:
                give_back(item, handle)
            else:
                _go_on(item, handle)
        _remove((item.staged for item in items), f"{folder}/{JOURNAL}")
    except OSError as error:
        file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else folder
        what = "taken back" if back else "finished"
        message = f"an interrupted change cannot be {what}: {error.strerror or error}"
        raise UnavailableError(Problem(message, file=file, hint=ways_out(folder))) from error


def _remove(staged: Iterable[str], journal: str) -> None:
    for file in staged:
        with suppress(FileNotFoundError):
            os.unlink(file)
    os.unlink(journal)


def _go_on(item: JournalLine, handle: int) -> None:
    """Give a file its new bytes, unless it has them already."""
    state = _state(item, handle)
    if state == _NEW:
        return
    if item.new is None:
        os.unlink(item.file)
        return
    if state == _OLD and (item.old is None or inplace.can_stand_for(item.staged, item.file)):
        with suppress(OSError) if item.old else nullcontext():  # a mount point is written through
            os.rename(item.staged, item.file)
            return
    old, new = item.old_bytes(handle), _staged_bytes(item)
    if old is None or new is None:
        raise OSError(errno.EIO, "the bytes that the journal kept are missing or differ", item.file)
    inplace.write_through(item.file, old, new)


def give_back(item: JournalLine, handle: int) -> None:
    """Give a file its old bytes back if it has the new ones, or a part of them."""
    state = _state(item, handle, back=True)
    if state not in (_NEW, _TORN):
        return
    if item.old is None:
        os.unlink(item.file)
        return
    if item.new is None and os.path.lexists(item.staged):  # the old file itself, renamed
        os.rename(item.staged, item.file)
        return
    old, new = item.old_bytes(handle), _content(item.file)
    if old is None:
        raise OSError(errno.EIO, "the bytes that the journal kept are missing or differ", item.file)
    if new is None:
        with suppress(FileExistsError):
            inplace.stage(item.staged, old, None)
        os.rename(item.staged, item.file)
        return
    # The new file replaced the old one: a copy of the old one replaces it.
    if state == _NEW and not os.path.lexists(item.staged) and inplace.stage(item.staged, old, item.file):
        atomic.flush(item.staged)
        if os.lstat(item.file).st_nlink == 1:
            with suppress(OSError):
                os.rename(item.staged, item.file)
                return
    inplace.write_through(item.file, new, old)


def _state(item: JournalLine, handle: int, *, back: bool = False) -> str:
    """Return which bytes a file has: old, new, or a mix; otherwise why it cannot be changed."""
    try:
        data = _content(item.file)
    except InputError:  # it is a folder or a link now
        return _EDITED
    current = None if data is None else digest(data)
    if current == item.new:
        return _NEW
    if current == item.old:
        return _OLD if back or item.new is None or _staged_bytes(item) is not None else _LOST
    if data is not None and item.old and item.new:
        old, new = item.old_bytes(handle), _staged_bytes(item)
        if old is not None and new is not None and inplace.is_torn(data, old, new):
            return _TORN
    return _EDITED


def _staged_bytes(item: JournalLine) -> bytes | None:
    """Return the staged bytes, if they have the right digest and their file has the right owner and no second name."""
    try:
        state, data = os.lstat(item.staged), _content(item.staged)
    except (FileNotFoundError, InputError):
        return None
    owners = {os.geteuid()}
    with suppress(FileNotFoundError):
        owners.add(os.lstat(item.file).st_uid)
    same = data is not None and digest(data) == item.new
    return data if same and state.st_uid in owners and state.st_nlink == 1 else None


def _content(file: str) -> bytes | None:
    """Return the bytes of a file, or None where there is none. A link is not followed."""
    return regular.read(file, resolve=_no_link) if os.path.lexists(file) else None


def _no_link(file: str) -> str:
    raise InputError(Problem("is a link", file=file))
