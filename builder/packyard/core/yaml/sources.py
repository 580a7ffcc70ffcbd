"""The files of a workspace and of its libraries: read only, each once, and only what lies below their roots.

    sources = Sources(root_dir)
    sources.read("packages/bert-k8s/package.yaml")     b"apiVersion: packyard/v1…"
    sources.inputs                                     {"packages/bert-k8s/package.yaml": "sha256:…"}

Paths are texts below the root, joined by slashes; the root is empty. ``libraries/NAME`` is the root of the library
NAME, wherever its files are. A path that leads out of the root that it begins in, by ``..``, as an absolute one or by
a link, is refused whatever is asked of it, and so is a file that is not a regular one. A path of a workspace may lead
into its libraries, one of a library into those that it builds on itself, and nowhere else.

What many tasks of a run make of the same sources is made by `Sources.once` for the first of them; its inputs are those
of the others, too.
"""

import os
import posixpath
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.core.files import paths, regular
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases
from packyard.core.yaml.document import source_of
from packyard.core.yaml.node import Document, Source

Made = TypeVar("Made")

#: Where libraries stand in a workspace.
LIBRARIES = "libraries"
_ALONE: Mapping[str, Path] = {}


class SourceTree:
    """The workspace, or the library at a place in it; ``root_dir`` is the folder as messages show it."""

    def __init__(self, place: str, root_dir: Path) -> None:
        self.place = place
        self.root_dir = root_dir
        self.root = Path.cwd() / root_dir  # links and .. stay
        self._inside: set[str] = set()

    def outside(self, path: str) -> str:
        """Return where a path below the root leads if that is outside of it, else an empty text."""
        if path in self._inside:
            return ""
        if not (leads := paths.outside(self.root, self.root / path)):
            self._inside.add(path)
        return leads


class Sources:
    """The files below ``root_dir`` as one task sees them; ``inputs`` are those that it read, with their digests.

    ``memo`` is that of a run with many tasks. The sources are taken to stay as they are for the length of the run.
    ``libraries`` are the folders of libraries by their places, ``libraries/NAME``.
    """

    whose = "workspace"

    def __init__(self, root_dir: Path, memo: Memo | None = None, libraries: Mapping[str, Path] = _ALONE) -> None:
        self.root_dir = root_dir
        self.memo = Memo() if memo is None else memo
        self.inputs: dict[str, Digest] = {}
        self._trees = {
            place: self.memo.once(("tree", place, folder), partial(SourceTree, place, folder))
            for place, folder in {"": root_dir, **libraries}.items()
        }
        self._files: dict[str, tuple[bytes, Digest]] = {}

    def shown(self, path: str) -> str:
        """Return a path as messages show it: below the root as the user named that, or below that of its library.

        What packyard carries or fetched is no file of the user's: it is shown below its place in the workspace.
        """
        tree, rest = self._tree(path)
        is_hidden = tree.root_dir.is_absolute() and not tree.root_dir.is_relative_to(self.root_dir)
        return posixpath.join(tree.place, rest) if tree.place and is_hidden else str(tree.root_dir / rest)

    def read(self, path: str) -> bytes:
        """Return a file's bytes, those of the first time."""
        tree, rest = self._check(path)
        if path not in self._files:
            data = regular.read(str(tree.root_dir / rest))
            self._files[path] = data, Digest.of(data)
        data, self.inputs[path] = self._files[path]
        return data

    def text(self, path: str) -> Source:
        """Return a file's text."""
        return source_of(self.read(path), self.shown(path))

    def documents(self, path: str) -> list[Document]:
        """Return the YAML documents of a file, with aliases followed, for a caller who changes no node."""
        return [document for document in aliases.read(self.text(path), self.memo) if document.root is not None]

    def exists(self, path: str) -> bool:
        """Say whether there is anything, links followed."""
        return os.path.exists(self._real(path))  # noqa: PTH110  # False for a name that is too long, too

    def is_file(self, path: str) -> bool:
        """Say whether there is a file, links followed."""
        return regular.is_file(self._real(path))

    def is_folder(self, path: str) -> bool:
        """Say whether there is a folder, links followed."""
        return regular.is_folder(self._real(path))

    def is_link(self, path: str) -> bool:
        """Say whether there is a symbolic link."""
        return self._real(path).is_symlink()

    def is_executable(self, path: str) -> bool:
        """Say whether the owner of a file may run it."""
        file = self._real(path)
        return regular.is_file(file) and bool(file.stat().st_mode & 0o100)

    def resolve(self, path: str) -> str:
        """Return the path without links and dots."""
        tree, rest = self._check(path)
        way = paths.below(os.path.realpath(tree.root / rest), os.path.realpath(tree.root))
        return posixpath.join(tree.place, way).rstrip("/")

    def list(self, folder: str, pattern: str = "*") -> list[str]:
        """Return what matches a pattern of ``pathlib`` below a folder, sorted."""
        real = self._real(folder)
        return [posixpath.join(folder, path.relative_to(real).as_posix()) for path in sorted(real.glob(pattern))]

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned the first time in this run, and note the files that it was made from."""

        def noted() -> tuple[dict[str, Digest], Made]:
            outer, self.inputs = self.inputs, {}
            try:
                result = make()
            finally:
                inner, self.inputs = self.inputs, outer
            return inner, result

        inputs, result = self.memo.once((self._trees[""].root, key), noted)
        self.inputs.update(inputs)
        return result

    def _real(self, path: str) -> Path:
        """Return where a path below the root stands."""
        tree, rest = self._check(path)
        return tree.root / rest

    def _check(self, path: str) -> tuple[SourceTree, str]:
        """Return the tree of a path, and the path in it; refuse what is not below its root."""
        if "\0" in path:
            raise InputError(Problem("no file has such a name", file=self.shown(path)))
        tree, rest = self._tree(path)
        if leads := tree.outside(rest):
            whose = f"library {posixpath.basename(tree.place)}" if tree.place else self.whose
            raise InputError(Problem(f"leads to {leads}, outside of the {whose}", file=self.shown(path)))
        return tree, rest

    def _tree(self, path: str, place: str = "") -> tuple[SourceTree, str]:
        """Return the tree of a path, and the path in it. What begins in a library stays there, wherever it leads.

        ``bases/mine/../../libraries/NAME/bases/job`` is ``bases/job`` of the library NAME.
        """
        for spelling in (path, posixpath.normpath(path)) if len(self._trees) > 1 else ():
            word, _, rest = spelling.partition("/")
            name, _, rest = rest.partition("/")
            library = posixpath.join(place, word, name)
            if word == LIBRARIES and library in self._trees:
                return self._tree(rest, library)
        return self._trees[place], path
