"""The packyard.json of an untarred package: the values that it was shipped with, and what replaced former setters.

A directory may belong to no package, and a package may have lost the file: then there is nothing to tell.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.bundle import manifest
from packyard.bundle.manifest import Manifest
from packyard.errors import Problem
from packyard.files import paths, regular


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """The manifest of the package that a directory belongs to; ``path`` is the directory's path in it."""

    path: str = ""
    file: str = ""
    text: str = ""
    manifest: Manifest | None = None

    def values(self) -> dict[str, str | Sequence[str] | None]:
        """Return the shipped value of each setter: a text, the items of a list, or None where it is required."""
        use_case = self.manifest.use_cases.get(self.path) if self.manifest else None
        return dict(use_case.setters) if use_case else {}

    def replacement(self, name: str) -> Problem | None:
        """Return what replaced a former setter; None if the name never was one."""
        moved = self.manifest.moved if self.manifest else {}
        if name not in moved:
            return None
        return Problem(f"{name} is no longer a setter: {moved[name]}", file=self.file, line=self._line())

    def _line(self) -> int:
        before, found, _ = self.text.partition('\n  "moved":')
        return before.count("\n") + 2 if found else 0


def find(directory: Path) -> Shipped:
    """Read the packyard.json of a directory's package; a damaged one is an `IntegrityError`."""
    root, here = paths.root_of(directory), os.path.realpath(directory)
    file = Path(root) / manifest.FILE
    if not regular.is_file(file):
        return Shipped()
    data = regular.read(file, limit=manifest.LIMIT)
    shown = os.path.normpath(directory / os.path.relpath(file, here))
    path = os.path.relpath(here, root)
    return Shipped(path=path, file=shown, text=data.decode(), manifest=Manifest.parse(data))
