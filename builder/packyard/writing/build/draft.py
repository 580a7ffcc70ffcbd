"""A package as it was composed: the files of its bundle, before that is packed."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packyard.core.bundle import archive, bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import LIBRARY, Manifest
from packyard.core.digest import Digest
from packyard.core.kubernetes import kustomization
from packyard.core.work.kept import Fact
from packyard.using.kustomize import idle
from packyard.using.kustomize.idle import Idle
from packyard.using.options.folder import NAME as OPTIONS
from packyard.writing.checks import exception

README = "README.md"


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


def inputs(facts: Iterable[Fact]) -> dict[str, Digest]:
    """Return the files that were read, among what was asked."""
    return {path: Digest(answer) for question, path, answer in facts if question == "bytes" and answer[:7] == "sha256:"}
