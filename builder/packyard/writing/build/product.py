"""A bundle that was built: its bytes until it is on disk, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from packyard.core.bundle import manifest
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.kubernetes import kustomization
from packyard.using.kustomize.idle import Idle, document, parse
from packyard.using.options.folder import NAME as OPTIONS

_NOTHING: Idle = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The digests of a ``.tar.gz``, of the tar in it, and of the ``packyard.json`` in that; its size, and its bytes.

    ``options`` are those that any of its use cases offers, ``idle`` the patches of its parts that reach nothing in it,
    ``staged`` says whether it differs from the one in place, ``fault`` why it was not cached. ``inputs`` are the files
    that it was made from, below the root of the sources; the cache has them beside it, as facts.
    """

    name: str
    version: str
    digest: Digest
    tar: Digest
    manifest: Digest
    size: int
    options: tuple[str, ...]
    idle: Idle
    data: bytes
    inputs: Mapping[str, Digest] = field(default_factory=dict)
    staged: bool = True
    fault: str = ""

    @classmethod
    def of(cls, bundle: Bundle, idle: Idle = _NOTHING) -> Built:
        """Describe a bundle."""
        described = next(member.data for member in bundle.members if member.path == manifest.FILE)
        head = (bundle.manifest.name, bundle.manifest.version, bundle.tar, Digest.of(described))
        return cls._of(*head, options_of(bundle.members), idle, bundle.data)

    @classmethod
    def parse(cls, data: bytes) -> Built:
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        name, version, tar, described, options, nothing = json.loads(head)
        return cls._of(name, version, Digest(tar), Digest(described), tuple(options), parse(nothing), rest)

    @classmethod
    def _of(
        cls, name: str, version: str, tar: Digest, manifest: Digest, options: tuple[str, ...], idle: Idle, data: bytes
    ) -> Built:
        return cls(
            name=name,
            version=version,
            digest=Digest.of(data),
            tar=tar,
            manifest=manifest,
            size=len(data),
            options=options,
            idle=idle,
            data=data,
        )

    def to_bytes(self) -> bytes:
        """Return what a cache keeps."""
        head = [self.name, self.version, self.tar, self.manifest, self.options, document(self.idle)]
        return json.dumps(head).encode() + b"\n" + self.data


def options_of(members: Iterable[Member]) -> tuple[str, ...]:
    """Return the names of a bundle's options."""
    parts = (member.path.split("/")[-3:] for member in members)
    return tuple(sorted({part[1] for part in parts if part[0] == OPTIONS and part[2:] == [kustomization.FILE]}))
