"""Artifacts: the manifest of an object in a registry (OCI image specification 1.1, "Guidelines for artifact usage").

One layer has the object's bytes; the configuration is empty. A bundle's layer has the type of an image's ``tar+gzip``
layer, which Flux and Argo CD unpack; its title is the file that oras writes. The same object has the same manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.sharing.entry import CHECKSUM, PROVENANCE, SBOM, SIGSTORE
from packyard.sharing.stores.oci import spelling
from packyard.sharing.stores.oci.spelling import Place

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
BUNDLE_TYPE = "application/vnd.packyard.bundle.v1"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
ENVELOPE_TYPE = "application/vnd.dsse.envelope.v1+json"
#: What manifests are asked for; those of Docker, so as to say what is there instead.
ACCEPTED = ", ".join(
    (
        MANIFEST_TYPE,
        INDEX_TYPE,
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    )
)
#: The largest manifest that is read: what registries take at least (distribution specification, "Pushing manifests").
LARGEST = 4 * 1024 * 1024

EMPTY = b"{}"
SIGSTORE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
_REMOVED_TYPE = "application/vnd.packyard.removed.v1"
_KEY, _TITLE, _VERSION = "vnd.packyard.key", "org.opencontainers.image.title", "org.opencontainers.image.version"

#: By the end of a bundle's key: the type of the artifact, and of its layer. Any other object is the last one.
_TYPES = {
    "": (BUNDLE_TYPE, LAYER_TYPE),
    CHECKSUM: ("application/vnd.packyard.checksum.v1", "text/plain"),
    PROVENANCE: ("application/vnd.in-toto+json", ENVELOPE_TYPE),
    SBOM: ("application/spdx+json", "application/spdx+json"),
    SIGSTORE: (SIGSTORE_TYPE, SIGSTORE_TYPE),
    None: ("application/vnd.packyard.object.v1", "application/octet-stream"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """What names a manifest or blob, with what a list says of it beside."""

    digest: Digest
    size: int
    media_type: str = MANIFEST_TYPE
    extra: Mapping[str, object] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {**self.extra, "mediaType": self.media_type, "digest": self.digest, "size": self.size}


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An object as its manifest says it: its layer, and its key if that is known."""

    manifest: Descriptor
    layer: Descriptor
    type: str = ""
    key: str = ""

    @property
    def is_removed(self) -> bool:
        """Whether it only says that the object was removed."""
        return self.type == _REMOVED_TYPE


def type_of(kind: str | None) -> str:
    """Return the type of artifacts by the end of a bundle's key."""
    return _TYPES[kind][0]


def compose(key: str, place: Place, digest: Digest, size: int, subject: Descriptor | None = None) -> bytes:
    """Return the manifest of an object's bytes; ``subject`` is that of the bundle that it was published with."""
    kind, layer_type = _TYPES[place.kind]
    title = key.rpartition("/")[2]
    layer = Descriptor(digest=digest, size=size, media_type=layer_type, extra={"annotations": {_TITLE: title}})
    about = {_TITLE: place.repository, _VERSION: key.partition("/")[0]} if place.kind == "" else {_TITLE: title}
    document = _document(kind, layer, {**about, _KEY: key})
    return _to_bytes({**document, "subject": subject.document()} if subject else document)


def bundle_manifest(key: str, digest: Digest, size: int) -> Digest:
    """Return the digest of the manifest that a bundle's file has in every registry."""
    return Digest.of(compose(key, spelling.place(key), digest, size))


def removed() -> bytes:
    """Return the manifest that takes an object's place where nothing can be deleted."""
    return _to_bytes(_document(_REMOVED_TYPE, _empty(), {}))


def marker(repository: str) -> bytes:
    """Return the manifest of the tag that says that there is a repository."""
    return _to_bytes(_document("application/vnd.packyard.name.v1", _empty(), {_TITLE: repository}))


