"""One package after the other: its bundle, found in the cache, or assembled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from packyard.core.bundle.archive import Member
from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.core.work import fingerprint
from packyard.core.work.cache import Cache
from packyard.core.work.kept import Fact, Kept, KeptResult
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Observed
from packyard.writing.build.draft import Draft
from packyard.writing.build.product import Built
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Library
from packyard.writing.source.workspace import Workspace

_LIBRARIES = ("yaml", "jinja2", "markupsafe")  # what has a say in the bytes beside our own code


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


#: A package as it was composed, with the facts that it rests on; None where it is not to be cached.
Drafted = tuple[Draft, list[Fact] | None]


class Packed(NamedTuple):
    """A bundle, its files and the draft that it was made from, where these are at hand."""

    built: Built
    members: Sequence[Member] | None = None
    drafted: Drafted | None = None


class Packing:
    """Builds bundles, or finds them in the cache; what it has made of the parts that packages share, it remembers."""

    def __init__(self, settings: Settings) -> None:
        if settings.libraries is None:
            settings = replace(settings, libraries=library.find(settings.root_dir))
        self.settings = settings
        self.memo = Memo()
        self.kept = kept(settings.root_dir, settings.cache_dir, settings.libraries or ())

    def __call__(self, name: str) -> Built:
        """Return a package's bundle."""
        return self.make(name).built

    def make(self, name: str) -> Packed:
        """Return what a call does, with what it was made from where that is at hand."""
        cached = self.find(name)
        if cached is not None:
            return Packed(cached)
        draft, facts = self.draft(name)
        bundle = draft.bundle()
        built = Built.of(bundle, draft.idle)
        words = ("bundle", name, self.settings.version)
        fault = "" if facts is None else self.kept.keep(words, facts, built.to_bytes)
        return Packed(replace(built, fault=fault, inputs=inputs(facts or ())), bundle.members, (draft, facts))

    def find(self, name: str) -> Built | None:
        """Return a package's bundle if it is in the cache."""
        key = (name, self.settings.version)
        cached = self.kept.find(("bundle", *key), Built.parse)
        if not cached or (cached.result.name, cached.result.version) != key:
            return None
        return replace(cached.result, inputs=inputs(cached.facts))

    def find_draft(self, name: str) -> KeptResult[Draft] | None:
        """Return a package as it was composed, if it is in the cache."""
        key = (name, self.settings.version)
        cached = self.kept.find(("draft", *key), Draft.parse)
        described = cached.result.manifest if cached else None
        return cached if described and (described.name, described.version) == key else None

    def readme(self, name: str) -> bytes:
        """Return a package's README."""
        return self.draft(name)[0].readme

    def facts(self, name: str) -> list[Fact]:
        """Return what composing a package asks of the sources, without composing it."""
        from packyard.writing.build import assemble

        return assemble.facts(self.settings.workspace(self.memo), name)

    def is_as(self, before: Packing, name: str) -> bool:
        """Say whether both sources answer alike what a package asks of them; nothing is composed to know that."""
        try:
            return self.kept.agrees(before.facts(name))
        except PackyardError:  # composing it tells what is wrong
            return False

    def draft(self, name: str) -> tuple[Draft, list[Fact] | None]:
        """Compose a package, or find it, with the facts that it rests on; None where it is not to be cached."""
        cached = self.find_draft(name)
        if cached:
            return cached.result, cached.facts
        from packyard.writing.build import assemble  # which is slow to import

        here = self.settings.workspace(self.memo)
        draft = assemble.draft(here, name, self.settings.version)
        if here.sources.torn:
            return draft, None
        self.kept.keep(("draft", name, self.settings.version), here.sources.facts, draft.to_bytes)
        return draft, here.sources.facts


def kept(root_dir: Path, cache_dir: Path | None, libraries: Sequence[Library]) -> Kept:
    """Return the results that were made from sources by this code, with these libraries."""
    cache, observed = Cache(cache_dir) if cache_dir else None, Observed(root_dir, library.places(libraries))
    return Kept(cache=cache, code=fingerprint.digest(_LIBRARIES) if cache else None, agrees=observed.agrees)


def inputs(facts: Iterable[Fact]) -> dict[str, Digest]:
    """Return the files that were read, among what was asked."""
    return {path: Digest(answer) for question, path, answer in facts if question == "bytes" and answer[:7] == "sha256:"}
