"""Packages composed from their sources."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.work.memo import Memo
from packyard.writing.build.draft import Draft
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Library
from packyard.writing.source.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How packages are built: from which sources, and as which version.

    ``libraries`` are those of the workspace, if they were found already.
    """

    root_dir: Path
    version: str
    libraries: tuple[Library, ...] | None = None

    def workspace(self, memo: Memo | None = None) -> Workspace:
        """Read the workspace."""
        return workspace.read(self.root_dir, memo, self.libraries)


class Packing:
    """Composes packages; what it made of the parts that packages share, it remembers."""

    def __init__(self, settings: Settings) -> None:
        if settings.libraries is None:
            settings = replace(settings, libraries=library.find(settings.root_dir))
        self.settings = settings
        self.memo = Memo()

    def __call__(self, name: str) -> Draft:
        """Return a package."""
        from packyard.writing.build import assemble  # which is slow to import

        here = self.settings.workspace(self.memo)
        draft = assemble.draft(here, name, self.settings.version)
        return replace(draft, inputs=here.sources.inputs)

    def readme(self, name: str) -> bytes:
        """Return a package's README."""
        return self(name).readme
