"""A grammar of hostile channels, each case generated from a seed.

A case begins with a good channel of three bundles, and spoils it. What is in a bundle and what the index says of it
are never forged together: whatever verifies is one of the three.
"""

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.sharing.index.index import KEY, record_key
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle, publish

BUNDLES = [bundle("bert", "1.0", "one"), bundle("bert", "1.1", "two"), bundle("gpt", "1.0", "three")]
FOLDERS = ["index", "index/p", "index/p/bert", "1.0", "1.1"]
TEXTS = ["", "gpt", "../..", "a\x1b[31mb", "a\nb", "\u202egpj", "x" * 100_000, "\0", "-rf", "1." * 3000 + "1"]
#: JSON, or nearly.
VALUES = [*map(json.dumps, TEXTS), *(f'"{each.tar}"' for each in BUNDLES), '"\\ud800"', "null", "true", "{}", "[]"]
VALUES += ["-1", "9" * 5000, str(10**12), "1e999", "NaN", "[" * 500 + "]" * 500, "[" + "0," * 100_000 + "0]"]


def good(folder: Path) -> None:
    """Publish the three bundles."""
    publish(DirectoryStore(folder), BUNDLES)


class Grammar:
    """What a seed chooses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.told: list[str] = []

    def mutated(self, data: bytes) -> bytes:
        """Return bytes that are nearly the same."""
        at, much = self.random.randrange(len(data) + 1), self.random.choice([1, 16, 1000])
        flipped = bytes([data[at] ^ 1 << self.random.randrange(8)]) if at < len(data) else b""
        return self.random.choice([data[:at], data[:at] + data[at + much :], data[:at] + flipped + data[at + 1 :]])

    def _packed(self, data: bytes) -> bytes:
        """Return what takes the place of a bundle: nearly the same, or a little gzip data that is much."""
        if self.random.random() < 0.9:
            return self.mutated(data)
        packer = zlib.compressobj(1, wbits=31)
        return b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()

    def index(self, data: bytes) -> bytes:
        """Return a file of an index that is made to harm, from a good one."""
        return self.random.choice(
            [
                lambda: self.mutated(data),
                *[lambda: self.spoiled(data)] * 3,
                lambda: self._many(data),
                lambda: self.random.choice([b"[", b'{"a":']) * 100_000,
                lambda: b" " * 20_000_000 + data,
                lambda: b"<html>not found</html>",
            ]
        )()

    def spoiled(self, data: bytes) -> bytes:
        """Change fields of the document, or of what is in it."""
        document = json.loads(data)
        marks = [f"mark-{number}" for number in range(self.random.randrange(1, 4))]
        for mark in marks:
            spoiled = self.random.choice(list(_objects(document)))
            spoiled[self.random.choice([*spoiled, "extra"])] = mark
        text = json.dumps(document)
        for mark in marks:
            text = text.replace(json.dumps(mark), self.random.choice(VALUES))
        return text.encode("utf-8", "surrogatepass")

    def _many(self, data: bytes) -> bytes:
        """Return an index, a shard or a record with more than there can be."""
        document: dict[str, Any] = json.loads(data)
        field = next((each for each in ("packages", "versions") if each in document), "packages")
        row = next(iter(document[field].values()), {}) if isinstance(document.get(field), dict) else {}
        alike = self.random.choice(["p-{}", "{:063d}", "1.{}"])
        document[field] = {alike.format(number): {**row, "useCases": []} for number in range(45_000)}
        return json.dumps(document).encode()

    def channel(self, folder: Path, outside: Path) -> None:
        """Make a folder a channel that harms; ``outside`` is a folder beside it, with a file ``secret``."""
        good(folder)
        files = list(DirectoryStore(folder).list(""))
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            place = folder / self.random.choice([*[KEY] * 6, *files, *FOLDERS, ".lock"])
            try:
                self._spoil(place, folder, outside)
            except (OSError, ValueError, RecursionError, PackyardError) as error:  # spoiled beyond this already
                self.told.append(f"({error})")

    def _spoil(self, place: Path, folder: Path, outside: Path) -> None:
        data = place.read_bytes() if place.is_file() else None
        leads = [str(outside / "secret"), str(outside / "new"), str(outside), "/dev/zero", "/proc/self/mem", place.name]
        ways: list[Callable[[], object]] = [
            lambda: _remove(place),
            lambda: (_remove(place), os.mkfifo(place)),
            lambda: (_remove(place), place.mkdir()),
            *[lambda: (_remove(place), place.symlink_to(self.random.choice(leads)))] * 3,
            lambda: (_remove(place), place.touch(), os.truncate(place, self.random.choice([5000, 1 << 40]))),
            lambda: place.chmod(0),
        ]
        if data is not None:
            change = self.index if place.name.endswith(".json") else self._packed
            ways += [lambda: place.write_bytes(change(data))] * 25
            if "p" in place.parts:
                ways += [lambda: relinked(folder, data, change(data))] * 50
        at = self.random.randrange(len(ways))
        self.told.append(f"{place.relative_to(folder)}: way {at}")
        ways[at]()


def relinked(folder: Path, before: bytes, after: bytes) -> None:
    """Let the index of a channel name a record with other bytes, by its own digest."""
    name = json.loads(before)["name"]
    (folder / record_key(name, Digest.of(after))).write_bytes(after)
    place = folder / KEY
    place.write_bytes(place.read_bytes().replace(Digest.of(before).encode(), Digest.of(after).encode()))


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
