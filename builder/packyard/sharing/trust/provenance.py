"""Provenance: what a bundle was made from, by what; an in-toto statement in the words of SLSA.

    NAME.tar.gz.sigstore.json    the signed statement, as a Sigstore bundle
    NAME.tar.gz.intoto.json      the statement alone, of a bundle that nobody signed

    subject                 the .tar.gz by its SHA-256, and the tar in it, which identifies the bundle; behind it the
                            manifest that the bundle has in any registry, which cosign, Flux and others look for
    resolvedDependencies    the git commit of the sources, every file that was read, the versions of libraries
    byproducts              the SBOM

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md, https://slsa.dev/spec/v1.0/provenance. It says
nothing of when and where: the same sources, packyard and libraries give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from zlib import ZLIB_RUNTIME_VERSION

from packyard import __version__
from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, checked, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import PROVENANCE, SBOM, SIGSTORE, Identified, bundle_key
from packyard.sharing.stores.oci.manifest import MANIFEST_TYPE
from packyard.sharing.stores.store import Store, get_or_none
from packyard.sharing.trust import envelope, sigstore
from packyard.sharing.trust.dependencies import LIBRARIES, BuiltOn, Dependencies, SourceCommit, digest_of, sha256
from packyard.sharing.trust.envelope import Opened

if TYPE_CHECKING:
    from packyard.core.files.git import Revision
    from packyard.sharing.trust.keys import SigningKey, Trust

PAYLOAD_TYPE = "application/vnd.in-toto+json"
#: The size of the largest statement, signed or not, in bytes.
LIMIT = 8 * 1024 * 1024
#: How the keys of both files end; where there are both, the first one counts.
ENDS = (SIGSTORE, PROVENANCE)

_STATEMENT, _PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
_BUILD, _BUILDER = "urn:packyard:build:v1", "urn:packyard"

_T = TypeVar("_T")


_NOTHING: Mapping[str, BuiltOn] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What is known about how a bundle was made.

    ``file`` and ``tar`` are the digests of the ``.tar.gz`` and of the tar in it. ``inputs`` are the files that were
    read, below the root of the sources, ``libraries`` what else had a say in the bytes, by their versions. ``built_on``
    are libraries of bases and overlays, by their places: inputs whose paths begin so are from them. ``manifest`` is the
    digest of the bundle's manifest in registries.
    """

    name: str
    version: str
    file: Digest
    tar: Digest
    inputs: Mapping[str, Digest] = field(default_factory=dict)
    source: SourceCommit | None = None
    built_on: Mapping[str, BuiltOn] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    packyard: str = __version__
    sbom: Digest | None = None
    manifest: Digest | None = None

    @classmethod
    def of(
        cls,
        bundle: Identified,
        inputs: Mapping[str, Digest],
        revision: Revision | None,
        *,
        sbom: bytes | None = None,
        built_on: Mapping[str, BuiltOn] = _NOTHING,
        libraries: Mapping[str, str] | None = None,
        manifest: Digest | None = None,
    ) -> Provenance:
        """Describe a published bundle that was made here, by this packyard, from these files.

        Of ``built_on`` it says those that files are from. To ask for the versions of ``libraries`` takes time; who
        describes many bundles does so once.
        """
        return cls(
            name=bundle.name,
            version=bundle.version,
            file=bundle.digest,
            tar=bundle.tar,
            inputs=inputs,
            source=SourceCommit.of(revision, inputs) if revision else None,
            built_on={place: each for place, each in built_on.items() if _has_files(place, inputs)},
            libraries=installed_libraries() if libraries is None else libraries,
            sbom=None if sbom is None else Digest.of(sbom),
            manifest=manifest,
        )

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> Provenance:
        """Read a statement, or raise `IntegrityError`; it must be about one bundle, and in the words of `statement`."""
        return record.parse_any(data, _read, file=file)

    def check(self, bundle: Identified, *, file: str) -> None:
        """Raise `IntegrityError` unless it is about this bundle."""
        expected = f"{bundle.name}@{bundle.version}"
        found = f"{self.name}@{self.version}"
        if found != expected:
            raise IntegrityError(Problem(f"is about {found}, not {expected}", file=file))
        if self.tar != bundle.tar:
            raise IntegrityError(Problem(f"is about a bundle whose tar is {self.tar}, not {bundle.tar}", file=file))
        if self.file != bundle.digest:
            problem = f"is about the file {self.file}, not {bundle.digest}: the same tar, compressed again"
            raise IntegrityError(Problem(problem, file=file, hint="get the file that was published"))

    def products(self, bundle: Identified) -> Mapping[str, Digest]:
        """Return the digest of the SBOM that was made with a bundle, by its key, if one was."""
        return {bundle_key(bundle.name, bundle.version, SBOM): self.sbom} if self.sbom else {}

    def statement(self) -> bytes:
        """Return the statement, which is what signatures sign."""
        subjects: list[dict[str, object]] = [
            {"name": f"{self.name}.tar.gz", "digest": sha256(self.file), "annotations": {"tar": self.tar}}
        ]
        if self.manifest is not None:
            subjects.append({"name": self.name, "digest": sha256(self.manifest), "mediaType": MANIFEST_TYPE})
        definition = {
            "buildType": _BUILD,
            "externalParameters": {"name": self.name, "version": self.version},
            "resolvedDependencies": [*Dependencies(self.source, self.built_on, self.inputs, self.libraries).document()],
        }
        details: dict[str, object] = {"builder": {"id": _BUILDER, "version": {"packyard": self.packyard}}}
        if self.sbom:
            details["byproducts"] = [{"name": f"{self.name}.tar.gz{SBOM}", "digest": sha256(self.sbom)}]
        predicate = {"buildDefinition": definition, "runDetails": details}
        return record.to_bytes(
            {"_type": _STATEMENT, "subject": subjects, "predicateType": _PREDICATE, "predicate": predicate}
        )

    def to_bytes(self, key: SigningKey | None = None) -> bytes:
        """Return the statement, as a Sigstore bundle where a key signs it."""
        return sigstore.sign(self.statement(), PAYLOAD_TYPE, key) if key else self.statement()


