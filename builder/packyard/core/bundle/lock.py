"""``packyard.lock``: the bundles that a project uses, pinned by digests. packyard writes it, and people compare it.

{"apiVersion": "packyard/v1", "kind": "Lock", "packages": {
 "bert-large": {"version": "1.10", "channel": "https://models.example.com", "tar": "sha256:…", "digest": "sha256:…"}}}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import checked, in_json, map_of, object_of, text
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError, suggest
from packyard.core.files import atomic, regular

FILE, LIMIT = "packyard.lock", 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One bundle: its version, the channel that it is from, and the digests of its tar and its ``.tar.gz``."""

    version: str = field(metadata=in_json(checked(reference.check_version)))
    channel: str = field(metadata=in_json(text))
    tar: Digest = field(metadata=in_json(record.digest))
    digest: Digest = field(metadata=in_json(record.digest))
    extra: Mapping[str, object] = field(default_factory=dict, compare=False)

    def admits(self, tar: Digest, digest: Digest) -> bool:
        """Return whether a bundle with these digests is this one, to the byte."""
        return (tar, digest) == (self.tar, self.digest)


def _pins(value: object) -> Mapping[str, Pin]:
    pins = map_of(object_of(Pin))(value)
    for name in pins:
        reference.check_name(name)
    return pins


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The pins of a file, by name."""

    packages: Mapping[str, Pin] = field(default_factory=dict, metadata=in_json(_pins))
    extra: Mapping[str, object] = field(default_factory=dict, compare=False)

    @classmethod
    def parse(cls, data: bytes, *, file: str = FILE) -> "Lock":
        """Read what `to_bytes` wrote, or raise `IntegrityError`."""
        try:
            return record.parse(data, lambda fields: fields.take_all(cls), kind="Lock", file=file)
        except IntegrityError as error:
            raise error.hinted("remove the file, and pin again: packyard get NAME --lock FILE") from error

    def to_bytes(self) -> bytes:
        """Return the file's bytes, the same in whatever order the pins came."""
        return record.to_bytes({"apiVersion": record.API_VERSION, "kind": "Lock", **record.document(self)})

    def pinned(self, package: reference.Reference, *, file: str = FILE, flag: str = "") -> Pin:
        """Return the pin of a package, or raise `InputError` where it has none, or one of another version.

        The error names the nearest that is pinned, or how to pin it; a ``flag`` says from where.
        """
        pin = self.packages.get(package.name)
        if pin is None:
            known = suggest(package.name, self.packages)
            hint = known or f"packyard get {quote(str(package))}{flag} --lock {quote(file)} pins it"
            raise InputError(Problem(f"does not pin {package.name}", file=file, hint=hint))
        if not package.admits(pin.version):
            problem = f"pins {package.name}@{pin.version}, not {package}"
            raise InputError(Problem(problem, file=file, hint="leave out --locked to fetch another version"))
        return pin


def read(file: Path) -> Lock:
    """Read a lock, or raise `InputError` or `IntegrityError`."""
    try:
        return Lock.parse(regular.read(file, limit=LIMIT), file=str(file))
    except InputError as error:
        raise error.hinted(f"packyard get NAME --from CHANNEL --lock {quote(str(file))} writes it") from error


def write(file: Path, lock: Lock) -> None:
    """Write a lock, in one step."""
    try:
        atomic.write(str(file), lock.to_bytes(), mode=0o644, durable=True)
    except OSError as error:
        raise UnavailableError(Problem(error.strerror or str(error), file=str(file))) from error
