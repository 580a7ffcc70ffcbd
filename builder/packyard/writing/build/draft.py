"""A package as it was composed: the files of its bundle, before that is packed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from packyard.core.bundle import archive, bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.digest import Digest
from packyard.core.kubernetes import kustomization
from packyard.using.kustomize.idle import Idle
from packyard.using.options.folder import NAME as OPTIONS
from packyard.writing.checks import exception

README = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A package as it was composed: the files of its bundle, and a manifest without their digests.

    ``idle`` are patches that reach nothing in it. ``inputs`` are the files that it was made from, below the root of the
    sources.
    """

    manifest: Manifest
    members: tuple[Member, ...]
    idle: Idle
    inputs: Mapping[str, Digest] = field(default_factory=dict)

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

    def check(self) -> None:
        """Refuse what cannot be packed."""
        tar = bundle.pack(self.manifest, self.members)
        if len(tar) > archive.LIMITS.small_size:  # smaller ones are of no ratio that is refused
            archive.compress(tar)
