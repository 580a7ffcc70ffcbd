"""Manifests: what a bundle is in a registry, and what refers to it (OCI image specification 1.1, artifact usage).

One layer has the bytes, and the configuration is empty. A bundle's layer has the type of an image's ``tar+gzip`` layer,
which Flux and Argo CD unpack; its title is the file that oras writes. The same bundle has the same manifest everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.entry import PROVENANCE, SBOM, SIGSTORE, IndexEntry

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
SIGSTORE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
BUNDLE_TYPE = "application/vnd.packyard.bundle.v1"
YANKED_TYPE = "application/vnd.packyard.yanked.v1"
REMOVED_TYPE = "application/vnd.packyard.removed.v1"
MARK_TYPE = "application/vnd.packyard.mark.v1"
#: The largest manifest that is read: what registries take at least (distribution specification, "Pushing manifests").
LARGEST = 4 * 1024 * 1024

EMPTY, EMPTY_TYPE = b"{}", "application/vnd.oci.empty.v1+json"
#: By the end of the key of what refers to a bundle: the type of the artifact, and of its layer.
REFERRERS = {
    PROVENANCE: ("application/vnd.in-toto+json", "application/vnd.in-toto+json"),
    SBOM: ("application/spdx+json", "application/spdx+json"),
    SIGSTORE: (SIGSTORE_TYPE, SIGSTORE_TYPE),
}
#: The annotations: what an index would list of a bundle, and why it was yanked or removed.
FACTS, REASON, FORMER = "vnd.packyard.entry", "vnd.packyard.reason", "vnd.packyard.former"
_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
TITLE, _VERSION = "org.opencontainers.image.title", "org.opencontainers.image.version"

_SIZE = 10**15
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(;.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """What names a manifest or blob, with what a list says of it beside."""

    digest: Digest
    size: int
    media_type: str = MANIFEST_TYPE
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, data: bytes, media_type: str = MANIFEST_TYPE, **extra: object) -> Descriptor:
        """Describe some bytes."""
        return cls(digest=Digest.of(data), size=len(data), media_type=media_type, extra=extra)

    def document(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {**self.extra, "mediaType": self.media_type, "digest": self.digest, "size": self.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an artifact of one layer, as it is read."""

    own: Descriptor
    layer: Descriptor
    type: str
    annotations: Mapping[str, str]

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Manifest:
        """Read a manifest, or raise `IntegrityError`."""
        document = parse_json(data, what=what)
        kind, layers = document.get("mediaType", MANIFEST_TYPE), document.get("layers")
        if isinstance(document.get("manifests"), list) or kind == INDEX_TYPE:
            raise _refusal(what, "is a list of artifacts, and not one")
        if document.get("schemaVersion") != 2 or not isinstance(kind, str) or not isinstance(layers, list):
            raise _refusal(what, "is not the manifest of an artifact")
        if len(layers) != 1:
            raise _refusal(what, f"has {len(layers)} layers instead of one")
        return cls(
            own=Descriptor.of(data, kind),
            layer=_descriptor(layers[0], what=what),
            type=str(document.get("artifactType", "")),
            annotations=_texts(document.get("annotations")),
        )


def bundle_digest(entry: IndexEntry) -> Digest:
    """Return the digest of the manifest that a bundle has in every registry."""
    return Digest.of(bundle(entry.key, (entry.digest, entry.size), entry.facts()))


def bundle(key: str, layer: tuple[Digest, int], facts: str) -> bytes:
    """Return the manifest of a bundle by its key, the digest and size of its file, and what is listed of it."""
    version, _, file = key.partition("/")
    described = Descriptor(digest=layer[0], size=layer[1], media_type=_LAYER_TYPE, extra={"annotations": {TITLE: file}})
    about = {TITLE: file.removesuffix(".tar.gz"), _VERSION: version, FACTS: facts}
    return _to_bytes(BUNDLE_TYPE, described, {name: text for name, text in about.items() if text})


def referrer(end: str, title: str, data: bytes, subject: Descriptor) -> bytes:
    """Return the manifest of what was published with a bundle, by the end of its key."""
    kind, layer_type = REFERRERS[end]
    layer = Descriptor.of(data, layer_type, annotations={TITLE: title})
    return _to_bytes(kind, layer, {TITLE: title}, subject)


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
    return [_descriptor(item, what=what) for item in manifests]


def compose_list(descriptors: Sequence[Descriptor]) -> bytes:
    """Return a list of artifacts."""
    manifests = [each.document() for each in descriptors]
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
        "config": {**Descriptor.of(EMPTY, EMPTY_TYPE).document(), "data": "e30="},
        "layers": [layer.document()],
        "annotations": annotations,
        **({"subject": subject.document()} if subject else {}),
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _texts(value: object) -> Mapping[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}


def _descriptor(item: object, *, what: str) -> Descriptor:
    """Read what a manifest names, or raise `IntegrityError`."""
    fields = item if isinstance(item, dict) else {}
    kind, digest, size = fields.get("mediaType"), fields.get("digest"), fields.get("size")
    if not isinstance(kind, str) or not _MEDIA_TYPE.fullmatch(kind) or not isinstance(digest, str):
        raise _refusal(what, "names something without a type or digest")
    if type(size) is not int or not 0 <= size < _SIZE:
        raise _refusal(what, "names something of an impossible size")
    extra = {name: value for name, value in fields.items() if name not in ("mediaType", "digest", "size")}
    try:
        return Descriptor(digest=Digest.parse(digest), size=size, media_type=kind, extra=extra)
    except InputError as error:
        raise _refusal(what, "names something by another digest than SHA-256") from error


def _refusal(what: str, message: str) -> IntegrityError:
    return IntegrityError(Problem(message, file=what, hint="is this a channel of packyard?"))
