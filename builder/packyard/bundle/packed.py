"""A bundle as bytes, beside what names them: all that is needed to write it, to keep it, and to tell of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from packyard.bundle import manifest
from packyard.bundle.bundle import Bundle
from packyard.digest import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A ``.tar.gz`` (``data``), the digest of the tar in it, and that of the ``packyard.json`` in that."""

    name: str
    version: str
    tar: Digest
    manifest: Digest
    data: bytes

    @classmethod
    def of(cls, bundle: Bundle) -> Packed:
        """Take what is needed of a bundle."""
        described = next(member.data for member in bundle.members if member.path == manifest.FILE)
        return cls(
            name=bundle.manifest.name,
            version=bundle.manifest.version,
            tar=bundle.tar,
            manifest=Digest.of(described),
            data=bundle.data,
        )

    @classmethod
    def parse(cls, data: bytes) -> Packed:
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        name, version, tar, described = json.loads(head)
        return cls(name=name, version=version, tar=Digest(tar), manifest=Digest(described), data=rest)

    def to_bytes(self) -> bytes:
        """Return what a cache keeps."""
        return json.dumps([self.name, self.version, self.tar, self.manifest]).encode() + b"\n" + self.data
