"""What a bundle was made from, as ``resolvedDependencies`` of its provenance has it.

name                    uri, digest
source                  the git commit of the sources
libraries/NAME          a library of bases and overlays: its version, the digest of its tar, its address
bases/job/job.yaml      a file that was read; below libraries/NAME/ it is from that library
PyYAML                  what else had a say in the bytes, by its version
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, text
from packyard.core.digest import Digest

if TYPE_CHECKING:
    from packyard.core.files.git import Revision

#: The libraries of packages' bytes.
LIBRARIES = ("PyYAML", "Jinja2", "MarkupSafe")

_BUILT_ON = "urn:packyard:library:"
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_KEY = "resolvedDependencies"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCommit:
    """The git commit that the sources were at; ``dirty`` where a file that was read differed from it."""

    commit: str
    dirty: bool
    url: str = ""
    folder: str = ""

    @classmethod
    def of(cls, revision: Revision, inputs: Mapping[str, Digest]) -> SourceCommit:
        """Say what a revision means for a package that was made from these files."""
        dirty = revision.is_dirty(inputs)
        return cls(commit=revision.commit, dirty=dirty, url=revision.url, folder=revision.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltOn:
    """A library that a package was built on: its version, the digest of its tar, and where it is from."""

    version: str
    tar: Digest
    address: str = ""


class Dependencies(NamedTuple):
    """The four kinds; see `provenance.Provenance`."""

    source: SourceCommit | None
    built_on: Mapping[str, BuiltOn]
    inputs: Mapping[str, Digest]
    libraries: Mapping[str, str]

    @classmethod
    def parse(cls, listed: Sequence[Record]) -> Dependencies:
        """Read what `document` returned."""
        source: SourceCommit | None = None
        built_on: dict[str, BuiltOn] = {}
        inputs: dict[str, Digest] = {}
        libraries: dict[str, str] = {}
        names: set[str] = set()
        for dependency in listed:
            name, uri = dependency.take("name", text), dependency.take("uri", text, "")
            if name in names:
                raise FaultError(f"has {name[:80]!r} twice", _KEY)
            names.add(name)
            if uri.startswith("pkg:"):
                libraries[name] = uri.rpartition("@")[2]
            elif uri.startswith(_BUILT_ON):
                address = dependency.take("annotations", Record).take("address", text)
                built_on[name] = BuiltOn(version=uri.rpartition("@")[2], tar=digest_of(dependency), address=address)
            elif name == "source":
                source = _source(dependency, uri)
            else:
                inputs[name] = digest_of(dependency)
        return cls(source, built_on, inputs, libraries)

    def document(self) -> Iterator[dict[str, object]]:
        """Return the JSON."""
        if self.source:
            uri = {"uri": f"{self.source.url}@{self.source.commit}"} if self.source.url else {}
            notes = {"dirty": self.source.dirty, "folder": self.source.folder}
            yield {"name": "source", **uri, "digest": {"gitCommit": self.source.commit}, "annotations": notes}
        for place, library in sorted(self.built_on.items()):
            at = f"{_BUILT_ON}{place}@{library.version}"
            notes = {"address": library.address}
            yield {"name": place, "uri": at, "digest": sha256(library.tar), "annotations": notes}
        for path, digest in sorted(self.inputs.items()):
            yield {"name": path, "digest": sha256(digest)}
        for name, version in sorted(self.libraries.items()):
            kind = "pypi" if name in LIBRARIES else "generic"
            yield {"name": name, "uri": f"pkg:{kind}/{name.lower()}@{version}"}


def _source(fields: Record, uri: str) -> SourceCommit:
    commit = fields.take("digest", Record).take("gitCommit", text)
    if not _COMMIT.fullmatch(commit):
        raise FaultError(f"{commit[:80]!r} is not a commit", _KEY)
    notes = fields.take("annotations", Record)
    folder, dirty = notes.take("folder", text), notes.take("dirty", record.flag)
    return SourceCommit(commit=commit, dirty=dirty, url=uri.removesuffix(f"@{commit}"), folder=folder)


def digest_of(fields: Record) -> Digest:
    """Take the digest of a resource."""
    return fields.take("digest", Record).take("sha256", lambda value: Digest.parse(f"sha256:{text(value)}"))


def sha256(digest: Digest) -> dict[str, str]:
    """Return the JSON of the digest of a resource."""
    return {"sha256": digest.hex}
