"""What cosign 2, and all that is built on it, look for beside an artifact: layers below tags made of its digest.

sha256-<hex>.sig    a layer for each signature, which an annotation has, of the payload that is in the layer
sha256-<hex>.att    a layer for each signed statement, as an envelope

Layers that others attached stay. https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress

from packyard.core.digest import Digest
from packyard.sharing.entry import COSIGN, PROVENANCE
from packyard.sharing.stores.oci import artifact
from packyard.sharing.stores.oci.artifact import Descriptor
from packyard.sharing.stores.oci.registry import Registry

_ENDS = {COSIGN: ".sig", PROVENANCE: ".att"}
_SIGNATURE = "dev.cosignproject.cosign/signature"


def tags(subject: Digest) -> Sequence[str]:
    """Return the tags that may lead to what was attached to a manifest, and to the list of what refers to it."""
    return [subject.replace(":", "-") + end for end in (*_ENDS.values(), "")]


def attach(registry: Registry, repository: str, subject: Digest, kind: str | None, data: bytes) -> None:
    """Attach what was published with a bundle to its manifest, if it is a signed envelope that cosign reads."""
    wanted = [*_layers(kind, data)]
    if not wanted:
        return
    tag = subject.replace(":", "-") + _ENDS[kind or ""]
    before = registry.manifest(repository, tag)
    there = artifact.parse_layers(before, what=registry.place(repository, tag)) if before else []
    new = [layer for layer, _ in wanted if layer not in there]
    if not new:
        return
    for _, content in wanted:
        registry.upload(repository, content)
    registry.write_manifest(repository, tag, artifact.compose_layers([*there, *new]))


def _layers(kind: str | None, data: bytes) -> Iterator[tuple[Descriptor, bytes]]:
    """Yield the layers of an object, with what is in them; none of one that is no such envelope."""
    if kind not in _ENDS:
        return
    with suppress(ValueError, LookupError, TypeError):
        envelope = json.loads(data)
        payload = b64decode(envelope["payload"])
        if kind == COSIGN:
            for each in envelope["signatures"]:
                yield _layer(payload, envelope["payloadType"], {_SIGNATURE: each["sig"]}), payload
        elif envelope["signatures"]:
            notes = {_SIGNATURE: "", "predicateType": json.loads(payload)["predicateType"]}
            yield _layer(data, artifact.ENVELOPE_TYPE, notes), data


def _layer(data: bytes, media_type: str, notes: dict[str, str]) -> Descriptor:
    return Descriptor(digest=Digest.of(data), size=len(data), media_type=media_type, extra={"annotations": notes})
