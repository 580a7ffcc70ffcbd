"""The step log in the user's state folder: what a command changes, written and synced before it is changed.

    00000007-<size>-<token>.open    where its writer died, the next command there finishes it
    00000007-<size>-<token>.done    made: `undo` gives the files their bytes of before
    00000007-<size>-<token>.undone  taken back: `undo --redo` makes it again, until something else changes there

The first line of a step names its files and their sizes, before and after; their bytes follow:

    {"root": "/home/ann/bert", "title": "QUEUE=gpu", "ends": "done", "instead": "", "files": {"job.yaml": [120, 122]}}

No step lies in a package, so none is packed, and nothing that a package brings is obeyed. The newest hundred are kept,
up to 256 MiB together; the last one is kept whatever its size.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files import atomic, home, paths, regular

KEPT = 100
KEPT_BYTES = 256 << 20
OPEN, DONE, UNDONE = "open", "done", "undone"
_DRAFT = "draft"  # what is written
_LINE = 64 << 20

#: The bytes of files by their paths below a root; None where there is no file.
Contents = Mapping[str, "bytes | None"]
#: Those before and after.
Changes = Mapping[str, "tuple[bytes | None, bytes | None]"]


class Step(NamedTuple):
    """One change: the sizes of its files before and after, by their paths below a real folder; None is no file.

    When it is made it gets the state ``ends``, or goes where it has no title; the step ``instead`` of which it is goes.
    """

    file: Path
    root: str
    title: str
    ends: str
    instead: str
    sizes: Mapping[str, tuple[int | None, int | None]]

    def path(self, name: str) -> str:
        """Return the absolute path of a file."""
        return os.path.join(self.root, name)

    def contents(self) -> Changes:
        """Return the bytes of every file before and after."""
        with regular.opened(self.file) as stream:
            stream.readline(_LINE)

            def data(size: int | None) -> bytes | None:
                return None if size is None else stream.read(size)

            return {path: (data(old), data(new)) for path, (old, new) in self.sizes.items()}

    def inside(self, *directories: Path) -> list[str]:
        """Return the files that lie in one of the directories or below it."""
        places = [os.path.realpath(directory) for directory in directories]
        return [name for name in self.sizes if any(paths.is_inside(self.path(name), place) for place in places)]

    @contextmanager
    def claimed(self) -> Iterator[bool]:
        """Lock the step, once its writer is gone; False where it came to its end."""
        try:
            handle = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            yield False
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self.file.exists() and os.path.samestat(os.fstat(handle), self.file.stat())
        finally:
            os.close(handle)

    def end(self) -> None:
        """Say that the change is made; a step that stays open is ended by the next command there."""
        with suppress(OSError):
            if self.title:
                self.file.rename(self.file.with_suffix(f".{self.ends}"))
            else:
                self.file.unlink()
            if self.instead:
                self.file.with_name(self.instead).unlink(missing_ok=True)
            else:
                StepLog(self.file.parent).forget(self.root)


class StepLog(NamedTuple):
    """The steps in a folder, which is created with the first one; where it cannot be, none are kept.

    A change gets the ``title``, and can be undone if that is not empty. ``tell`` gets messages for the user.
    """

    folder: Path
    title: str = ""
    tell: Callable[[str], object] = lambda _: None
    ends: str = DONE
    instead: str = ""

    @classmethod
    def of_user(cls) -> "StepLog":
        """Return the log of this user, for changes that are not undone."""
        return cls(home.state_dir() / "steps")

    @contextmanager
    def begin(self, root: str, token: str, files: Changes) -> Iterator[Step | None]:
        """Write a step to the disk, locked as long as its writer lives; None where that is not possible."""
        step, handle = None, -1
        try:
            step, handle = self._open(self.folder, root, token, files)
        except OSError as error:
            lost = "`packyard undo` cannot undo this change, and a crash amid it stays"
            why = home.lack(self.folder) or f"{self.folder}: {error.strerror or error}"
            self.tell(f"no history is kept: {why}; {lost}")
        try:
            yield step
        finally:
            if handle >= 0:
                os.close(handle)

    def _open(self, folder: Path, root: str, token: str, files: Changes) -> tuple[Step, int]:
        sizes = {path: (_size(old), _size(new)) for path, (old, new) in files.items()}
        head = {"root": root, "title": self.title, "ends": self.ends, "instead": self.instead, "files": sizes}
        line = json.dumps(head).encode() + b"\n"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = self._names()
        size = len(line) + sum(size or 0 for both in sizes.values() for size in both)
        file = folder / f"{_number(names[0]) + 1 if names else 1:08}-{size}-{token}.{OPEN}"
        draft = file.with_suffix(f".{_DRAFT}")
        handle = atomic.create(str(draft), (line, *(data for both in files.values() for data in both if data)))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._prune(names, size)
            os.fsync(handle)
            draft.rename(file)
            atomic.flush(str(folder))
        except BaseException:
            os.close(handle)
            draft.unlink(missing_ok=True)
            file.unlink(missing_ok=True)
            raise
        return Step(file, root, self.title, self.ends, self.instead, sizes), handle

    def at(self, root: str, *states: str) -> list[Step]:
        """Return the steps in some states of a real folder, and of those above and below it, the newest first.

        There are none where the log cannot be read: `begin` says so.
        """
        steps: list[Step] = []
        with suppress(UnavailableError):
            steps += self.steps(*states)
        return [step for step in steps if paths.is_inside(step.root, root) or paths.is_inside(root, step.root)]

    def forget(self, root: str) -> None:
        """Leave nothing to be done again in a real folder: something else was changed there, or it is a new one."""
        for step in self.at(root, UNDONE):
            step.file.unlink(missing_ok=True)

    def steps(self, *states: str) -> Iterator[Step]:
        """Yield the steps in some states, the newest first."""
        try:
            names = self._names()
        except OSError as error:
            problem, hint = error.strerror or str(error), "XDG_STATE_HOME names another folder"
            raise UnavailableError(home.explained(Problem(problem, file=str(self.folder), hint=hint))) from error
        for file in (self.folder / name for name in names if name.partition(".")[2] in states):
            if not os.path.lexists(file):  # another command ended it
                continue
            try:
                yield _parse(file)
            except (InputError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
                self.tell(f"{file}: is not an entry of packyard's history; ignored")

    def _prune(self, names: Iterable[str], newest: int) -> None:
        """Delete the oldest steps, so that the others and the newest stay within the limits."""
        together = newest
        for place, name in enumerate((name for name in names if not name.endswith(f".{OPEN}")), 1):
            size = name.partition("-")[2].partition("-")[0]
            together += int(size) if size.isdecimal() else 0
            if place >= KEPT or together > KEPT_BYTES:
                with suppress(FileNotFoundError):  # pruned by another command
                    os.unlink(os.path.join(self.folder, name))

    def _names(self) -> list[str]:
        """Return the names of the steps' files, the newest first; texts, as each `set` reads a hundred of them."""
        with suppress(FileNotFoundError):  # the folder may be missing
            return sorted(filter(_number, os.listdir(self.folder)), key=_number, reverse=True)
        return []


def _number(name: str) -> int:
    """Return the number of a step by the name of its file; 0 for another file."""
    stem, _, state = name.partition(".")
    digits = stem.partition("-")[0][:18]
    return int(digits) if state in (_DRAFT, OPEN, DONE, UNDONE) and digits.isdecimal() and digits.isascii() else 0


def _size(data: bytes | None) -> int | None:
    return None if data is None else len(data)


def _parse(file: Path) -> Step:
    """Read a step; another form, as of one that was written in part, raises one of many errors."""
    with regular.opened(file) as stream:
        line, size = stream.readline(_LINE), os.fstat(stream.fileno()).st_size
    head: dict[str, Any] = json.loads(line)
    root, title, ends, instead, files = (head[key] for key in ("root", "title", "ends", "instead", "files"))
    if size != len(line) + sum((old or 0) + (new or 0) for old, new in files.values()):
        raise ValueError
    return Step(file, root, title, ends, instead, files)
