"""Manifests: what a bundle is in a registry, and what refers to it (OCI image specification 1.1, artifact usage).

One layer has the bytes, and the configuration is empty. A bundle's layer has the type of an image's ``tar+gzip`` layer,
which Flux and Argo CD unpack; its title is the file that oras writes. The same bundle has the same manifest everywhere.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from packyard.core.bundle import record
from packyard.core.bundle.record import in_json, list_of, map_of, object_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import PROVENANCE, SBOM, SIGSTORE, IndexEntry

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
BUNDLE_TYPE = "application/vnd.packyard.bundle.v1"
YANKED_TYPE = "application/vnd.packyard.yanked.v1"
REMOVED_TYPE = "application/vnd.packyard.removed.v1"
MARK_TYPE = "application/vnd.packyard.mark.v1"
#: The largest manifest that is read: what registries take at least (distribution specification, "Pushing manifests").
LARGEST = 4 * 1024 * 1024

EMPTY, EMPTY_TYPE = b"{}", "application/vnd.oci.empty.v1+json"
#: The types of what refers to a bundle, by the ends of their keys.
REFERRERS = {
    PROVENANCE: "application/vnd.in-toto+json",
    SBOM: "application/spdx+json",
    SIGSTORE: "application/vnd.dev.sigstore.bundle.v0.3+json",
}
#: The annotations: what an index would list of a bundle, and why it was yanked or removed.
FACTS, REASON = "vnd.packyard.entry", "vnd.packyard.reason"
_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
_OTHER = "is this a channel of packyard?"
TITLE, _VERSION = "org.opencontainers.image.title", "org.opencontainers.image.version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """What names a manifest or blob in another document."""

    media_type: str = field(default=MANIFEST_TYPE, metadata=in_json(text, MANIFEST_TYPE, always=True))
    digest: Digest = field(metadata=in_json(record.digest))
    size: int = field(metadata=in_json(record.size))
    artifact_type: str = field(default="", metadata=in_json(text, ""))
    annotations: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text), {}))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, data: bytes, **more: Any) -> "Descriptor":
        """Describe some bytes."""
        return cls(digest=Digest.of(data), size=len(data), **more)


#: The layer of what has no bytes, and the configuration of everything.
NOTHING = Descriptor.of(EMPTY, media_type=EMPTY_TYPE)
_DESCRIPTORS = list_of(object_of(Descriptor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest: an artifact's, whose ``layers`` have its bytes, or a list of ``manifests``.

    ``data`` is all of it, and ``place`` what messages call one that was read.
    """

    schema_version: int = field(default=2, metadata=in_json(record.size))
    media_type: str = field(default=MANIFEST_TYPE, metadata=in_json(text, MANIFEST_TYPE, always=True))
    artifact_type: str = field(default="", metadata=in_json(text, ""))
    layers: Sequence[Descriptor] = field(default=(), metadata=in_json(_DESCRIPTORS, ()))
    manifests: Sequence[Descriptor] = field(default=(), metadata=in_json(_DESCRIPTORS, ()))
    annotations: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text), {}))
    extra: Mapping[str, object] = field(default_factory=dict)
    data: bytes = b""
    place: str = ""

    @classmethod
    def of(cls, **fields: Any) -> "Manifest":
        """Make a manifest."""
        bare = cls(**fields)
        return replace(bare, data=json.dumps(record.document(bare), sort_keys=True, separators=(",", ":")).encode())

    @classmethod
    def parse(cls, data: bytes, *, place: str) -> "Manifest":
        """Read a manifest, or raise `IntegrityError`."""
        try:
            read: Manifest = record.parse_any(data, lambda fields: fields.take_all(cls), file=place)
        except IntegrityError as error:
            raise error.hinted(_OTHER) from error
        return replace(read, data=data, place=place)

    @property
    def layer(self) -> Descriptor:
        """The one layer of what packyard pushes."""
        if self.schema_version != 2 or len(self.layers) != 1:
            problem = f"must be of version 2 and have one layer, found {len(self.layers)}"
            raise IntegrityError(Problem(problem, file=self.place, hint=_OTHER))
        return self.layers[0]

    @property
    def own(self) -> Descriptor:
        """How other documents name it."""
        return Descriptor.of(self.data)


def artifact(kind: str, about: Mapping[str, str], layer: Descriptor = NOTHING, **extra: object) -> Manifest:
    """Return the manifest of an artifact; one without bytes says something by its annotations, or by being there."""
    config = {**record.document(NOTHING), "data": "e30="}
    return Manifest.of(artifact_type=kind, layers=[layer], annotations=about, extra={"config": config, **extra})


def bundle(entry: IndexEntry) -> Manifest:
    """Return the manifest that a bundle has in every registry."""
    title = {TITLE: f"{entry.name}.tar.gz"}
    layer = Descriptor(digest=entry.digest, size=entry.size, media_type=_LAYER_TYPE, annotations=title)
    return artifact(BUNDLE_TYPE, {TITLE: entry.name, _VERSION: entry.version, FACTS: entry.facts()}, layer)
