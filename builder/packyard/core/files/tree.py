"""A folder's files: found and read once, and written back all or none.

Every path is relative, has no ``..``, and no link on it leads out of the root: the bundle that the folder belongs to,
or the folder itself (`paths.root_of`).
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError
from packyard.core.files import exclusive, notice, paths, regular, replace
from packyard.core.files.replace import FileChange
from packyard.core.files.steps import OPEN, StepLog

_PATH_MAX = 4096
#: Folders below a directory that are looked at: who types a verb in / or at home means none of all that.
_MOST = 10_000
_NAME = "name the directory of a package; packyard get NAME fetches one"


class _OutsideError(InputError):
    """A link leads out of the root."""


class Tree:
    """Files below a folder, by paths with ``/``.

    A file is read once, also by the trees that are made by `at`; one that somebody else changes before it is written
    stops the command. Symbolic links to files are followed, also for writing, if they lead to a place inside the root;
    linked folders are not entered. Paths are plain text: a `Path` for each of 4,000 files takes as long as a read.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = root_dir
        #: Stands before a path in messages.
        self.prefix = "" if str(root_dir) == "." else os.path.join(root_dir, "")
        self._read: dict[str, bytes | None] = {}  # by real folder and name; None where there is nothing
        self._real = {"": os.path.realpath(root_dir).rstrip("/")}
        self._root = ""
        self._log: StepLog | None = None

    def at(self, folder: str | os.PathLike[str]) -> "Tree":
        """Return the tree of another folder, which knows what was read."""
        tree = Tree(Path(folder))
        tree._read = self._read
        return tree

    def has_file(self, path: str) -> bool:
        """Return whether there is a regular file or a link to one; False in a folder that is a link out of the root."""
        return self._asks(os.path.isfile, path)

    def has(self, path: str) -> bool:
        """Return whether there is anything or a link to it; False in a folder that is a link out of the root."""
        return self._asks(os.path.exists, path)

    def _asks(self, question: Callable[[str], bool], path: str) -> bool:
        try:
            return question(self._file(path))
        except _OutsideError:
            return False

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        file = self._file(path)
        if (data := self._read.get(file)) is None:
            data = self._read[file] = regular.read(self.prefix + path, resolve=self._leads)
        return data

    def walk(self, below: str = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield folder, names of its folders and names of its files, in byte order, as `os.walk` does.

        A folder whose name the caller removes from the list is not entered, nor one that is gone by then.
        """
        self._folder(below)
        top = self.prefix + below or os.curdir

        def unreadable(error: OSError) -> None:
            if error.filename == top or not isinstance(error, FileNotFoundError):
                raise UnavailableError(Problem(error.strerror or str(error), file=error.filename, hint=_NAME))

        for number, (path, folders, files) in enumerate(os.walk(top, onerror=unreadable)):
            if number == _MOST:
                raise InputError(Problem(f"holds more than {_MOST:,} folders", file=top, hint=_NAME))
            folders.sort(key=os.fsencode)
            folder = path[len(top) :].strip("/")
            yield "/".join(filter(None, (below, folder))), folders, sorted(files, key=os.fsencode)

    @contextmanager
    def locked(self, log: StepLog | None = None, *, below: bool = True) -> Iterator[None]:
        """Lock the root for one writer, and finish what killed writers left in this folder and those above and below.

        What is written goes into ``log``, which gets a warning of a change that another user left open. Without
        ``below``, that is not looked for in the folders below; for commands that do not enter them either.
        """
        if not os.path.isdir(self.root_dir):
            raise InputError(Problem("is not a directory", file=os.fspath(self.root_dir)))
        self._log = log = log or StepLog.of_user()
        with exclusive.lock(self.root, log.tell) as is_free:
            if not is_free:
                self._read.clear()  # a writer had it
            for step in log.at(self.root, OPEN):
                replace.settle(step, log.tell)
                self._read.clear()
            for warning in self.warnings(below=below):
                log.tell(warning)
            yield

    def write(
        self,
        files: Mapping[str, bytes | None],
        *,
        mode: int = 0o644,
        executable: Collection[str] = (),
        log: StepLog | None = None,
    ) -> None:
        """Replace the content of files that were read, all or none, while the tree is `locked`.

        A file that did not exist is created, with the folders above it; one whose content is None is removed, with the
        folders below the root that it leaves empty. ``mode`` is that of new files; ``log`` is in the
        place of that of `locked`.
        """
        by_file: dict[str, FileChange] = {}
        for path, new in files.items():
            name = self._file(path)
            file = self._leads(name) if os.path.islink(name) else name
            below, bits = file.removeprefix(self.root).lstrip("/"), mode | (0o111 if path in executable else 0)
            change = FileChange(below, file, self._read.get(name), new, self.prefix + path, bits)
            if (first := by_file.setdefault(file, change)).new != new:
                raise ConflictError(Problem(f"is {first.name} under another name, with other bytes", file=change.name))
        changes = [change for change in by_file.values() if change.old != change.new]
        added = [change.file for change in changes if change.old is None]
        removed = [change.file for change in changes if change.new is None]
        if not changes:
            return
        try:
            for folder in {os.path.dirname(file) for file in added}:
                os.makedirs(folder, exist_ok=True)
            replace.write(self.root, changes, log or self._log or StepLog.of_user())
        except (OSError, PackyardError) as error:
            self._remove_empty(added)
            if isinstance(error, PackyardError):
                raise
            raise UnavailableError(Problem(f"{error.strerror}; nothing was changed", file=error.filename)) from error
        self._read |= {self._file(path): new for path, new in files.items()}
        self._remove_empty(removed)

    def _remove_empty(self, files: Iterable[str]) -> None:
        for folder in map(os.path.dirname, files):
            with suppress(OSError):  # it is not empty
                while folder not in (self.root, self._real[""]):
                    os.rmdir(folder)
                    folder = os.path.dirname(folder)

    @property
    def root(self) -> str:
        """The real folder that no path may lead out of."""
        self._root = self._root or paths.root_of(self._real[""] or "/")
        return self._root

    def warnings(self, *, below: bool = True) -> Iterator[str]:
        """Yield what to say of the notices of open changes, here, above and below."""
        real = self._real[""] or "/"
        folders = [*paths.above(real)]
        with suppress(PackyardError):  # the command reports it if it enters the folder
            for folder, names, files in self.walk():
                if notice.NAME in files:
                    folders.append(self._folder(folder) or "/")
                if not below:
                    names.clear()
        yield from filter(None, map(notice.warning, folders))

    def _file(self, path: str) -> str:
        """Return a path with its folder made real; it must lie inside the root."""
        folder, _, name = path.rpartition("/")
        real = self._real.get(folder) or self._folder(folder, path)
        if name in ("", ".", "..") or path.startswith("/") or "\0" in path:
            raise self._leads_out(path)
        return f"{real}/{name}"

    def _folder(self, folder: str, path: str = "") -> str:
        """Return the real path of a folder, which must lie inside the root; messages name ``path``."""
        if folder not in self._real:
            if folder.startswith("/") or "\0" in folder or ".." in folder.split("/") or len(folder) > _PATH_MAX:
                raise self._leads_out(path or folder)
            self._real[folder] = self._leads(f"{self._real['']}/{folder}")
        return self._real[folder]

    def _leads_out(self, path: str) -> InputError:
        return InputError(Problem(f"leads out of {self.root_dir}", file=self.prefix + path[:_PATH_MAX]))

    def _leads(self, link: str) -> str:
        """Return where a link leads, which must be inside the root."""
        target = os.path.realpath(link)
        if not paths.is_inside(target, self.root):
            raise _OutsideError(Problem(f"is a link to {target}, outside of {self.root_dir}", file=link))
        return target
