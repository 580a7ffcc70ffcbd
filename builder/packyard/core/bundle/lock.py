"""``packyard.lock``: the bundles that a project uses, pinned by digests. packyard writes it, and people compare it.

    apiVersion: packyard/v1
    kind: Lock
    packages:
      bert-large:
        version: "1.10"
        channel: "https://models.example.com"
        tar: sha256:…
        digest: sha256:…

It is YAML of one spelling: a file that packyard would write otherwise is refused with its first such line, so that no
reader of YAML can take it for something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from shlex import quote

from packyard.core.bundle import reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem, UnavailableError, suggest
from packyard.core.files import atomic, regular

FILE, LIMIT = "packyard.lock", 4 * 1024 * 1024

_HEAD = ("apiVersion: packyard/v1", "kind: Lock")
_SECTION = re.compile(r"packages:\n((?:  .*\n)*)")
_PIN = re.compile(
    r"  (\S+):\n"
    r'    version: (".*")\n'
    r'    channel: (".*")\n'
    r"    tar: (\S+)\n"
    r"    digest: (\S+)\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One bundle: its version, the channel that it is from, and the digests of its tar and its ``.tar.gz``."""

    version: str
    channel: str
    tar: Digest
    digest: Digest

    def admits(self, tar: Digest, digest: Digest) -> bool:
        """Return whether a bundle with these digests is this one, to the byte."""
        return (tar, digest) == (self.tar, self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The pins of a file, by name."""

    packages: Mapping[str, Pin] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, *, file: str = FILE) -> Lock:
        """Read what `to_bytes` wrote, or raise `InputError` with the line that differs."""
        text = data.decode("utf-8", "surrogateescape")
        try:
            lock = cls(packages={name: pin for pins in _SECTION.findall(text) for name, pin in _pins(pins)})
        except (InputError, ValueError) as error:
            raise InputError(Problem(f"a pin cannot be read: {error}", file=file, hint=_HINT)) from error
        lines, rewritten = (each.split("\n") for each in (text, lock.to_bytes().decode()))
        for number, (line, expected) in enumerate(zip_longest(lines, rewritten), start=1):
            if line != expected:
                says = "ends too early" if line is None else f"is not as packyard writes it: {line[:80]!r}"
                raise InputError(Problem(says, file=file, line=number, hint=_HINT))
        return lock

    def to_bytes(self) -> bytes:
        """Return the file's bytes, the same in whatever order the pins came."""
        lines = [*_HEAD, "packages:"] if self.packages else [*_HEAD]
        for name, pin in sorted(self.packages.items()):
            quoted = (json.dumps(each) for each in (pin.version, pin.channel))
            values = dict(zip(("version", "channel", "tar", "digest"), (*quoted, pin.tar, pin.digest), strict=True))
            lines += [f"  {name}:", *(f"    {key}: {value}" for key, value in values.items())]
        return "".join(f"{line}\n" for line in lines).encode()

    def package(self, name: str, *, file: str = FILE, get: str = "") -> Pin:
        """Return the pin of a package, or raise `InputError`, naming the nearest, or how to ``get`` and pin it."""
        if name not in self.packages:
            hint = suggest(name, self.packages) or f"{get or f'packyard get {name}'} --lock {quote(file)} pins it"
            raise InputError(Problem(f"does not pin {name}", file=file, hint=hint))
        return self.packages[name]

    def pinned(self, asked: reference.Reference, *, file: str = FILE, get: str = "") -> Pin:
        """Return the pin of a package as `package` does, or raise `InputError` where another version is asked for."""
        pin = self.package(asked.name, file=file, get=get)
        if not asked.admits(pin.version):
            problem = f"pins {asked.name}@{pin.version}, not {asked}"
            raise InputError(Problem(problem, file=file, hint="leave out --locked to fetch another version"))
        return pin

    def pin(self, name: str, pin: Pin) -> Lock:
        """Return the lock with another pin of a package."""
        return replace(self, packages={**self.packages, name: pin})


_HINT = "remove the file, and pin again: packyard get NAME --lock FILE"


def read(file: Path) -> Lock:
    """Read a lock, or raise `InputError`."""
    return Lock.parse(regular.read(file, limit=LIMIT), file=str(file))


def write(file: Path, lock: Lock) -> None:
    """Write a lock, in one step."""
    try:
        atomic.write(str(file), lock.to_bytes(), mode=0o644, durable=True)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file=str(file))) from error


def _pins(text: str) -> Iterator[tuple[str, Pin]]:
    for name, version, channel, tar, digest in _PIN.findall(text):
        reference.check_name(name)
        version = str(json.loads(version))
        reference.check_version(version)
        digests = (Digest.parse(each) for each in (tar, digest))
        yield name, Pin(version=version, channel=str(json.loads(channel)), tar=next(digests), digest=next(digests))
