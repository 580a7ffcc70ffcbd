"""``packyard.json``, in which a bundle says what it is: its files' digests, and what each use case offers and needs.

It is written by machines only. The version of packyard itself is not in it: the same source gives the same bytes
whichever release of the tool packed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packyard.bundle import record, reference
from packyard.bundle.requirements import Requirement
from packyard.digest import Digest
from packyard.errors import IntegrityError, Problem

if TYPE_CHECKING:
    from packyard.bundle.archive import Member

FILE = "packyard.json"
_LIMIT = 4 * 1024 * 1024  # bytes: read, they take twenty times as much memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setter as the bundle ships it; ``default`` is any JSON value, and None where there is none."""

    type: str
    required: bool
    default: object
    description: str
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, fields: record.Fields) -> Parameter:
        """Read a parameter from its JSON."""
        return cls(
            type=fields.text("type"),
            required=fields.flag("required"),
            default=fields.value("default"),
            description=fields.text("description"),
            extra=fields.rest(),
        )

    def document(self) -> dict[str, object]:
        """Return the JSON that `parse` reads."""
        known = {
            "type": self.type,
            "required": self.required,
            "default": self.default,
            "description": self.description,
        }
        return {**self.extra, **known}


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """What one directory that users deploy lets them set (by setter name), pulls, and asks of the cluster."""

    setters: Mapping[str, Parameter]
    images: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, fields: record.Fields) -> UseCase:
        """Read a use case from its JSON."""
        return cls(
            setters={name: Parameter.parse(item) for name, item in fields.map("setters").items()},
            images=fields.texts("images"),
            requirements=tuple(Requirement.parse(item) for item in fields.list("requirements")),
            extra=fields.rest(),
        )

    def document(self) -> dict[str, object]:
        """Return the JSON that `parse` reads."""
        known = {
            "setters": {name: parameter.document() for name, parameter in self.setters.items()},
            "images": list(self.images),
            "requirements": [requirement.document() for requirement in self.requirements],
        }
        return {**self.extra, **known}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of ``packyard.json``; ``files`` names every file of the bundle but this one."""

    name: str
    version: str
    model: Mapping[str, str]
    files: Mapping[str, Digest]
    use_cases: Mapping[str, UseCase]
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Read the file, or raise `IntegrityError`; what `to_bytes` wrote keeps its bytes, unknown fields included."""
        if len(data) > _LIMIT:
            raise IntegrityError(Problem(f"is longer than {_LIMIT} bytes", file=FILE))
        fields = record.parse(data, kind="Bundle", file=FILE)
        return cls(
            name=fields.checked("name", reference.check_name),
            version=fields.checked("version", reference.check_version),
            model=fields.text_map("model"),
            files=fields.digest_map("files"),
            use_cases={path: UseCase.parse(item) for path, item in fields.map("useCases").items()},
            extra=fields.rest(),
        )

    def to_bytes(self) -> bytes:
        """Return the file's bytes, the same for equal manifests."""
        known = {
            "apiVersion": record.API_VERSION,
            "kind": "Bundle",
            "name": self.name,
            "version": self.version,
            "model": dict(self.model),
            "files": dict(self.files),
            "useCases": {path: use_case.document() for path, use_case in self.use_cases.items()},
        }
        return record.to_bytes({**self.extra, **known})

    def verify(self, members: Iterable[Member]) -> None:
        """Raise `IntegrityError` that names every file which differs, is missing or is extra; itself excepted."""
        self.compare(file_digests(members))

    def compare(self, found: Mapping[str, Digest]) -> None:
        """Do so with the digests of files by their path."""
        found = {path: digest for path, digest in found.items() if path != FILE}
        problems = [_difference(path, self.files.get(path), found.get(path)) for path in sorted({*self.files, *found})]
        if any(problems):
            raise IntegrityError(*filter(None, problems))


def file_digests(members: Iterable[Member]) -> dict[str, Digest]:
    """Return what `Manifest.files` says of ``members``."""
    return {member.path: Digest.of(member.data) for member in members if member.path != FILE}


def _difference(path: str, expected: Digest | None, found: Digest | None) -> Problem | None:
    if expected == found:
        return None
    if found is None:
        return Problem("is missing", file=path)
    if expected is None:
        return Problem(f"is extra: {FILE} does not name it", file=path)
    return Problem(f"expected {expected}, found {found}", file=path)
