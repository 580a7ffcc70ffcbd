"""Small bundles to publish, and a store that fails when told to."""

import gzip
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from packyard.core.bundle import record
from packyard.core.bundle.archive import Member, decompress
from packyard.core.bundle.bundle import Bundle, build
from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching import fetch as fetching
from packyard.sharing.fetching.fetch import Fetching
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Memory, Publisher
from packyard.sharing.index.index import KEY, Index
from packyard.sharing.publishing import publish as publishing
from packyard.sharing.publishing.publish import Upload
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from packyard.sharing.trust.provenance import Statement

Result = TypeVar("Result")

#: A publisher: the key, who trusts it, and what it publishes by.
OWN = SigningKey.new()
TRUSTED = Trust.of(OWN.public)
BY = Publisher(key=OWN, trusted=TRUSTED)


def fetch(store: Store, reference: str, *, trusted: Trust = NOBODY, memory: Memory | None = None) -> Bundle:
    """Return what a reference such as ``NAME`` or ``NAME@^1.2`` chooses, in memory."""
    return fetching.fetch(store, Reference.parse(reference), Fetching(trusted=trusted, memory=memory)).bundle


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


def large_bundle() -> Bundle:
    """Return a bundle that is larger than what packyard reads into memory."""
    members = [Member(path=name, data=os.urandom(LIMIT // 2 + 1000)) for name in ("a", "b")]
    return build(Manifest(name="large", version="1.0", use_cases={}, model={}), members)


def versions(index: Index, name: str) -> list[str]:
    """Return the versions of a package, the oldest first."""
    return [entry.version for entry in index.known(name).entries]


def lose_index(folder: Path) -> None:
    """Remove the index of a channel in a folder."""
    shutil.rmtree(folder / "index")


def write_index(folder: Path, **changes: object) -> None:
    """Let the index of an unsigned channel in a folder say something else."""
    file = folder / KEY
    file.write_bytes(record.to_line({**json.loads(file.read_bytes()), **changes}))


def list_otherwise(folder: Path, name: str, version: str, **changes: Any) -> None:
    """Let the index of an unsigned channel in a folder list a bundle otherwise."""
    listed = access.read(DirectoryStore(folder))
    entry = listed.named(name).get(version)
    after = listed.put(replace(entry, **changes))
    for key, data in after.files.items():
        (folder / key).write_bytes(data)
    (folder / KEY).write_bytes(after.payload())


def publish(
    store: Store, bundles: Iterable[Bundle], by: Publisher = UNSIGNED, **how: Any
) -> list[tuple[IndexEntry, str]]:
    """Publish bundles that are in memory."""
    uploads = [Upload(entry=IndexEntry.of(made), data=partial(getattr, made, "data")) for made in bundles]
    return publishing.publish(store, uploads, by, **how)


def proof(entry: IndexEntry, key: Signing | None = None) -> dict[str, bytes]:
    """Return the provenance of a bundle, as it lies beside it."""
    statement = Statement(entry, {}, None).to_bytes(key)
    return {entry.beside(provenance.end(statement)): statement}


def close(store: Store, version: str, by: Publisher = UNSIGNED) -> None:
    """Close a release."""
    by.commit(store, lambda index: index.close(version))


def entry(name: str = "bert", version: str = "1.0", content: bytes = b"") -> IndexEntry:
    """Return an entry of a bundle that is nowhere."""
    return IndexEntry(
        name=name, version=version, tar=Digest.of(b"tar" + content), digest=Digest.of(content), size=len(content)
    )


def add_to_index(store: Store, entries: Iterable[IndexEntry]) -> Index:
    """Let an index list bundles that are nowhere."""
    return UNSIGNED.commit(store, lambda index: index.add(*entries))


class OvertakenStore(DirectoryStore):
    """Others are faster for the first few changes."""

    overtakes = 3

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        if self.overtakes and key == KEY:
            self.overtakes -= 1
            add_to_index(DirectoryStore(self.root_dir), [entry(f"other-{self.overtakes}")])
        super().swap(key, data, expected)


class CountingStore:
    """A store that counts what is asked of it."""

    def __init__(self, store: Store) -> None:
        self._store, self.count = store, 0

    def __getattr__(self, name: str) -> Any:
        self.count += name in ("get", "read", "list")
        return getattr(self._store, name)


class FailingStore:
    """A store that is cut off at its n-th call: before it (``done=False``), or after it was done but not answered."""

    def __init__(self, store: Store, *, fail_at: int, done: bool = False) -> None:
        self._store, self._left, self._done = store, fail_at, done
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._call, found) if callable(found) else found

    def _call(self, call: Callable[..., Any], *words: Any, **more: Any) -> Any:
        with self._lock:
            self._left -= 1
            if self._left < 0 or (self._left == 0 and not self._done):
                raise UnavailableError("cut off")
            result = call(*words, **more)
            if self._left == 0:
                raise UnavailableError("cut off")
            return result