def _has_files(place: str, inputs: Mapping[str, Digest]) -> bool:
    return any(path.startswith(f"{place}/") for path in inputs)


def end(data: bytes) -> str:
    """Return how the key of a statement, signed or not, ends."""
    return SIGSTORE if sigstore.is_bundle(data) else PROVENANCE


def among(files: Mapping[str, bytes], bundle: Identified) -> bytes | None:
    """Return the statement about a bundle among files by their keys, if there is one."""
    keys = (bundle_key(bundle.name, bundle.version, each) for each in ENDS)
    return next((files[key] for key in keys if key in files), None)


def get(store: Store, name: str, version: str) -> bytes | None:
    """Return the statement beside a bundle in a channel, signed or not, or None if there is none."""
    read = (get_or_none(store, bundle_key(name, version, each), limit=LIMIT) for each in ENDS)
    return next((data for data in read if data is not None), None)


def check_beside(store: Store, bundle: Identified, trusted: Trust) -> bytes | None:
    """Return what `get` does; it must be about this bundle, and be there where a signature is required."""
    data = get(store, bundle.name, bundle.version)
    check(data, bundle, trusted)
    return data


def check(data: bytes | None, bundle: Identified, trusted: Trust) -> None:
    """Raise `IntegrityError` unless a statement is about this bundle, and there where a signature is required."""
    file = bundle_key(bundle.name, bundle.version, end(data) if data is not None else SIGSTORE)
    if data is not None:
        open(data, trusted, file=file)[0].check(bundle, file=file)
    elif trusted.is_required:
        hint = f"ask its publisher; to require no signature there any more: {trusted.let_go}"
        raise IntegrityError(Problem("is missing: nothing proves where the bundle is from", file=file, hint=hint))


def installed_libraries() -> dict[str, str]:
    """Return the versions of what has a say in the bytes of bundles, beside packyard."""
    from importlib.metadata import version as installed  # slow to import, and only needed by who builds
    from platform import python_version

    versions = {name: installed(name) for name in LIBRARIES}
    return {**versions, "Python": python_version(), "zlib": ZLIB_RUNTIME_VERSION}


def open(data: bytes, trusted: Trust, *, file: str) -> tuple[Provenance, Opened]:
    """Read a statement, signed or not; signatures are treated as `envelope.open` does."""
    if sigstore.is_bundle(data):
        opened = sigstore.open(data, PAYLOAD_TYPE, trusted, file=file)
    elif trusted.is_required:
        raise envelope.refusal((), trusted, file)
    else:
        opened = Opened(payload=data)
    return Provenance.parse(opened.payload, file=file), opened


def _read(fields: Record) -> Provenance:
    _expect(fields, "_type", _STATEMENT)
    _expect(fields, "predicateType", _PREDICATE)
    subjects = [_named(each) for each in fields.take("subject", list_of(Record))]
    predicate = fields.take("predicate", Record)
    definition, details = predicate.take("buildDefinition", Record), predicate.take("runDetails", Record)
    _expect(definition, "buildType", _BUILD)
    parameters, builder = definition.take("externalParameters", Record), details.take("builder", Record)
    _expect(builder, "id", _BUILDER)
    name = parameters.take("name", checked(reference.check_name))
    subject = _only([each for at, each in subjects if at == f"{name}.tar.gz"], f"subject {name}.tar.gz")
    manifests = (each for at, each in subjects if at == name and each.take("mediaType", text, "") == MANIFEST_TYPE)
    dependencies = Dependencies.parse(definition.take("resolvedDependencies", list_of(Record)))
    products = [*map(_named, details.take("byproducts", list_of(Record), tuple[Record, ...]()))]
    of_sbom = _optional(products, f"{name}.tar.gz{SBOM}")
    return Provenance(
        name=name,
        version=parameters.take("version", checked(reference.check_version)),
        file=digest_of(subject),
        tar=subject.take("annotations", Record).take("tar", record.digest),
        **dependencies._asdict(),
        packyard=builder.take("version", Record).take("packyard", text),
        sbom=digest_of(of_sbom) if of_sbom else None,
        manifest=next(map(digest_of, manifests), None),
    )


def _named(subject: Record) -> tuple[str, Record]:
    return subject.take("name", text, ""), subject


def _optional(items: Sequence[tuple[str, Record]], name: str) -> Record | None:
    named = [each for at, each in items if at == name]
    return _only(named, f"byproducts {name}") if named else None


def _expect(fields: Record, key: str, wanted: str) -> None:
    value = fields.take(key, text)
    if value != wanted:
        raise FaultError(f"must be {wanted}, found {value[:80]!r}", key)


def _only(items: Sequence[_T], key: str) -> _T:
    if len(items) != 1:
        raise FaultError(f"must be one, found {len(items)}", key)
    return items[0]
