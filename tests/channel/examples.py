"""Small bundles to publish, and a store that fails when told to."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace

from packyard.bundle import Bundle, Manifest, build
from packyard.bundle.archive import Member, decompress
from packyard.bundle.manifest import ShippedUseCase
from packyard.channel.stores import Store
from packyard.digest import Digest
from packyard.errors import UnavailableError
from packyard.files.regular import LIMIT


def bundle(name: str = "bert", version: str = "1.0", text: str = "") -> Bundle:
    """Return a bundle whose README says ``text``."""
    use_cases = {"single-node": ShippedUseCase(setters={})}
    described = Manifest(name=name, version=version, use_cases=use_cases, model={"framework": "pytorch"})
    return build(described, [Member(path="README.md", data=text.encode())])


def compressed_otherwise(original: Bundle) -> Bundle:
    """Return the same bundle from another gzip."""
    other = replace(original, data=gzip.compress(decompress(original.data), 1))
    assert other.data != original.data
    return other


class FailingStore:
    """A store that is cut off at its n-th call: before it (``done=False``), or after it was done but not answered."""

    def __init__(self, store: Store, *, fail_at: int, done: bool = False) -> None:
        self._store = store
        self._left = fail_at
        self._done = done

    def put(self, key: str, data: bytes) -> None:
        self._count(lambda: self._store.put(key, data))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        self._count(lambda: None)
        return self._store.get(key, limit=limit)

    def list(self, prefix: str) -> Sequence[str]:
        self._count(lambda: None)
        return self._store.list(prefix)

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        self._count(lambda: self._store.swap(key, data, expected))

    def _count(self, call: object) -> None:
        self._left -= 1
        if self._left == 0 and not self._done:
            raise UnavailableError("cut off")
        call()  # type: ignore[operator]
        if self._left == 0:
            raise UnavailableError("cut off")
