"""A folder's files: found and read once, and written back whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.files import journal, regular


class Tree:
    """Files below a folder, by paths with ``/``. What was read is remembered, so that a file that somebody else
    changes before it is written stops the command; so are the names in each folder.

    Symbolic links to files are read, and edited where they lead, as long as that is inside the folder;
    linked folders are not entered.

    Paths are plain text here: a `Path` for each of 4,000 files takes as long as reading them.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = root_dir
        #: Stands before a path in messages.
        self.prefix = "" if str(root_dir) == "." else os.path.join(root_dir, "")
        self._read: dict[str, bytes] = {}
        self._listed: dict[str, tuple[list[str], list[str], set[str]]] = {}

    def has_file(self, path: str) -> bool:
        """Say whether there is a regular file, or a link to one."""
        return os.path.isfile(self.prefix + path)

    def has(self, path: str) -> bool:
        """Say whether there is anything, or a link to it."""
        return os.path.exists(self.prefix + path)

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        data = self._read[path] = regular.read(self.prefix + path)
        return data

    def walk(self, below: str = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield folder, names of its folders and names of its files, in byte order, as `os.walk` does.

        Taking a name out of the folders keeps the walk from entering it.
        """
        ahead = [below]
        while ahead:
            folder = ahead.pop()
            if folder not in self._listed:
                self._listed[folder] = _names(self.prefix + folder or ".")
            known, files, links = self._listed[folder]
            folders = known.copy()
            yield folder, folders, files
            start = f"{folder}/" if folder else ""
            ahead += [start + name for name in reversed(folders) if name not in links]

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """Replace the content of files that were read, all or none; their folders have to be ``journal.locked``.

        One that was not there is made, one without content is removed.
        """
        if not files:
            return
        targets = {self._target(path): data for path, data in files.items()}
        changed = [
            f"{self.prefix}{path}: was changed by somebody else meanwhile; nothing was written"
            for path in files
            if path in self._read and not self._is_as_read(path)
        ]
        if changed:
            raise ConflictError(*changed)
        journal.write(self.root_dir, targets)

    def _is_as_read(self, path: str) -> bool:
        try:
            return regular.read(self.prefix + path) == self._read[path]
        except InputError:  # it is gone, say
            return False

    def _target(self, path: str) -> str:
        file = self.prefix + path
        if not os.path.islink(file):
            return file
        target = Path(file).resolve()
        if not target.is_relative_to(self.root_dir.resolve()):
            raise InputError(Problem(f"is a link to {target}, outside of {self.root_dir}", file=file))
        return str(target)


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
        raise UnavailableError(f"{error.filename}: {error.strerror}") from error
    return sorted(folders, key=os.fsencode), sorted(files, key=os.fsencode), links


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself, say
        return False
