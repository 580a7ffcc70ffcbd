"""The trees that paths of sources lead into: the workspace, and its libraries at their places.

bases/job/job.yaml                          the workspace
libraries/NAME/bases/job/job.yaml           the library NAME, wherever its files are
bases/mine/../../libraries/NAME/bases/job   as well
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from packyard.core.files import paths
from packyard.core.work.memo import Memo

#: Where libraries stand in a workspace.
LIBRARIES = "libraries"


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
        leads = paths.outside(self.root, self.root / path)
        if not leads:
            self._inside.add(path)
        return leads


class Trees:
    """The trees that paths lead into."""

    def __init__(self, root_dir: Path, libraries: Mapping[str, Path], memo: Memo) -> None:
        self._trees = {
            place: memo.once(("tree", place, folder), partial(SourceTree, place, folder))
            for place, folder in {"": root_dir, **libraries}.items()
        }

    def find(self, path: str) -> tuple[SourceTree, str]:
        """Return the tree of a path, and the path in it. What begins in a library stays there, wherever it leads."""
        return self._find("", path) if len(self._trees) > 1 else (self._trees[""], path)

    def _find(self, place: str, path: str) -> tuple[SourceTree, str]:
        for spelling in (path, posixpath.normpath(path)):
            word, _, rest = spelling.partition("/")
            name, _, rest = rest.partition("/")
            library = posixpath.join(place, word, name)
            if word == LIBRARIES and library in self._trees:
                return self._find(library, rest)
        return self._trees[place], path
