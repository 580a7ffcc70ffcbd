"""What the pages of a folder may speak of: its files, and the setters of its packages."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping

from packyard.using.setters.definition import Setter
from packyard.writing.checks.finding import Finding

#: The setters of each package, by its folder.
Setters = Mapping[str, Mapping[str, Setter]]


class Folder:
    """What the pages of a folder may speak of: its files, and the setters of its packages."""

    def __init__(self, files: Collection[str], setters: Setters) -> None:
        self.files = frozenset(files)
        self.folders = frozenset(above for file in files for above in _above(file))
        self.setters = setters

    def has(self, path: str) -> bool | None:
        """Say whether there is such a file or folder; None where the path leads out, and others may be there."""
        path = posixpath.normpath(path)
        if path.startswith(("../", "/")) or path == "..":
            return None
        return path == "." or path in self.files or path in self.folders

    def setters_below(self, folder: str) -> dict[str, list[Setter]]:
        """Return the setters of the packages in a folder and below, by name."""
        by_name: dict[str, list[Setter]] = {}
        for package, setters in self.setters.items():
            if not folder or f"{package}/".startswith(f"{folder}/"):
                for name, setter in setters.items():
                    by_name.setdefault(name, []).append(setter)
        return by_name


def at(rule: str, place: str, line: int, message: str, hint: str = "") -> Finding:
    """Make a finding, a warning, at a line of a page."""
    return Finding(file=place, line=line, column=1, rule=rule, severity="warning", message=message, hint=hint)


def _above(file: str) -> Iterator[str]:
    while file := posixpath.dirname(file):
        yield file
