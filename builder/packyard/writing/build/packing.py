"""Packages from their sources: each is composed, or found in the cache as it was composed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.work import fingerprint
from packyard.core.work.cache import Cache
from packyard.core.work.kept import Kept
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Observed
from packyard.writing.build.draft import Draft
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Library
from packyard.writing.source.workspace import Workspace

_CODE = ("yaml", "jinja2", "markupsafe")  # what has a say in the bytes beside our own code


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How packages are built: from which sources, as which version, and where results are cached (None: nowhere).

    ``libraries`` are those of the workspace, if they were found already.
    """

    root_dir: Path
    version: str
    cache_dir: Path | None = None
    libraries: tuple[Library, ...] | None = None

    def workspace(self, memo: Memo | None = None) -> Workspace:
        """Read the workspace."""
        return workspace.read(self.root_dir, memo, self.libraries)


class Packing:
    """Composes packages, or finds them in the cache; what it made of the parts that packages share, it remembers."""

    def __init__(self, settings: Settings) -> None:
        if settings.libraries is None:
            settings = replace(settings, libraries=library.find(settings.root_dir))
        self.settings = settings
        self.memo = Memo()
        cache = Cache(settings.cache_dir) if settings.cache_dir else None
        code = fingerprint.digest(_CODE) if cache else None
        observed = Observed(settings.root_dir, library.places(settings.libraries or ()))
        self.kept = Kept(cache=cache, code=code, agrees=observed.agrees)

    def __call__(self, name: str) -> Draft:
        """Return a package."""
        draft = self.find(name)
        if draft:
            return draft
        from packyard.writing.build import assemble  # which is slow to import

        here = self.settings.workspace(self.memo)
        draft = assemble.draft(here, name, self.settings.version)
        if here.sources.torn:
            return replace(draft, facts=None)
        fault = self.kept.keep(("draft", name, self.settings.version), here.sources.facts, draft.to_bytes)
        return replace(draft, facts=here.sources.facts, fault=fault)

    def find(self, name: str) -> Draft | None:
        """Return a package if it is in the cache."""
        key = (name, self.settings.version)
        cached = self.kept.find(("draft", *key), Draft.parse)
        if not cached or (cached.result.name, cached.result.manifest.version) != key:
            return None
        return replace(cached.result, facts=cached.facts)

    def readme(self, name: str) -> bytes:
        """Return a package's README."""
        return self(name).readme
