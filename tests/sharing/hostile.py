"""A grammar of hostile channels, each case generated from a seed.

A case begins with a good channel of three bundles, and spoils it. What is in a bundle and what the index says of it
are never forged together: whatever verifies is one of the three.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from packyard.core.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.sharing.index.index import KEY, record_key
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle

BUNDLES = [bundle("bert", "1.0", "one"), bundle("bert", "1.1", "two"), bundle("gpt", "1.0", "three")]
FOLDERS = ["index", "index/p", "index/p/bert", "1.0", "1.1"]
TEXTS = [
    "",
    "x",
    "../..",
    "/etc/passwd",
    "a\x1b[31mb",
    "a\nb",
    "\u202egpj",
    "é" * 3000,
    "x" * 100_000,
    "\0",
    "~",
    "-rf",
    "%s%n",
]
VERSIONS = [
    "9" * 5000,
    "1.0",
    "v1.0",
    "1",
    "../1",
    "1/2",
    "latest",
    "",
    "1.0\n",
    "1." * 3000 + "1",
    "0" * 127,
    "1-" + "9" * 120,
]
NAMES = ["bert", "../bert", "BERT", "bert/..", "", "a" * 64, "a" * 100_000, "\x1b]0;x\x07", ".git", "con"]


def good(folder: Path) -> None:
    """Publish the three bundles."""
    publish(DirectoryStore(folder), BUNDLES)


def _files() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        good(Path(folder))
        return list(DirectoryStore(Path(folder)).list(""))


FILES = _files()
INDEX_FILES = [key for key in FILES if key.startswith("index/")]


def bundle_of(name: str, version: str) -> Bundle:
    """Return a bundle of the good channel."""
    (found,) = (each for each in BUNDLES if (each.manifest.name, each.manifest.version) == (name, version))
    return found


class Grammar:
    """What a seed chooses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.told: list[str] = []

    def one(self, *choices: Callable[[], bytes]) -> bytes:
        return self.random.choice(choices)()

    def tell(self, text: str) -> None:
        self.told.append(text)

    # Bytes.

    def mutated(self, data: bytes) -> bytes:
        """Return bytes that are nearly the same."""
        at = self.random.randrange(len(data) + 1)
        much = self.random.choice([1, 1, 2, 16, 1000])
        return self.one(
            lambda: self._flipped(data, much),
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + self.random.randbytes(much) + data[at:],
            lambda: data[:at] + data[at + much :],
            lambda: data + data,
            lambda: data + bytes(much),
            lambda: b"",
            lambda: self.random.randbytes(len(data)),
        )

    def _flipped(self, data: bytes, count: int) -> bytes:
        changed = bytearray(data or b"x")
        for _ in range(count):
            changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
        return bytes(changed)

    def bomb(self) -> bytes:
        """Return a little gzip data that is much."""
        packer = zlib.compressobj(1, wbits=31)
        return (
            b"".join(packer.compress(bytes(1 << 20)) for _ in range(self.random.choice([1, 30, 300]))) + packer.flush()
        )

    # Indexes.

    def value(self, depth: int = 0) -> str:
        """Return some JSON, or nearly."""
        chosen = self.random.randrange(16 if depth < 4 else 12)
        texts = [
            json.dumps(self.random.choice(TEXTS)),
            json.dumps(self.random.choice(NAMES)),
            '"sha256:' + "0" * 64 + '"',
        ]
        simple = [*texts, "0", "-1", "9" * 5000, "1e999", "NaN", "null", "true", '"\\ud800"', "1.5"]
        if chosen < len(simple):
            return simple[chosen]
        if chosen == 12:
            return "[" * 500 + "]" * 500
        if chosen == 13:
            item, count = self.value(depth + 1), self.random.choice([0, 1, 3, 1000])
            return "[" + ",".join([item] * min(count, 1 + 1_000_000 // len(item))) + "]"
        pairs = [
            f"{json.dumps(self.random.choice([*TEXTS, 'name', 'size']))}: {self.value(depth + 1)}" for _ in range(3)
        ]
        return "{" + ", ".join(pairs) + "}"

    def index(self, data: bytes) -> bytes:
        """Return a file of an index that is made to harm, from a good one."""
        return self.one(
            lambda: self.mutated(data),
            lambda: self._spoiled(data),
            lambda: self._spoiled(data),
            lambda: self._spoiled(data),
            lambda: self._many(data),
            lambda: self.value().encode(),
            lambda: self.random.choice([b"[", b'{"a":', b'[{"":']) * 100_000,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.decode().encode("utf-16"),
            lambda: b" " * 20_000_000 + data,
            lambda: b"[" + b"{}," * self.random.choice([1000, 2_000_000]) + b"0]",
            lambda: b"<html>not found</html>",
        )

    def _spoiled(self, data: bytes) -> bytes:
        """Change fields of the document, or of what is in it."""
        document = json.loads(data)
        marks: dict[str, str] = {}
        for number in range(self.random.randrange(1, 4)):
            spoiled = self.random.choice(list(_objects(document)))
            field = self.random.choice([*spoiled, "extra"])
            mark = f"mark-{number}"
            if field in ("entries", "versions") and self.random.random() < 0.9:
                continue
            spoiled[field] = mark
            marks[json.dumps(mark)] = self._field(field)
        text = json.dumps(document)
        for mark, value in marks.items():
            text = text.replace(mark, value)
        return text.encode("utf-8", "surrogatepass")

    def _field(self, field: str) -> str:
        likely = {
            "version": [json.dumps(text) for text in VERSIONS],
            "name": [json.dumps(text) for text in NAMES],
            "size": ["0", "-1", "1", "true", "1e3", "9" * 30, str(10**12), str(255 * 1024 * 1024)],
            "digest": [f'"{each.tar}"' for each in BUNDLES],
            "tar": [f'"{each.tar}"' for each in BUNDLES],
        }
        return self.random.choice([*likely.get(field, []), self.value()])

    def _many(self, data: bytes) -> bytes:
        """Return an index, a shard or a record with more than there can be."""
        document = json.loads(data)
        field = next((each for each in ("packages", "versions") if each in document), "packages")
        row = next(iter(document[field].values()), {}) if isinstance(document.get(field), dict) else {}
        count = self.random.choice([1000, 20_000, 45_000])
        alike = self.random.choice(["p-{}", "{:063d}", "a" * 55 + "-{}", "1.{}"])
        document[field] = {alike.format(number): {**row, "useCases": []} for number in range(count)}
        if self.random.random() < 0.3:
            document[field] = {"long": {**row, "model": {"framework": "x" * 500_000}}}
        if self.random.random() < 0.3:
            document["shards"] = {f"{number:b}": "sha256:" + "0" * 64 for number in range(count)}
        return json.dumps(document).encode()

    # Folders.

    def channel(self, folder: Path, outside: Path) -> None:
        """Make a folder a channel that harms; ``outside`` is a folder beside it, with a file ``secret``."""
        good(folder)
        files, first = list(DirectoryStore(folder).list("")), [KEY]
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            place = folder / self.random.choice([*first * 6, *files, *FOLDERS, ".lock"])
            try:
                self._spoil(place, folder, outside)
            except (OSError, ValueError, RecursionError, PackyardError) as error:  # spoiled beyond this already
                self.tell(f"({error})")

    def _spoil(self, place: Path, folder: Path, outside: Path) -> None:
        data = place.read_bytes() if place.is_file() else None
        ways: list[Callable[[], object]] = [
            lambda: _remove(place),
            lambda: (_remove(place), os.mkfifo(place)),
            lambda: (_remove(place), _socket(place)),
            lambda: (_remove(place), place.mkdir()),
            lambda: (_remove(place), place.symlink_to(outside / self.random.choice(["secret", "new", "."]))),
            lambda: (_remove(place), place.symlink_to(self.random.choice(["/dev/zero", "/dev/tty", "/proc/self/mem"]))),
            lambda: (_remove(place), place.symlink_to(place.name)),
            lambda: (_remove(place), _sparse(place, self.random.choice([5000, 70 << 20, 1 << 40]))),
            lambda: place.chmod(0),
            lambda: self._foreign(folder),
            lambda: self._renamed(place, folder),
        ]
        if data is not None:
            change = self.index if place.name.endswith(".json") else self.mutated
            spoiled = self.bomb if place.name.endswith(".gz") and self.random.random() < 0.1 else lambda: change(data)
            ways += [lambda: place.write_bytes(spoiled())] * 25
            if "p" in place.parts:
                ways += [lambda: relinked(folder, data, change(data))] * 50
        at = self.random.randrange(len(ways))
        self.tell(f"{place.relative_to(folder)}: way {at}")
        ways[at]()

    def _foreign(self, folder: Path) -> None:
        names = [
            "a b",
            "\x1b[31m",
            "x" * 200,
            "d/e/f/g",
            "1.0/.x.tmp",
            ".git/config",
            "\udcff",
            "a.tar.gz",
            "1.0/x.tar.gz",
        ]
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"x")

    def _renamed(self, place: Path, folder: Path) -> None:
        other = folder / self.random.choice([*FILES, *FOLDERS])
        other.parent.mkdir(parents=True, exist_ok=True)
        between = folder / "between"
        place.rename(between)
        if other.exists() and place.is_dir() == other.is_dir():
            other.rename(place)
        between.rename(other)


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


def _socket(place: Path) -> None:
    here = Path.cwd()
    os.chdir(place.parent)  # the path of a socket has to be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place.name)
    finally:
        os.chdir(here)


def _sparse(place: Path, size: int) -> None:
    with place.open("wb") as file:
        file.truncate(size)