def parse(data: bytes, *, what: str) -> Artifact:
    """Read the manifest of an artifact of one layer, or raise `IntegrityError`."""
    document = parse_json(data, what=what)
    layers = _layers(document, what)
    if len(layers) != 1:
        raise _refusal(what, f"has {len(layers)} layers instead of one")
    manifest = Descriptor(digest=Digest.of(data), size=len(data), media_type=document.get("mediaType", MANIFEST_TYPE))
    annotations = document.get("annotations")
    key = annotations.get(_KEY) if isinstance(annotations, dict) else None
    kind = document.get("artifactType")
    return Artifact(
        manifest=manifest,
        layer=layers[0],
        type=kind if isinstance(kind, str) else "",
        key=key if isinstance(key, str) else "",
    )


def parse_layers(data: bytes, *, what: str) -> list[Descriptor]:
    """Return the layers of a manifest, or raise `IntegrityError`."""
    return _layers(parse_json(data, what=what), what)


def _layers(document: dict[str, Any], what: str) -> list[Descriptor]:
    kind, layers = document.get("mediaType", MANIFEST_TYPE), document.get("layers")
    if isinstance(document.get("manifests"), list) or kind == INDEX_TYPE:
        raise _refusal(what, "is a list of artifacts, and not one")
    if document.get("schemaVersion") != 2 or not isinstance(kind, str) or not isinstance(layers, list):
        raise _refusal(what, "is not the manifest of an artifact")
    return [_descriptor(each, what=what) for each in layers]


def parse_list(data: bytes, *, what: str) -> list[Descriptor]:
    """Read a list of artifacts (an image index)."""
    document = parse_json(data, what=what)
    manifests = document.get("manifests")
    if document.get("schemaVersion") != 2 or not isinstance(manifests, list):
        raise _refusal(what, "is not a list of artifacts")
    return [_descriptor(each, what=what) for each in manifests]


def compose_layers(layers: Sequence[Descriptor]) -> bytes:
    """Return the manifest of layers that tools find by its tag alone."""
    return _to_bytes({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, **_content(layers)})


def compose_list(descriptors: list[Descriptor]) -> bytes:
    """Return an image index."""
    manifests = [each.document() for each in descriptors]
    return _to_bytes({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": manifests})


def listed(data: bytes) -> Descriptor:
    """Return how a list has a manifest of ours: with its type and annotations."""
    document = json.loads(data)
    extra = {name: document[name] for name in ("artifactType", "annotations")}
    return Descriptor(digest=Digest.of(data), size=len(data), extra=extra)


def parse_json(data: bytes, *, what: str) -> dict[str, Any]:
    """Read a JSON object, or raise `IntegrityError`."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refusal(what, "is not JSON") from error
    if not isinstance(document, dict):
        raise _refusal(what, "is not a JSON object")
    return document


def _document(kind: str, layer: Descriptor, annotations: Mapping[str, str]) -> dict[str, object]:
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind,
        **_content([layer]),
        "annotations": annotations,
    }


def _content(layers: Sequence[Descriptor]) -> dict[str, object]:
    """Return an empty configuration, which is in each repository that something was written to, and layers."""
    return {"config": {**_empty().document(), "data": "e30="}, "layers": [each.document() for each in layers]}


def _empty() -> Descriptor:
    return Descriptor(digest=Digest.of(EMPTY), size=len(EMPTY), media_type=_EMPTY_TYPE)


def _to_bytes(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


_SIZE = 10**15
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(;.*)?")


def _descriptor(item: object, *, what: str) -> Descriptor:
    """Read what a manifest names, or raise `IntegrityError`."""
    fields = item if isinstance(item, dict) else {}
    kind, digest, size = fields.get("mediaType"), fields.get("digest"), fields.get("size")
    if not isinstance(kind, str) or not _MEDIA_TYPE.fullmatch(kind) or not isinstance(digest, str):
        raise _refusal(what, "names something without a type or digest")
    if type(size) is not int or not 0 <= size < _SIZE:
        raise _refusal(what, "names something of an impossible size")
    extra = {name: value for name, value in fields.items() if name not in ("mediaType", "digest", "size")}
    return Descriptor(digest=_digest(digest, what), size=size, media_type=kind, extra=extra)


def _digest(text: str, what: str) -> Digest:
    try:
        return Digest.parse(text)
    except InputError as error:
        raise _refusal(what, "names something by another digest than SHA-256") from error


def _refusal(what: str, message: str) -> IntegrityError:
    return IntegrityError(Problem(message, file=what, hint="is this a channel of packyard?"))
