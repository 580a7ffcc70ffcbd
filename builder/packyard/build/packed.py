"""A bundle as bytes, with its digests: what is written to disk and cached."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from packyard.bundle import manifest
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.digest import Digest
from packyard.kubernetes import kustomization
from packyard.options.folder import NAME as OPTIONS
from packyard.source.idle import Idle, document, parse

_NOTHING: Idle = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A ``.tar.gz`` (``data``), the digest of the tar in it, and that of the ``packyard.json`` in that.

    ``options`` are those that any of its use cases offers, ``idle`` the patches of its parts that reach nothing in it.
    """

    name: str
    version: str
    tar: Digest
    manifest: Digest
    options: tuple[str, ...]
    idle: Idle
    data: bytes

    @classmethod
    def of(cls, bundle: Bundle, idle: Idle = _NOTHING) -> Packed:
        """Return the data and digests of a bundle."""
        described = next(member.data for member in bundle.members if member.path == manifest.FILE)
        return cls(
            name=bundle.manifest.name,
            version=bundle.manifest.version,
            tar=bundle.tar,
            manifest=Digest.of(described),
            options=_options(bundle.members),
            idle=idle,
            data=bundle.data,
        )

    @classmethod
    def parse(cls, data: bytes) -> Packed:
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        name, version, tar, described, options, nothing = json.loads(head)
        digests = {"tar": Digest(tar), "manifest": Digest(described)}
        return cls(name=name, version=version, **digests, options=tuple(options), idle=parse(nothing), data=rest)

    def to_bytes(self) -> bytes:
        """Return what a cache keeps."""
        head = [self.name, self.version, self.tar, self.manifest, self.options, document(self.idle)]
        return json.dumps(head).encode() + b"\n" + self.data


def _options(members: Iterable[Member]) -> tuple[str, ...]:
    """Return the names of a bundle's options."""
    parts = (member.path.split("/")[-3:] for member in members)
    return tuple(sorted({part[1] for part in parts if part[0] == OPTIONS and part[2:] == [kustomization.FILE]}))
