"""A folder's files: found and read once, and written back whole or not at all.

Every path is relative, has no ``..``, and leads by no link out of the root: the bundle that the folder is of, else the
folder itself (`paths.root_of`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.files import journal, lock, paths, recovery, regular, replace
from packyard.files.replace import FileChange

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

#: Told of a change that is about to be made: the bytes of every file, by its real path, before (None where there was
#: none) and after (None where there is none then). What it returns is open while files are written, and learns by how
#: it is closed whether they were.
Keep = Callable[[Mapping[Path, "bytes | None"], Mapping[Path, "bytes | None"]], "AbstractContextManager[object] | None"]

_PATH_MAX = 4096


class _OutsideError(InputError):
    """A link leads out of the root."""


class Tree:
    """Files below a folder, by paths with ``/``. What was read is remembered, so that a file that somebody else
    changes before it is written stops the command; so are the names in each folder.

    Symbolic links to files are read, and edited where they lead, as long as that is inside the root;
    linked folders are not entered.

    Paths are plain text here: a `Path` for each of 4,000 files takes as long as reading them.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = root_dir
        #: Stands before a path in messages.
        self.prefix = "" if str(root_dir) == "." else os.path.join(root_dir, "")
        self._read: dict[str, bytes] = {}
        self._listed: dict[str, tuple[list[str], list[str], set[str]]] = {}
        self._real = {"": os.path.realpath(root_dir).rstrip("/")}
        self._root = ""

    def has_file(self, path: str) -> bool:
        """Say whether there is a regular file, or a link to one; in a folder that is a link out of the root none is."""
        try:
            return os.path.isfile(self._file(path))
        except _OutsideError:
            return False

    def has(self, path: str) -> bool:
        """Say whether there is anything, or a link to it; in a folder that is a link out of the root nothing is."""
        try:
            return os.path.exists(self._file(path))
        except _OutsideError:
            return False

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        self._file(path)
        data = self._read[path] = regular.read(self.prefix + path, resolve=self._leads)
        return data

    def walk(self, below: str = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield folder, names of its folders and names of its files, in byte order, as `os.walk` does.

        Taking a name out of the folders keeps the walk from entering it.
        """
        ahead = [below]
        while ahead:
            folder = ahead.pop()
            known, files, links = self._list(folder)
            folders = known.copy()
            yield folder, folders, files
            start = f"{folder}/" if folder else ""
            ahead += [start + name for name in reversed(folders) if name not in links]

    @contextmanager
    def locked(self, *, below: bool = True) -> Iterator[None]:
        """Hold the root for one writer. What a killed writer left, here or in a folder above or below, is finished.

        Without ``below`` nobody looks into the folders below, for a command that does not either.
        """
        if not os.path.isdir(self.root_dir):
            raise InputError(Problem("is no directory", file=os.fspath(self.root_dir)))
        with lock.held(self.root):
            for folder in self._with((journal.JOURNAL, journal.DRAFT), below=below):
                recovery.recover(folder)
                self._listed.clear()
                self._read.clear()
            yield

    def interrupted(self) -> list[str]:
        """Return the folders, here, above or below, that have a change of a writer that died; for who only reads."""
        return [folder for folder in self._with((journal.JOURNAL,)) if journal.is_pending(folder)]

    def settle(self, *, back: bool) -> tuple[list[str], list[str]]:
        """Finish or take back what a killed writer left, but for files that were changed since.

        Return the files that have what they should have, and those that were left as they are.
        """
        done: list[str] = []
        left: list[str] = []
        with lock.held(self.root):
            for folder in self._with((journal.JOURNAL,)):
                some, others = recovery.settle(folder, back=back)
                done += some
                left += others
        return done, left

    def write(self, files: Mapping[str, bytes | None], keep: Keep | None = None, *, mode: int = 0o644) -> None:
        """Replace the content of files that were read, all or none, while the tree is `locked`.

        One that was not there is made, one without content is removed. ``keep`` is told once nothing is left to refuse.
        """
        changes: dict[str, FileChange] = {}
        for path, new in files.items():
            file = self._file(path)
            file = self._leads(file) if os.path.islink(file) else file
            change = FileChange(file.removeprefix(self.root).lstrip("/"), self._read.get(path), new, self.prefix + path)
            if changes.setdefault(file, change).new != new:
                raise ConflictError(Problem(f"is {changes[file].name} too, which gets other bytes", file=change.name))
        changes = {file: change for file, change in changes.items() if change.old != change.new}
        if changes:
            files_by_path = {Path(file): change for file, change in changes.items()} if keep else {}
            before = {file: change.old for file, change in files_by_path.items()}
            after = {file: change.new for file, change in files_by_path.items()}
            with (keep and keep(before, after)) or nullcontext():
                replace.write(self.root, changes.values(), mode=mode)

    @property
    def root(self) -> str:
        """The real folder that no path leads out of."""
        self._root = self._root or paths.root_of(self._real[""] or "/")
        return self._root

    def _with(self, names: tuple[str, ...], *, below: bool = True) -> Iterator[str]:
        """Yield the real folders above, from the top, and then those below, that have a file of one of these names."""
        here = self._real[""] or "/"
        for folder in reversed(list(paths.above(here))):
            if any(os.path.lexists(f"{folder}/{name}") for name in names):
                yield folder
        ahead = [""]
        while ahead:
            folder = ahead.pop()
            try:
                folders, files, links = self._list(folder)
            except UnavailableError:  # the command says so, if it is to enter it
                continue
            if any(name in files or name in folders for name in names):
                yield self._folder(folder) or "/"
            start = f"{folder}/" if folder else ""
            ahead += [start + name for name in reversed(folders) if below and name not in links]

    def _list(self, folder: str) -> tuple[list[str], list[str], set[str]]:
        if folder not in self._listed:
            self._folder(folder)
            self._listed[folder] = _names(self.prefix + folder or ".")
        return self._listed[folder]

    def _file(self, path: str) -> str:
        """Return a path with the real path of its folder, which lies inside the root."""
        folder, _, name = path.rpartition("/")
        real = self._real.get(folder) or self._folder(folder, path)
        if name in ("", ".", "..") or path.startswith("/") or "\0" in path:
            raise self._leads_out(path)
        return f"{real}/{name}"

    def _folder(self, folder: str, path: str = "") -> str:
        """Return the real path of a folder, which lies inside the root; ``path`` is the one that named it."""
        if folder in self._real:
            return self._real[folder]
        if folder.startswith("/") or "\0" in folder or len(folder) > _PATH_MAX:
            raise self._leads_out(path or folder)
        known, real = "", self._real[""]
        for part in folder.split("/"):
            if part == "..":
                raise self._leads_out(path or folder)
            known = f"{known}/{part}" if known else part
            if known not in self._real:
                real = real if part in ("", ".") else f"{real}/{part}"
                self._real[known] = self._leads(real) if os.path.islink(real) else real
            real = self._real[known]
        return self._real[folder]

    def _leads_out(self, path: str) -> InputError:
        return InputError(Problem(f"leads out of {self.root_dir}", file=self.prefix + path[:_PATH_MAX]))

    def _leads(self, link: str) -> str:
        """Return where a link leads, which has to be inside the root."""
        target = os.path.realpath(link)
        if not paths.is_inside(target, self.root):
            raise _OutsideError(Problem(f"is a link to {target}, outside of {self.root_dir}", file=link))
        return target


def _names(folder: str) -> tuple[list[str], list[str], set[str]]:
    """Return the names of the folders, those of all else, and which folders are links."""
    folders, files, links = [], [], set()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _is_folder(entry):
                    files.append(entry.name)
                    continue
                folders.append(entry.name)
                if entry.is_symlink():
                    links.add(entry.name)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file=error.filename or folder)) from error
    return sorted(folders, key=os.fsencode), sorted(files, key=os.fsencode), links


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself, say
        return False
