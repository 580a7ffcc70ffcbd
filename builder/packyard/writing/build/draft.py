"""Packages from their sources: each is composed, or found in the cache as it was composed, and then packed."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import archive, bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.core.kubernetes import kustomization
from packyard.core.work import fingerprint
from packyard.core.work.cache import Cache
from packyard.core.work.kept import Fact, Kept
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Observed
from packyard.using.kustomize import idle
from packyard.using.kustomize.idle import Idle
from packyard.using.options.folder import NAME as OPTIONS
from packyard.writing.checks import exception
from packyard.writing.source import library, workspace
from packyard.writing.source.library import Library
from packyard.writing.source.workspace import Workspace

README = "README.md"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A package as it was composed: the files of its bundle, and a manifest without their digests.

    ``idle`` are patches that reach nothing in it. ``facts`` are the answers of the sources that it rests on, None where
    it is not to be cached; ``fault`` says why it was not.
    """

    manifest: Manifest
    members: tuple[Member, ...]
    idle: Idle
    facts: Sequence[Fact] | None = ()
    fault: str = ""

    def bundle(self) -> Bundle:
        """Return the bundle."""
        members, exceptions = list(self.members), self.manifest.exceptions
        if self.manifest.kind != LIBRARY:  # whose packages have to find them where its parts need them
            members, exceptions = exception.take_out(members)
        return bundle.build(replace(self.manifest, exceptions=exceptions), members)

    @property
    def name(self) -> str:
        """The package's name."""
        return self.manifest.name

    @property
    def readme(self) -> bytes:
        """The README."""
        return next(member.data for member in self.members if member.path == README)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that any of its use cases offers."""
        parts = (member.path.split("/")[-3:] for member in self.members)
        return tuple(sorted({part[1] for part in parts if part[0] == OPTIONS and part[2:] == [kustomization.FILE]}))

    @property
    def inputs(self) -> dict[str, Digest]:
        """The files that it was made from, below the root of the sources."""
        return inputs(self.facts or ())

    def check(self) -> None:
        """Refuse what cannot be packed."""
        tar = bundle.pack(self.manifest, self.members)
        if len(tar) > archive.LIMITS.small_size:  # smaller ones are of no ratio that is refused
            archive.compress(tar)

    @classmethod
    def parse(cls, data: bytes) -> Draft:
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        described, nothing = json.loads(head)
        return cls(
            manifest=Manifest.parse(described.encode()),
            members=tuple(archive.members(archive.Files(io.BytesIO(archive.inflate(rest))))),
            idle=idle.parse(nothing),
        )

    def to_bytes(self) -> bytes:
        """Return what a cache keeps."""
        head = [self.manifest.to_bytes().decode(), idle.document(self.idle)]
        return json.dumps(head).encode() + b"\n" + zlib.compress(archive.pack(self.name, self.members), 1)


class Drafting:
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

    def is_as(self, before: Drafting, name: str) -> bool:
        """Say whether both sources answer alike what a package asks of them; nothing is composed to know that."""
        from packyard.writing.build import assemble

        try:
            return self.kept.agrees(assemble.facts(before.settings.workspace(before.memo), name))
        except PackyardError:  # composing it tells what is wrong
            return False


def inputs(facts: Iterable[Fact]) -> dict[str, Digest]:
    """Return the files that were read, among what was asked."""
    return {path: Digest(answer) for question, path, answer in facts if question == "bytes" and answer[:7] == "sha256:"}
