"""A composed package whose version is still open: another version of it is not composed again.

    members with a mark in README.md where the version goes  +  "2.0"  ->  the bundle of version 2.0

A package whose README does more with the version than print it is composed for each version.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from packyard.bundle import archive, bundle
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.bundle.manifest import ShippedUseCase
from packyard.bundle.record import Record, list_of, map_of, text
from packyard.source import idle
from packyard.source.idle import Idle

README = "README.md"
#: Stands for the version in a README: a text that no author writes, of characters that a version may have.
MARK = "0.0.0-7d4be1c09a5f4f0d8e62b3a1f6c7d985"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All of a bundle except its version; ``version`` is empty if the draft fits every version.

    ``idle`` are patches of its parts that reach nothing in it.
    """

    name: str
    version: str
    model: Mapping[str, str]
    members: tuple[Member, ...]
    use_cases: Mapping[str, ShippedUseCase]
    idle: Idle
    images: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)

    def bundle(self, version: str) -> Bundle:
        """Return the bundle of a version."""
        assert self.version in ("", version)
        members = [_with_version(member, version) if member.path == README else member for member in self.members]
        return bundle.build(
            self.name,
            version,
            members,
            use_cases=self.use_cases,
            model=self.model,
            images=self.images,
            moved=self.moved,
        )

    @classmethod
    def parse(cls, data: bytes) -> Draft:
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        fields = Record(json.loads(head))
        return cls(
            name=fields.take("name", text),
            version=fields.take("version", text),
            model=fields.take("model", map_of(text)),
            members=tuple(archive.read_tar(archive.inflate(rest))[1]),
            use_cases=fields.take("useCases", map_of(ShippedUseCase.parse)),
            images=fields.take("images", list_of(text)),
            moved=fields.take("moved", map_of(text)),
            idle=fields.take("idle", idle.parse),
        )

    def to_bytes(self) -> bytes:
        """Return what a cache keeps."""
        head = {
            "name": self.name,
            "version": self.version,
            "model": dict(self.model),
            "useCases": {path: use_case.document() for path, use_case in self.use_cases.items()},
            "images": list(self.images),
            "moved": dict(self.moved),
            "idle": idle.document(self.idle),
        }
        return json.dumps(head).encode() + b"\n" + zlib.compress(archive.pack(self.name, self.members), 1)


def _with_version(member: Member, version: str) -> Member:
    return replace(member, data=member.data.replace(MARK.encode(), version.encode()))
