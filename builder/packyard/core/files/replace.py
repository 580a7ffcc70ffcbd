"""Several files get new bytes as one change: all of them, or none.

1. Each file is compared with what was read of it.
2. The step is written (`steps`), and a `notice` of it put into the package.
3. The new files are staged beside the old ones, and on the disk.
4. They take their places, renamed or `inplace`.
5. The step ends.

What fails gives every file its old bytes back. What a kill leaves is finished by the next command there, but for files
that were edited since: these stay as they are, and the user is told.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from packyard.core import ending
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError, refuse
from packyard.core.files import atomic, inplace, notice, regular
from packyard.core.files.steps import Step, StepLog

_CHANGED = "was changed by somebody else meanwhile; nothing was written"
_FOR_CHANGE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileChange:
    """New bytes for a file, by its canonical path below the root; None where there is no file, before or after.

    ``name`` is what messages call it, ``mode`` that of a new file.
    """

    def __init__(
        self, path: str, file: str, old: bytes | None, new: bytes | None, name: str, mode: int = 0o644
    ) -> None:
        self.path = path
        #: Where it is, and where its new bytes are staged.
        self.file = file
        self.staged = ""
        self.old = old
        self.new = new
        self.name = name
        self.mode = mode
        #: The state of the file when it was compared with the old bytes; None where there was none.
        self.state: tuple[int, ...] | None = None
        #: Whether the staged file may replace the old one; otherwise that is written through.
        self.stands = True


def write(root: str, listed: Sequence[FileChange], log: StepLog) -> None:
    """Replace the content of files below a real folder that is locked: all of them, or none.

    Owner, mode, attributes and hard links of a file stay. Raises `ConflictError` where a file was changed since it was
    read, and `UnavailableError` where one cannot be changed; then nothing is changed, but where the error says that it
    could not be taken back.
    """
    token = os.urandom(8).hex()
    _name_staged(listed, token)
    changes = _prepare(listed)
    try:
        with (
            ending.as_interrupt(),
            log.begin(root, token, {change.path: (change.old, change.new) for change in listed}) as step,
            notice.posted(root, str(step.file) if step else "") as posted,
        ):
            _write(root, listed, changes, step, posted)
    except OSError as error:
        names = {path: change.name for change in changes for path in (change.file, change.staged)}
        file = _named(error, root)
        raise UnavailableError(Problem(f"{_why(error)}; nothing was changed", file=names.get(file, file))) from error


def _name_staged(changes: Sequence[FileChange], token: str) -> None:
    """Say where the new bytes of each file are staged."""
    for number, change in enumerate(changes):
        change.staged = f"{os.path.dirname(change.file)}/.packyard-new-{token}-{number}"


def _write(
    root: str, listed: Sequence[FileChange], changes: Sequence[FileChange], step: Step | None, posted: str
) -> None:
    """Stage the new files, and let them take their places; end the step, and remove the notice that was ``posted``.

    ``changes`` have each file once, even if it has two names.
    """
    is_old = True  # what all files are
    try:
        _stage_all(changes)
        with ending.later():
            is_old = False
            try:
                for change in changes:
                    _take_place(change)
            except (OSError, PackyardError) as error:
                _give_back(root, listed, error)
                is_old = True
                raise
            with suppress(OSError):  # then the step stays open, and the next command ends it
                _clear([change.staged for change in changes if change.new is None or not change.stands], posted)
                if step:
                    step.end()
    except BaseException:
        if is_old:
            with suppress(OSError):
                _clear([change.staged for change in changes], posted)
                if step:
                    step.file.unlink()
        raise


def _give_back(root: str, listed: Sequence[FileChange], reason: Exception) -> None:
    """Give every file its old bytes back, but one that somebody changed meanwhile."""
    try:
        _carry_out(listed, _rest(listed, back=True)[0], back=True)
    except (OSError, PackyardError) as error:
        message = f"{_why(reason)}, and the change could not be taken back: {_why(error)}"
        hint = "the next packyard command there finishes it"
        raise UnavailableError(Problem(message, file=root, hint=hint)) from error


def settle(step: Step, tell: Callable[[str], object]) -> None:
    """Finish a dead writer's step; say which files were changed since then, and are left alone."""
    with step.claimed() as is_open:
        if not is_open:
            return
        contents = step.contents().items()
        listed = [FileChange(path, step.path(path), *both, step.path(path)) for path, both in contents]
        _name_staged(listed, step.file.stem.rpartition("-")[2])
        changes, edited = _rest(listed, back=False)
        try:
            _carry_out(listed, changes, back=False)
            notice.remove(step.root, str(step.file))
        except OSError as error:
            message = f"an interrupted change cannot be finished: {error.strerror or error}"
            raise UnavailableError(Problem(message, file=_named(error, step.root))) from error
        step.end()
    tell(f"{step.root}: {step.title or 'a change'} was interrupted, and is finished now")
    for file in edited:
        tell(f"{file}: was edited after that, and is left as it is")


