"""Several files get new bytes as one change: all of them, or none.

1. Each file is compared with what was read of it.
2. The step is written (`steps`), and a `notice` of it put into the package.
3. The new files are staged beside the old ones, and on the disk.
4. They take their places, renamed or `inplace`.
5. The step ends.

What fails gives every file its old bytes back. What a kill leaves is finished by the next command there, but for files
that were edited since: these stay as they are, and the user is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from packyard.core import ending
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError
from packyard.core.files import atomic, inplace, notice, regular
from packyard.core.files.steps import Changes, Step, StepLog, staged_names

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


class _Move:
    """A change of a file on its way to the disk."""

    def __init__(self, root: str, change: FileChange, staged: str) -> None:
        self.file = os.path.join(root, change.path)
        self.staged = f"{os.path.dirname(self.file)}/{staged}"
        self.name = change.name
        self.old = change.old
        self.new = change.new
        self.mode = change.mode
        #: The state of the file when it was compared with the old bytes; None where there was none.
        self.state: tuple[int, ...] | None = None
        #: Whether the staged file may replace the old one; otherwise that is written through.
        self.stands = True


class _Files(NamedTuple):
    """The bytes of the files of a change before and after, by their paths below a root, and what each is staged as."""

    root: str
    both: Changes
    staged: Mapping[str, str]


class UnfinishedError(UnavailableError):
    """Some files have their new bytes and some their old ones; the next command continues from there."""


def write(root: str, changes: Iterable[FileChange], log: StepLog) -> None:
    """Replace the content of files below a real folder that is locked: all of them, or none.

    Owner, mode, attributes and hard links of a file stay. Raises `ConflictError` where a file
    was changed since it was read, and `UnavailableError` where one cannot be changed; then nothing is changed.
    `UnfinishedError` means that the change could be neither completed nor taken back.
    """
    changes = [change for change in changes if change.old != change.new]
    token = os.urandom(8).hex()
    names = dict(zip(staged_names(token), changes, strict=False))
    moves = _prepare(root, names)
    if not moves:
        return
    both = {change.path: (change.old, change.new) for change in changes}
    files = _Files(root, both, {change.path: name for name, change in names.items()})
    try:
        with (
            ending.as_interrupt(),
            log.begin(root, token, both) as step,
            notice.posted(root, str(step.file) if step else "") as posted,
        ):
            _write(files, moves, step, posted)
    except OSError as error:
        raise _unavailable(error, moves, root) from error


def _write(files: _Files, moves: Sequence[_Move], step: Step | None, posted: str) -> None:
    """Stage the new files, and let them take their places; end the step, and remove the notice that was ``posted``."""
    is_made = False
    try:
        _stage_all(moves)
        with ending.later():
            try:
                for move in moves:
                    _take_place(move)
            except (OSError, PackyardError) as error:
                _give_back(files, error)
                raise
            is_made = True
            with suppress(OSError):  # then the step stays open, and the next command ends it
                _clear([move.staged for move in moves if move.new is None or not move.stands], posted)
                if step:
                    step.end()
    except UnfinishedError:
        raise
    except BaseException:
        if not is_made:
            with suppress(OSError):
                _clear([move.staged for move in moves], posted)
                if step:
                    step.drop()
        raise


def _give_back(files: _Files, reason: Exception) -> None:
    """Give every file its old bytes back, but one that somebody changed meanwhile."""
    try:
        _carry_out(files, _rest(files, back=True)[0], back=True)
    except (OSError, PackyardError) as error:
        message = f"{_why(reason)}, and the change could not be taken back: {_why(error)}"
        hint = "the next packyard command there finishes it"
        raise UnfinishedError(Problem(message, file=files.root, hint=hint)) from error


def settle(step: Step, tell: Callable[[str], object]) -> None:
    """Finish a dead writer's step; say which files were changed since then, and are left alone."""
    with step.claimed() as is_open:
        if not is_open:
            return
        files = _Files(step.root, step.contents(), step.staged())
        changes, edited = _rest(files, back=False)
        try:
            _carry_out(files, changes, back=False)
            notice.remove(step.root, str(step.file))
        except OSError as error:
            file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else step.root
            message = f"an interrupted change cannot be finished: {error.strerror or error}"
            raise UnavailableError(Problem(message, file=file)) from error
        step.end()
    for file in edited:
        tell(f"{file}: was changed after an interrupted command, which is finished now; left as it is")


def _rest(files: _Files, *, back: bool) -> tuple[dict[str, FileChange], list[str]]:
    """Return what an open change has yet to do, or to take back, and the files that were changed otherwise since."""
    changes: dict[str, FileChange] = {}
    edited: list[str] = []
    for path, (old, new) in files.both.items():
        target, file = old if back else new, os.path.join(files.root, path)
        folder = os.path.dirname(file)
        with suppress(InputError):  # it is a folder or a link now
            now = _content(file)
            if os.path.realpath(folder) == folder and (now in (old, new) or _is_torn(now, old, new)):
                if now != target:
                    changes[path] = FileChange(path, now, target, file)
                continue
        edited.append(file)
    return changes, edited


