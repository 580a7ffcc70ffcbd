"""Manifests: what a bundle is in a registry, and what refers to it (OCI image specification 1.1, artifact usage).

One layer has the bytes, and the configuration is empty. A bundle's layer has the type of an image's ``tar+gzip`` layer,
which Flux and Argo CD unpack; its title is the file that oras writes. The same bundle has the same manifest everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, in_json, list_of, map_of, object_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.sharing.entry import PROVENANCE, SBOM, SIGSTORE, IndexEntry

_T = TypeVar("_T")

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
    def of(cls, data: bytes, **more: Any) -> Descriptor:
        """Describe some bytes."""
        return cls(digest=Digest.of(data), size=len(data), **more)


_DESCRIPTORS = list_of(object_of(Descriptor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an artifact of one layer."""

    data: bytes
    layer: Descriptor
    type: str
    annotations: Mapping[str, str]

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Manifest:
        """Read a manifest, or raise `IntegrityError`."""

        def read(fields: Record) -> Manifest:
            layers = fields.take("layers", _DESCRIPTORS)
            if fields.take("schemaVersion", record.size) != 2 or len(layers) != 1:
                raise FaultError(f"must be one of version 2, found {len(layers)}", "layers")
            annotations: Mapping[str, str] = fields.take("annotations", map_of(text), {})
            return cls(data=data, layer=layers[0], type=fields.take("artifactType", text, ""), annotations=annotations)

        return _parsed(data, read, what)

    @property
    def own(self) -> Descriptor:
        """How other documents name it."""
        return Descriptor.of(self.data)


def bundle(entry: IndexEntry) -> bytes:
    """Return the manifest that a bundle has in every registry."""
    title = {TITLE: f"{entry.name}.tar.gz"}
    layer = Descriptor(digest=entry.digest, size=entry.size, media_type=_LAYER_TYPE, annotations=title)
    return _to_bytes(BUNDLE_TYPE, layer, {TITLE: entry.name, _VERSION: entry.version, FACTS: entry.facts()})


def referrer(end: str, title: str, data: bytes, subject: Descriptor) -> bytes:
    """Return the manifest of what was published with a bundle, by the end of its key."""
    layer = Descriptor.of(data, media_type=REFERRERS[end], annotations={TITLE: title})
    return _to_bytes(REFERRERS[end], layer, {TITLE: title}, subject)


def note(kind: str, annotations: Mapping[str, str], subject: Descriptor | None = None) -> bytes:
    """Return a manifest that says something by its annotations, or by being there; its layer is empty."""
    return _to_bytes(kind, Descriptor.of(EMPTY, media_type=EMPTY_TYPE), annotations, subject)


def type_of(data: bytes, *, what: str) -> str:
    """Return the type of an artifact, also of one by others."""
    return _parsed(data, lambda fields: fields.take("artifactType", text, ""), what)


def listed(data: bytes) -> Descriptor:
    """Return how a list has a manifest of ours: with its type and annotations."""
    manifest = Manifest.parse(data, what="")
    return Descriptor.of(data, artifact_type=manifest.type, annotations=manifest.annotations)


def parse_list(data: bytes, *, what: str) -> Sequence[Descriptor]:
    """Read a list of artifacts (an image index)."""
    return _parsed(data, lambda fields: fields.take("manifests", _DESCRIPTORS), what)


def compose_list(descriptors: Sequence[Descriptor]) -> bytes:
    """Return a list of artifacts."""
    manifests = record.document(descriptors)
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": manifests}, sort_keys=True).encode()


def _parsed(data: bytes, read: Callable[[Record], _T], what: str) -> _T:
    try:
        return record.parse_any(data, read, file=what)
    except IntegrityError as error:
        raise error.hinted("is this a channel of packyard?") from error


def _to_bytes(kind: str, layer: Descriptor, annotations: Mapping[str, str], subject: Descriptor | None = None) -> bytes:
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind,
        "config": record.document(Descriptor.of(EMPTY, media_type=EMPTY_TYPE, extra={"data": "e30="})),
        "layers": [record.document(layer)],
        "annotations": annotations,
        **({"subject": record.document(subject)} if subject else {}),
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