def _rest(listed: Iterable[FileChange], *, back: bool) -> tuple[list[FileChange], list[str]]:
    """Return what an open change has yet to do, or to take back, and the files that were changed otherwise since.

    What is left to do of each change is written into it.
    """
    changes: list[FileChange] = []
    edited: list[str] = []
    for change in listed:
        old, new, folder = change.old, change.new, os.path.dirname(change.file)
        with suppress(InputError):  # it is a folder or a link now
            now = _content(change.file)
            if os.path.realpath(folder) == folder and (now in (old, new) or inplace.is_torn(now, old, new)):
                change.old, change.new = now, old if back else new
                changes += [change] if change.new != now else []
                continue
        edited.append(change.file)
    return changes, edited


def _carry_out(listed: Iterable[FileChange], changes: Sequence[FileChange], *, back: bool) -> None:
    """Make the changes that an open one has yet to do, or to take back, and remove what it staged."""
    missing = {change.file for change in changes if change.old is None}
    for file in missing:
        os.makedirs(os.path.dirname(file), exist_ok=True)
    moved = set()
    for change in listed:
        with suppress(FileNotFoundError):
            if back and change.file in missing:  # the old file itself
                os.rename(change.staged, change.file)
                moved.add(change.file)
            else:
                os.unlink(change.staged)
    changes = _prepare([change for change in changes if change.file not in moved])
    _stage_all(changes)
    for change in changes:
        _take_place(change)
    _clear(change.staged for change in changes)


def _prepare(changes: Sequence[FileChange]) -> list[FileChange]:
    """Check that every file is as it was read and may be changed; return each once, even if it has two names."""
    problems: list[Problem] = []
    changed: list[Problem] = []
    linked: dict[tuple[int, ...], FileChange] = {}
    for change in changes:
        try:
            _compare(change, linked)
        except ConflictError as error:
            changed += error.problems
        except OSError as error:
            if os.access(os.path.dirname(change.file), os.W_OK | os.X_OK):
                problems.append(Problem(f"{error.strerror or error}; nothing was changed", file=change.name))
    folders = {os.path.dirname(change.file): os.path.dirname(change.name) or os.curdir for change in changes}
    if barred := sorted(name for folder, name in folders.items() if not os.access(folder, os.W_OK | os.X_OK)):
        more = f", nor in {len(barred) - 1} more" if barred[1:] else ""
        problems.append(Problem(f"no permission to write in this folder{more}; nothing was changed", file=barred[0]))
    refuse(changed, ConflictError)
    refuse(problems, UnavailableError)
    return [change for change in changes if change.state is None or linked.get(change.state[:2], change) is change]


def _compare(change: FileChange, linked: dict[tuple[int, ...], FileChange]) -> None:
    """Compare a writable file with what was read of it; ``linked`` collects the files that have several names."""
    change.state, change.stands = None, True
    refusal = ConflictError(Problem(_CHANGED, file=change.name))
    if not os.path.lexists(change.file):
        if change.old is not None:
            raise refusal
        return
    state = os.lstat(change.file)
    try:
        now = _content(change.file)
    except InputError:  # not a regular file any more
        raise refusal from None
    if now != change.old:
        raise refusal
    os.close(os.open(change.file, _FOR_CHANGE))
    change.state = _state(state)
    if state.st_nlink > 1 and change.new is not None:
        change.stands = False
        first = linked.setdefault(change.state[:2], change)
        if first.new != change.new:
            raise ConflictError(Problem(f"is {first.name} under another name, with other bytes", file=change.name))


def _state(state: os.stat_result) -> tuple[int, ...]:
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _stage_all(changes: Iterable[FileChange]) -> None:
    """Write the new files beside the old ones, and wait until they are on the disk."""
    staged = []
    for change in changes:
        if change.new is not None:
            like = change.file if change.state else None
            is_alike = inplace.stage(change.staged, change.new, like, mode=change.mode)
            change.stands = change.stands and is_alike
            staged.append(change.staged)
    atomic.flush_all(staged)


def _take_place(change: FileChange) -> None:
    """Rename the new file to its place, if the file there is still the one that was compared."""
    try:
        state = _state(os.lstat(change.file))
    except FileNotFoundError:
        state = None
    if state != change.state:
        raise ConflictError(Problem(_CHANGED, file=change.name))
    if change.new is None:
        os.rename(change.file, change.staged)
        return
    if change.stands:
        try:
            os.rename(change.staged, change.file)
        except OSError:  # a mount point, or a folder with the sticky bit
            if change.old is None:
                raise
            change.stands = False
        else:
            return
    assert change.old is not None
    inplace.write_through(change.file, change.old, change.new)


def _content(file: str) -> bytes | None:
    """Return the bytes of a file, or None where there is none. A link is not followed."""
    return regular.read(file, resolve=_no_link) if os.path.lexists(file) else None


def _no_link(file: str) -> str:
    raise InputError(Problem("is a link", file=file))


def _clear(files: Iterable[str], posted: str = "") -> None:
    for file in filter(None, (*files, posted)):
        with suppress(FileNotFoundError):
            os.unlink(file)


def _why(error: Exception) -> str:
    if isinstance(error, PackyardError):
        return error.problems[0].message
    return getattr(error, "strerror", None) or str(error)


def _named(error: OSError, root: str) -> str:
    """Return the file that an error names, or else the root."""
    return os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else root
