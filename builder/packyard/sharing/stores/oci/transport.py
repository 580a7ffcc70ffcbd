"""Container images from one registry to another, by their digests: manifests, and what they name, byte for byte.

An image of several platforms is a list of manifests; all of them are copied. What is there already is not sent again.
A blob is sent in parts, and committed if its bytes have the digest that its manifest names. Nothing is fetched from
addresses that a manifest names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.core.kubernetes import images
from packyard.sharing.stores.oci import artifact
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.artifact import Descriptor
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.transfer import BrokenOffError

_AT_ONCE = 3  # blobs
PART = 16 * 1024 * 1024  # bytes that are sent at a time
_LARGEST = 64 * 1024**3  # bytes of a blob
_MOST, _DEPTH, _TRIES = 500, 3, 5
_OF_ITS_MAKER = ("nondistributable", "foreign")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of images in a registry."""

    registry: Registry
    name: str

    def resolve(self, reference: str) -> Digest | None:
        """Return the digest of what a tag or a digest names, None if there is nothing."""
        data = self.registry.manifest(self.name, reference)
        return None if data is None else Digest.of(data)

    def place(self, reference: str) -> str:
        """Return what messages call an image."""
        return self.registry.place(self.name, reference)


def find(image: str, patience: float) -> tuple[Repository, str]:
    """Return where an image is, as its name says, and its digest or tag."""
    host, name, reference = images.whole(image)
    return Repository(Registry(Address.parse(f"oci://{host}"), patience), name), reference


def copy(source: Repository, target: Repository, digest: Digest, tag: str) -> None:
    """Copy an image by its digest, and give it a tag, which is written last."""
    data = _manifest(source, digest)
    _copy(source, target, data, digest, _DEPTH)
    _put(target, tag, data)


def _manifest(source: Repository, digest: Digest) -> bytes:
    data = source.registry.manifest(source.name, digest)
    if data is None:
        raise InputError(Problem("there is no such image", file=source.place(digest), hint="see the registry's tags"))
    return data


def _copy(source: Repository, target: Repository, data: bytes, digest: Digest, depth: int) -> None:
    """Copy what a manifest names, then the manifest itself."""
    if target.registry.manifest(target.name, digest) == data:
        return
    manifests, blobs = _named(data, source.place(digest))
    if manifests and not depth:
        raise IntegrityError(Problem("is a list in lists of lists", file=source.place(digest)))
    for each in manifests:
        _copy(source, target, _manifest(source, each.digest), each.digest, depth - 1)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(partial(_send, source, target), dict.fromkeys((each.digest, each.size) for each in blobs)):
            pass
    _put(target, digest, data)


def _put(target: Repository, reference: str, data: bytes) -> None:
    target.registry.write_manifest(target.name, reference, data, artifact.media_type(data))


def _named(data: bytes, what: str) -> tuple[list[Descriptor], list[Descriptor]]:
    """Return the manifests, and the blobs, that a manifest names."""
    document = artifact.parse_json(data, what=what)
    if "manifests" in document:
        manifests, blobs = artifact.parse_list(data, what=what), list[Descriptor]()
    else:
        manifests, blobs = [], [artifact.parse_descriptor(document.get("config"), what=what)]
        blobs += artifact.parse_layers(data, what=what)
    if len(manifests) + len(blobs) > _MOST:
        raise IntegrityError(Problem(f"names more than {_MOST} parts", file=what))
    for blob in blobs:
        if blob.size > _LARGEST:
            raise IntegrityError(Problem(f"has a layer of more than {_LARGEST} bytes", file=what))
        if any(word in blob.media_type for word in _OF_ITS_MAKER):
            hint = "choose an image whose registry has all its layers"
            raise InputError(Problem("has a layer that only its maker hands out", file=what, hint=hint))
    return manifests, blobs


def _send(source: Repository, target: Repository, blob: tuple[Digest, int]) -> None:
    digest, size = blob
    if not target.registry.has_blob(target.name, digest):
        parts = _parts(_checked(source, digest, size))
        target.registry.upload_parts(target.name, digest, parts)


def _parts(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join pieces into parts."""
    part = bytearray()
    for piece in pieces:
        part += piece
        if len(part) >= PART:
            yield bytes(part)
            part.clear()
    yield bytes(part)


def _checked(source: Repository, digest: Digest, size: int) -> Iterator[bytes]:
    """Yield the bytes of a blob, from where it broke off; after the last one raise unless they have its digest."""
    hasher, offset, tries = hashlib.sha256(), 0, _TRIES
    while True:
        try:
            for piece in source.registry.pieces(source.name, digest, offset, size):
                offset += len(piece)
                if offset > size:
                    raise IntegrityError(Problem(f"is larger than {size} bytes", file=source.place(digest)))
                hasher.update(piece)
                yield piece
            break
        except BrokenOffError:
            tries -= 1
            if not tries:
                raise
    actual = Digest(f"sha256:{hasher.hexdigest()}")
    if actual != digest:
        raise IntegrityError(Problem(f"expected {digest}, found {actual}", file=source.place(digest)))
