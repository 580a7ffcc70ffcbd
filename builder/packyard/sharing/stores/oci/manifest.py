"""Manifests: what a bundle is in a registry, and what refers to it (OCI image specification 1.1, artifact usage).

One layer has the bytes, and the configuration is empty. A bundle's layer has the type of an image's ``tar+gzip`` layer,
which Flux and Argo CD unpack; its title is the file that oras writes. The same bundle has the same manifest everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
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
TITLE, _VERSION = "org.opencontainers.image.title", "org.opencontainers.image.version"

_SIZE = 10**15


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What names a manifest or blob: its digest and size, among what the document says that names it."""

    document: Mapping[str, object]
    digest: Digest
    size: int

    @classmethod
    def of(cls, data: bytes, media_type: str = MANIFEST_TYPE, **more: object) -> Descriptor:
        """Describe some bytes."""
        return cls.named(Digest.of(data), len(data), media_type, **more)

    @classmethod
    def named(cls, digest: Digest, size: int, media_type: str, **more: object) -> Descriptor:
        """Describe what has a digest and a size."""
        return cls({**more, "mediaType": media_type, "digest": digest, "size": size}, digest, size)

    @classmethod
    def parse(cls, value: object, *, what: str) -> Descriptor:
        """Read what a document names, or raise `IntegrityError`."""
        fields = value if isinstance(value, dict) else {}
        size = fields.get("size")
        if type(size) is not int or not 0 <= size < _SIZE:
            raise _refusal(what, "names something of an impossible size")
        try:
            return cls(fields, Digest.parse(str(fields.get("digest"))), size)
        except InputError as error:
            raise _refusal(what, "names something by another digest than SHA-256") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an artifact of one layer; ``own`` is how others name it."""

    data: bytes
    own: Descriptor
    layer: Descriptor
    type: str
    annotations: Mapping[str, str]

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Manifest:
        """Read a manifest, or raise `IntegrityError`."""
        document = parse_json(data, what=what)
        kind, layers, notes = (document.get(name) for name in ("mediaType", "layers", "annotations"))
        if "manifests" in document or document.get("schemaVersion") != 2 or not isinstance(layers, list):
            raise _refusal(what, "is not the manifest of an artifact")
        if len(layers) != 1:
            raise _refusal(what, f"has {len(layers)} layers instead of one")
        return cls(
            data=data,
            own=Descriptor.of(data, kind if isinstance(kind, str) else MANIFEST_TYPE),
            layer=Descriptor.parse(layers[0], what=what),
            type=str(document.get("artifactType", "")),
            annotations={name: str(text) for name, text in (notes if isinstance(notes, dict) else {}).items()},
        )


def bundle_digest(entry: IndexEntry) -> Digest:
    """Return the digest of the manifest that a bundle has in every registry."""
    return Digest.of(bundle(entry))


def bundle(entry: IndexEntry) -> bytes:
    """Return the manifest of a bundle."""
    layer = Descriptor.named(entry.digest, entry.size, _LAYER_TYPE, annotations={TITLE: f"{entry.name}.tar.gz"})
    return _to_bytes(BUNDLE_TYPE, layer, {TITLE: entry.name, _VERSION: entry.version, FACTS: entry.facts()})


def referrer(end: str, title: str, data: bytes, subject: Descriptor) -> bytes:
    """Return the manifest of what was published with a bundle, by the end of its key."""
    layer = Descriptor.of(data, REFERRERS[end], annotations={TITLE: title})
    return _to_bytes(REFERRERS[end], layer, {TITLE: title}, subject)


def note(kind: str, annotations: Mapping[str, str], subject: Descriptor | None = None) -> bytes:
    """Return a manifest that says something by its annotations, or by being there; its layer is empty."""
    return _to_bytes(kind, Descriptor.of(EMPTY, EMPTY_TYPE), annotations, subject)


def listed(data: bytes) -> Descriptor:
    """Return how a list has a manifest of ours: with its type and annotations."""
    document = json.loads(data)
    return Descriptor.of(data, artifactType=document["artifactType"], annotations=document["annotations"])


def parse_list(data: bytes, *, what: str) -> list[Descriptor]:
    """Read a list of artifacts (an image index)."""
    document = parse_json(data, what=what)
    manifests = document.get("manifests")
    if document.get("schemaVersion") != 2 or not isinstance(manifests, list):
        raise _refusal(what, "is not a list of artifacts")
    return [Descriptor.parse(item, what=what) for item in manifests]


def compose_list(descriptors: Sequence[Descriptor]) -> bytes:
    """Return a list of artifacts."""
    manifests = [descriptor.document for descriptor in descriptors]
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": manifests}, sort_keys=True).encode()


def parse_json(data: bytes, *, what: str) -> dict[str, Any]:
    """Read a JSON object, or raise `IntegrityError`."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refusal(what, "is not JSON") from error
    if not isinstance(document, dict):
        raise _refusal(what, "is not a JSON object")
    return document


def _to_bytes(kind: str, layer: Descriptor, annotations: Mapping[str, str], subject: Descriptor | None = None) -> bytes:
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind,
        "config": {**Descriptor.of(EMPTY, EMPTY_TYPE).document, "data": "e30="},
        "layers": [layer.document],
        "annotations": annotations,
        **({"subject": subject.document} if subject else {}),
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _refusal(what: str, message: str) -> IntegrityError:
    return IntegrityError(Problem(message, file=what, hint="is this a channel of packyard?"))
