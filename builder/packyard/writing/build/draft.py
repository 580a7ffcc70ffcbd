"""A composed package whose version is still open: another version of it is not composed again.

    members with a mark in README.md where the version goes  +  "2.0"  ->  the bundle of version 2.0

A package whose README does more with the version than print it is composed for each version.
"""

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
#: Stands for the version in a README: a text that no author writes, of characters that a version may have.
MARK = "0.0.0-7d4be1c09a5f4f0d8e62b3a1f6c7d985"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The files of a bundle, and a manifest without their digests; its version is `MARK` if the draft fits every one.

    ``idle`` are patches of its parts that reach nothing in it.
    """

    manifest: Manifest
    members: tuple[Member, ...]
    idle: Idle

    def bundle(self, version: str) -> Bundle:
        """Return the bundle of a version."""
        assert self.manifest.version in (MARK, version)
        members, exceptions = list(self.members), self.manifest.exceptions
        if self.manifest.kind != LIBRARY:  # whose packages have to find them where its parts need them
            members, exceptions = exception.take_out(members)
        members = [_with_version(member, version) if member.path == README else member for member in members]
        return bundle.build(replace(self.manifest, version=version, exceptions=exceptions), members)

    def readme(self, version: str) -> bytes:
        """Return the README of a version."""
        return next(_with_version(member, version).data for member in self.members if member.path == README)

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


def _with_version(member: Member, version: str) -> Member:
    return replace(member, data=member.data.replace(MARK.encode(), version.encode()))