def _carry_out(files: _Files, changes: Mapping[str, FileChange], *, back: bool) -> None:
    """Make the changes that an open one has yet to do, or to take back, and remove what it staged."""
    for change in changes.values():
        if change.old is None:
            os.makedirs(os.path.dirname(change.name), exist_ok=True)
    staged = {path: os.path.join(files.root, os.path.dirname(path), name) for path, name in files.staged.items()}
    moved = {path for path, change in changes.items() if back and change.old is None and os.path.lexists(staged[path])}
    for path, file in staged.items():
        with suppress(FileNotFoundError):
            if path in moved:  # the old file itself
                os.rename(file, os.path.join(files.root, path))
            else:
                os.unlink(file)
    moves = _prepare(files.root, {files.staged[path]: change for path, change in changes.items() if path not in moved})
    _stage_all(moves)
    for move in moves:
        _take_place(move)
    _clear(move.staged for move in moves)


def _prepare(root: str, changes: Mapping[str, FileChange]) -> list[_Move]:
    """Check that every file is as it was read and may be changed; return each once, even if it has two names.

    ``changes`` are by the names under which new files are staged.
    """
    problems: list[Problem] = []
    changed: list[Problem] = []
    linked: dict[tuple[int, ...], _Move] = {}
    moves = [_Move(root, change, staged) for staged, change in changes.items()]
    for move in moves:
        try:
            _compare(move, linked)
        except ConflictError as error:
            changed += error.problems
        except OSError as error:
            problems.append(Problem(f"{error.strerror or error}; nothing was changed", file=move.name))
    problems += [
        Problem("no permission to write in this folder; nothing was changed", file=folder)
        for folder in sorted({os.path.dirname(move.file) for move in moves})
        if not os.access(folder, os.W_OK | os.X_OK)
    ]
    if changed:
        raise ConflictError(*changed)
    if problems:
        raise UnavailableError(*problems)
    return [move for move in moves if move.state is None or linked.get(move.state[:2], move) is move]


def _compare(move: _Move, linked: dict[tuple[int, ...], _Move]) -> None:
    """Compare a writable file with what was read of it; ``linked`` collects the files that have several names."""
    refusal = ConflictError(Problem(_CHANGED, file=move.name))
    if not os.path.lexists(move.file):
        if move.old is not None:
            raise refusal
        return
    state = os.lstat(move.file)
    try:
        now = _content(move.file)
    except InputError:  # not a regular file any more
        raise refusal from None
    if now != move.old:
        raise refusal
    os.close(os.open(move.file, _FOR_CHANGE))
    move.state = _state(state)
    if state.st_nlink > 1 and move.new is not None:
        move.stands = False
        first = linked.setdefault(move.state[:2], move)
        if first.new != move.new:
            raise ConflictError(Problem(f"is {first.name} under another name, with other bytes", file=move.name))


def _state(state: os.stat_result) -> tuple[int, ...]:
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _stage_all(moves: Sequence[_Move]) -> None:
    """Write the new files beside the old ones, and wait until they are on the disk."""
    new = [move for move in moves if move.new is not None]
    for move in new:
        _stage(move)
    atomic.flush_all([move.staged for move in new])


def _stage(move: _Move) -> None:
    assert move.new is not None
    same = inplace.stage(move.staged, move.new, move.file if move.state else None, mode=move.mode)
    move.stands = move.stands and same


def _take_place(move: _Move) -> None:
    """Rename the new file to its place, if the file there is still the one that was compared."""
    try:
        state = _state(os.lstat(move.file))
    except FileNotFoundError:
        state = None
    if state != move.state:
        raise ConflictError(Problem(_CHANGED, file=move.name))
    if move.new is None:
        os.rename(move.file, move.staged)
        return
    if move.stands:
        try:
            os.rename(move.staged, move.file)
        except OSError:  # a mount point, or a folder with the sticky bit
            if move.old is None:
                raise
            move.stands = False
        else:
            return
    assert move.old is not None
    inplace.write_through(move.file, move.old, move.new)


def _content(file: str) -> bytes | None:
    """Return the bytes of a file, or None where there is none. A link is not followed."""
    return regular.read(file, resolve=_no_link) if os.path.lexists(file) else None


def _no_link(file: str) -> str:
    raise InputError(Problem("is a link", file=file))


def _is_torn(now: bytes | None, old: bytes | None, new: bytes | None) -> bool:
    """Say whether a file was written through in part."""
    return now is not None and old is not None and new is not None and inplace.is_torn(now, old, new)


def _clear(files: Iterable[str], posted: str = "") -> None:
    for file in (*files, *([posted] if posted else ())):
        with suppress(FileNotFoundError):
            os.unlink(file)


def _why(error: Exception) -> str:
    if isinstance(error, PackyardError):
        return error.problems[0].message
    return getattr(error, "strerror", None) or str(error)


def _unavailable(error: OSError, moves: Sequence[_Move], root: str) -> UnavailableError:
    names = {path: move.name for move in moves for path in (move.file, move.staged)}
    file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else root
    return UnavailableError(Problem(f"{_why(error)}; nothing was changed", file=names.get(file, file)))
