"""A package as it was composed: the files of its bundle, before that is packed."""

from __future__ import annotations

import io
import json
import zlib
from dataclasses import dataclass, replace

from packyard.core.bundle import archive, bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.using.kustomize import idle
from packyard.using.kustomize.idle import Idle
from packyard.writing.build.product import options_of
from packyard.writing.checks import exception

README = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The files of a bundle, and a manifest without their digests; ``idle`` are patches that reach nothing in it."""

    manifest: Manifest
    members: tuple[Member, ...]
    idle: Idle

    def bundle(self) -> Bundle:
        """Return the bundle."""
        members, exceptions = list(self.members), self.manifest.exceptions
        if self.manifest.kind != LIBRARY:  # whose packages have to find them where its parts need them
            members, exceptions = exception.take_out(members)
        return bundle.build(replace(self.manifest, exceptions=exceptions), members)

    @property
    def readme(self) -> bytes:
        """The README."""
        return next(member.data for member in self.members if member.path == README)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its options."""
        return options_of(self.members)

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
        return json.dumps(head).encode() + b"\n" + zlib.compress(archive.pack(self.manifest.name, self.members), 1)
