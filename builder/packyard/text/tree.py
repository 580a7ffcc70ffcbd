"""A folder's files: found and read once, and written back whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.text import journal


class Tree:
    """Files below a folder, by paths with ``/``. What was read is remembered, so that a file that somebody else
    changes before it is written stops the command.

    Symbolic links to files are read, and edited where they lead, as long as that is inside the folder;
    linked folders are not entered.
    """

    def __init__(self, root_dir: Path) -> None:
        self.root_dir = root_dir
        self._read: dict[str, bytes] = {}

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        file = self.root_dir / path
        try:
            if not file.is_file():
                raise InputError(Problem("is no regular file", file=str(file)))
            data = file.read_bytes()
        except OSError as error:
            raise UnavailableError(f"{file}: {error.strerror}") from error
        self._read[path] = data
        return data

    def walk(self, below: str = "") -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield folder, names of its folders and names of its files, in byte order, as `os.walk` does.

        Taking a name out of the folders keeps the walk from entering it.
        """
        top = self.root_dir / below

        def fail(error: OSError) -> None:
            raise UnavailableError(f"{error.filename}: {error.strerror}") from error

        for folder, folders, files in os.walk(top, onerror=fail):
            folders.sort(key=os.fsencode)
            path = os.path.relpath(folder, self.root_dir)
            yield "" if path == "." else path, folders, sorted(files, key=os.fsencode)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace the content of files that were read, all or none; their folders have to be ``journal.locked``."""
        if not files:
            return
        targets = {self._target(path): data for path, data in files.items()}
        changed = [path for path in self._read if path in files and not self._is_as_read(path)]
        if changed:
            raise ConflictError(
                *(
                    f"{self.root_dir / path}: was changed by somebody else meanwhile; nothing was written"
                    for path in changed
                )
            )
        journal.write(self.root_dir, targets)

    def _is_as_read(self, path: str) -> bool:
        try:
            return (self.root_dir / path).read_bytes() == self._read[path]
        except OSError:  # it is gone, say
            return False

    def _target(self, path: str) -> Path:
        file = self.root_dir / path
        if not file.is_symlink():
            return file
        target = file.resolve()
        if not target.is_relative_to(self.root_dir.resolve()):
            raise InputError(Problem(f"is a link to {target}, outside of {self.root_dir}", file=str(file)))
        return target
